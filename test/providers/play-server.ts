import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PlayedCall {
  method: string;
  url: URL;
  headers: IncomingMessage['headers'];
  raw: string;
  /** The client's port. It is the same for all calls on one connection. */
  port: number;
}

export interface PlayServer {
  url: string;
  calls: PlayedCall[];
  stop(): Promise<void>;
}

/** Starts a real HTTP server on a free port. `answer` handles each request. */
export async function startPlayServer(
  answer: (call: PlayedCall, response: ServerResponse) => void,
): Promise<PlayServer> {
  const calls: PlayedCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const call = {
        method: request.method ?? '',
        url: new URL(request.url ?? '/', 'http://played'),
        headers: request.headers,
        raw: Buffer.concat(chunks).toString('utf8'),
        port: request.socket.remotePort ?? 0,
      };
      calls.push(call);
      answer(call, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
