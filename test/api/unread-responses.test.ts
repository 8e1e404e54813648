/**
 * Clients that do not read responses, and requests whose sockets Node detaches (CONNECT and
 * Upgrade).
 */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect } from 'chai';
import { limits } from '../../config/limits.js';
import { handleSequentially } from '../../src/api/http/connection-queue.js';
import { eventually } from '../support/eventually.js';
import { connectTo, readUntilClose, buildGetRequest, waitForClose } from '../support/raw-connection.js';

/** Response size in bytes. Larger than the buffers of a connection. */
const large = 20_000_000;
const connectThrough = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n';

describe('unread responses', () => {
  const servers: http.Server[] = [];
  afterEach(() => {
    servers.splice(0).forEach((each) => each.close());
  });

  it('close their connection, even if the client keeps sending requests or junk', async () => {
    const { server } = await serve({ stillMs: 300 });
    for (const behind of ['', 'XX\r\n\r\n', connectThrough, buildGetRequest('/') + buildGetRequest('/')]) {
      const [socket, serverSide] = await connectPair(server);
      socket.pause();
      const closed = waitForClose(serverSide);
      socket.write(buildGetRequest('/whole') + behind);
      const dribble = setInterval(() => socket.write('G'), 50);
      await closed;
      clearInterval(dribble);
      socket.destroy();
    }
  });

  it('are sent completely to a client that reads slowly', async () => {
    const { port } = await serve({ stillMs: 1_000 });
    for (const path of ['/whole', '/streamed']) {
      const socket = await connectTo(port);
      let bytes = 0;
      socket.on('data', (part: Buffer) => {
        bytes += part.length;
        socket.pause();
      });
      const startedMs = performance.now();
      const reader = setInterval(() => socket.resume(), 10);
      const closed = waitForClose(socket);
      socket.write(buildGetRequest(path, 'Connection: close'));
      await closed;
      clearInterval(reader);
      expect(bytes, path).to.be.above(large);
      expect(performance.now() - startedMs, 'ms, above the limit without reads').to.be.above(1_500);
    }
  });

  it('are completed before a CONNECT behind them closes the connection', async () => {
    const { port } = await serve({ stillMs: 5_000 });
    for (const path of ['/whole', '/streamed']) {
      const socket = await connectTo(port);
      let bytes = 0;
      socket.on('data', (part: Buffer) => (bytes += part.length));
      const closed = waitForClose(socket);
      socket.write(buildGetRequest(path) + connectThrough);
      await closed;
      expect(bytes, path).to.be.above(large);
    }
  });

  it('leave no connection when a client disconnects after a CONNECT', async () => {
    const { server } = await serve({ stillMs: 20_000 });
    const [socket, serverSide] = await connectPair(server);
    const closed = waitForClose(serverSide);
    const connected = once(server, 'connect');
    socket.pause();
    socket.write(buildGetRequest('/streamed') + connectThrough);
    await connected;
    socket.resume();
    socket.end();
    await closed;
  });

  it('do not delay a shutdown', async () => {
    const { port, server, closing } = await serve({ stillMs: 120_000, atStopMs: 2_000 });
    const sockets = await Promise.all(
      ['', connectThrough].map(async (behind) => {
        const socket = await connectTo(port);
        socket.pause();
        const begun = once(server, 'request');
        socket.write(buildGetRequest('/streamed') + behind);
        await begun;
        return socket;
      }),
    );
    const startedMs = performance.now();
    await closing.close();
    expect(performance.now() - startedMs).to.be.within(1_500, 10_000);
    sockets.forEach((each) => each.destroy());
  });

  it('are completed at shutdown for a client that reads in steps of seconds', async () => {
    const { port, server, closing } = await serve({});
    const socket = await connectTo(port);
    let bytes = 0;
    // The socket buffers take the first megabytes, so the server sees no progress while the client
    // reads these.
    socket.on('data', (part: Buffer) => {
      bytes += part.length;
      socket.pause();
    });
    const begun = once(server, 'request');
    socket.write(buildGetRequest('/streamed'));
    await begun;
    const closed = waitForClose(socket);
    const stopped = closing.close();
    const startedMs = performance.now();
    await eventually('the time limit of a body is over', () =>
      Promise.resolve(performance.now() - startedMs > 1.5 * limits.bodyAtStopMs),
    );
    socket.removeAllListeners('data').on('data', (part: Buffer) => (bytes += part.length));
    socket.resume();
    await Promise.all([closed, stopped]);
    expect(bytes).to.be.above(large);
  });

  it('a request behind an Upgrade gets no response, in any packet', async () => {
    const { port, seen } = await serve({});
    const upgrade = buildGetRequest('/first', 'Connection: Upgrade\r\nUpgrade: websocket');
    for (const [packet, next] of [
      [upgrade + buildGetRequest('/lost'), buildGetRequest('/third')],
      [
        upgrade + 'POST /lost HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n',
        buildGetRequest('/in-a-body'),
      ],
      [upgrade, buildGetRequest('/second')],
    ] as const) {
      seen.length = 0;
      const socket = await connectTo(port);
      const answer = readUntilClose(socket);
      socket.write(packet);
      await eventually('the first request has begun', () => Promise.resolve(seen.length > 0));
      await new Promise((resolve) => socket.write(next, resolve));
      expect(await answer).to.match(/^HTTP\/1\.1 200[^]*\r\nConnection: close\r\n[^]*done$/);
      expect(seen).to.deep.equal(['/first']);
    }
  });

  /**
   * Starts a server. `/whole` is sent in one write, `/streamed` with backpressure. Any other path
   * responds after 50 ms.
   */
  async function serve(options: { stillMs?: number; atStopMs?: number }) {
    const server = http.createServer();
    servers.push(server);
    const seen: string[] = [];
    const closing = handleSequentially(
      server,
      ({ url = '' }, response) => {
        seen.push(url);
        if (url === '/whole') {
          response.end(Buffer.alloc(large));
        } else if (url === '/streamed') {
          const parts = Array.from({ length: large / 50_000 }, () => Buffer.alloc(50_000));
          pipeline(Readable.from(parts), response).catch(() => undefined);
        } else {
          setTimeout(() => response.end('done'), 50);
        }
      },
      options,
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return { server, seen, closing, port: (server.address() as AddressInfo).port };
  }
});

/** Returns the two ends of a new connection: the client's socket and the server's socket. */
async function connectPair(server: http.Server): Promise<[Socket, Socket]> {
  const taken = once(server, 'connection') as Promise<[Socket]>;
  const socket = await connectTo((server.address() as AddressInfo).port);
  return [socket, ...(await taken)];
}
