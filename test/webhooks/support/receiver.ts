import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received request. Its body is unchanged. */
export interface Received {
  path: string;
  headers: Record<string, string>;
  raw: string;
  atMs: number;
}

/** Acts as a client's server. To hang, it returns without ending the response. */
export type Behaviour = (request: Received, response: ServerResponse) => void;

export interface TestReceiver {
  url: string;
  received: Received[];
  /** Returns how many requests reached the HTTP parser. */
  hits(): number;
  /** Returns the maximum number of concurrent requests since the behaviour was last changed. */
  mostOpen(): number;
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

export const acceptRequest: Behaviour = (_request, response) =>
  sendResponse(response, 200, { status: 'received' });

export function sendResponse(
  response: ServerResponse,
  status: number,
  body: unknown = {},
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/**
 * Starts a real HTTP server that records its requests.
 * @param host The address to listen on. A separate loopback address makes it a separate receiver.
 */
export async function startReceiver(
  behaviour: Behaviour = acceptRequest,
  host = '127.0.0.1',
): Promise<TestReceiver> {
  const all: Received[] = [];
  let current = behaviour;
  let hits = 0;
  let open = 0;
  let mostOpen = 0;
  const server = createServer((request, response) => {
    hits += 1;
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once('close', () => (open -= 1));
    void read(request).then((raw) => {
      const item = { path: request.url ?? '', headers: flat(request), raw, atMs: Date.now() };
      all.push(item);
      current(item, response);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    received: all,
    hits: () => hits,
    mostOpen: () => mostOpen,
    behave: (next) => {
      current = next;
      mostOpen = open;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function flat(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join() : (value ?? ''),
    ]),
  );
}
