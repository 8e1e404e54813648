/** Informational responses that nobody asked for, and providers that accept no connection. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import type { ProviderAdapter } from '../../src/providers/adapter.js';
import { createDigiflazzAdapter } from '../../src/providers/digiflazz.js';
import { createH2hAdapter } from '../../src/providers/h2h.js';
import { callHttp } from '../../src/providers/http.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';
import { startStoppedServer } from '../support/stopped-server.js';
import { orderOf } from './conformance.js';

const adapters: Record<string, ProviderAdapter> = {
  h2h: createH2hAdapter('h2h'),
  digiflazz: createDigiflazzAdapter(() => undefined),
};
const order = orderOf({ productCode: 'S10', customerNumber: '081234567890' });
const bodies: Record<string, object> = {
  h2h: { status: '00', transaction_status: 'success', ref_id: order.providerRef, sn: '12345' },
  digiflazz: { data: { ref_id: order.providerRef, status: 'Sukses', rc: '00', sn: '12345', price: 10_000 } },
};

const goOn = 'HTTP/1.1 100 Continue\r\n\r\n';

/** Sends the parts of a response one after the other, each in a packet of its own. */
async function withParts(
  parts: string[],
  use: (url: string, requests: () => number) => Promise<void>,
): Promise<void> {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => {
      requests += 1;
      const sendFrom = (index: number) => {
        if (index < parts.length) {
          socket.write(parts[index] ?? '', () => setImmediate(sendFrom, index + 1));
        }
      };
      sendFrom(0);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => requests);
  } finally {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  }
}

function respond(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

describe('a provider that sends 100 Continue unasked', () => {
  const starts: Record<string, string[]> = {
    'in one packet with the response': [],
    'in its own packet': [goOn],
    'byte by byte': Array.from(goOn),
    'twice, with headers': [`${goOn}HTTP/1.1 100 Continue\r\nserver: Microsoft-IIS/6.0\r\n\r\n`],
    'with 102 and 103': [goOn, 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'],
    'after 103': ['HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n', goOn],
    'as HTTP/1.0': ['HTTP/1.0 100 Continue\r\n\r\n'],
  };
  for (const [name, adapter] of Object.entries(adapters)) {
    for (const [how, before] of Object.entries(starts)) {
      it(`${name}: ${how}, the final response decides`, async () => {
        const final = respond(JSON.stringify(bodies[name]));
        const parts = before.length === 0 ? [goOn + final] : [...before, final];
        await withParts(parts, async (baseUrl, requests) => {
          const connection = { sellerId: newId(), baseUrl, username: 'us', secret: 'secret' };
          for (const count of [1, 2]) {
            const outcome = await adapter.buy(connection, order);
            expect(outcome, JSON.stringify(outcome)).to.include({ outcome: 'success' });
            expect(requests()).to.equal(count);
          }
        });
      });
    }
  }

  const call = (url: string, timeoutMs: number) =>
    callHttp({ method: 'POST', url: new URL(url), body: '{}', timeoutMs, sellerId: newId() });

  it('a body that looks like 100 Continue stays as it is', () =>
    withParts([respond(goOn)], async (url) => {
      expect(await call(url, 5_000)).to.include({ kind: 'answer', status: 200, text: goOn });
    }));

  it('without a final response, the outcome is unknown', async () => {
    for (const parts of [[goOn], ['HTTP/1.1 1'], ['HTTP/1.1 100 Continue\r\nx: ']]) {
      await withParts(parts, async (url) => {
        expect(await call(url, 300)).to.deep.equal({ kind: 'unknown', reason: 'TIMEOUT' });
      });
    }
  });
});

describe('a provider that accepts no connection within the timeout', () => {
  before(async () => {
    redis();
    await connectRedis();
  });
  after(disconnectRedis);

  for (const [what, sendBefore] of [
    ['an order', () => new Date(Date.now() + 60_000)],
    ['a status check', () => null],
  ] as const) {
    it(`is not sent ${what}, even if it accepts the connection later`, async () => {
      const stopped = await startStoppedServer();
      const call = (method: 'GET' | 'POST', timeoutMs: number) =>
        callHttp({
          method,
          url: new URL(`http://127.0.0.1:${stopped.port}/`),
          ...(method === 'POST' && { body: '{}' }),
          timeoutMs,
          sellerId: newId(),
          sendBefore: sendBefore(),
        });
      try {
        expect(await call('POST', 300)).to.deep.equal({ kind: 'not-sent', reason: 'CONNECT_TIMEOUT' });
        stopped.resume();
        const isAccepted = () => stopped.seen().connections > 0;
        await eventually('the connection is accepted after all', isAccepted);
        expect(await call('GET', 5_000)).to.include({ kind: 'answer', status: 200 });
        await eventually('only the later call arrived', () => stopped.seen().requests === 1);
      } finally {
        await stopped.close();
      }
    });
  }
});
