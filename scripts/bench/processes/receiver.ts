/** Acknowledges webhooks after a fixed delay. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const responseBody = '{"status":"received"}';

export function serveReceiver([answerMs = '0']: string[]): void {
  const waitMs = Number(answerMs);
  const server = createServer((request, response) => {
    const acknowledge = () =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': responseBody.length })
        .end(responseBody);
    request.resume().on('end', () => (waitMs > 0 ? setTimeout(acknowledge, waitMs) : acknowledge()));
  });
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ ready: true, port: (server.address() as AddressInfo).port });
  });
  process.on('SIGTERM', () => process.exit(0));
}
