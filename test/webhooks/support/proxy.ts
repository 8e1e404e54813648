import { connect, type AddressInfo, type Socket } from 'node:net';
import { createServer, type IncomingMessage } from 'node:http';

/**
 * What the proxy does on CONNECT. `serve` opens the tunnel, `hang` never responds, and a number is
 * the status of its response.
 */
export type ProxyBehaviour = 'serve' | 'hang' | number;

export interface TestProxy {
  /** The proxy's URL, including user name and password. */
  url: string;
  port: number;
  /** The targets of the CONNECT requests, in order of arrival. */
  targets: string[];
  behave(mood: ProxyBehaviour): void;
  close(): Promise<void>;
}

export const proxyPassword = 'proxy-pass%20word';

/** Starts a real HTTP proxy for CONNECT. It accepts only the user `user` with `proxyPassword`. */
export async function startProxy(): Promise<TestProxy> {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const expected = `Basic ${Buffer.from(`user:${decodeURIComponent(proxyPassword)}`).toString('base64')}`;
  let mood: ProxyBehaviour = 'serve';
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    return socket;
  };
  const server = createServer((_request, response) => {
    response.writeHead(405).end();
  });
  server.on('connection', keep);
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    const target = request.url ?? '';
    targets.push(target);
    if (mood === 'hang') {
      return;
    }
    const status = request.headers['proxy-authorization'] === expected ? mood : 407;
    if (status !== 'serve') {
      client.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${target}`);
    const upstream = keep(connect(Number(port || 80), hostname.replace(/^\[|\]$/g, '')));
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      client.pipe(upstream).pipe(client);
    });
    upstream.once('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    client.once('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://user:${proxyPassword}@127.0.0.1:${port}`,
    port,
    targets,
    behave: (next) => {
      mood = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        sockets.forEach((socket) => socket.destroy());
      }),
  };
}
