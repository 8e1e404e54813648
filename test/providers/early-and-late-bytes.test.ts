/**
 * Bytes of a provider that do not belong to the order: before the request, and a second response.
 * The clock of a real process runs, because it is read between connecting and sending.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { createDigiflazzAdapter } from '../../src/providers/digiflazz.js';
import { createH2hAdapter } from '../../src/providers/h2h.js';
import { callHttp, LateError } from '../../src/providers/http.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { keepFleetClock, type FleetClock } from '../../src/redis/fleet-clock.js';
import { newId } from '../../src/shared/ids.js';
import { orderOf } from './conformance.js';

function respond(body: object): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

describe('bytes of a provider that do not belong to the order', function () {
  this.timeout(60_000);
  let clock: FleetClock;

  before(async () => {
    redis();
    await connectRedis();
    clock = keepFleetClock();
    await clock.measured;
  });
  after(async () => {
    await clock.stop();
    await disconnectRedis();
  });

  async function withServer(
    onConnection: (socket: Socket) => void,
    use: (url: string, connections: () => number) => Promise<void>,
  ): Promise<void> {
    const sockets = new Set<Socket>();
    const server = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      onConnection(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => sockets.size);
    } finally {
      sockets.forEach((socket) => socket.destroy());
      server.close();
    }
  }
  const send = (url: string, aheadMs = 3_000) =>
    callHttp({
      method: 'POST',
      url: new URL(url),
      body: '{}',
      timeoutMs: 2_000,
      sellerId: newId(),
      sendBefore: new Date(Date.now() + aheadMs),
    });

  it('a connection that is reset at once neither ends the process nor sends the order', async () => {
    const delays = [0, 0, 1, 1];
    await withServer(
      (socket) => {
        const reset = () => socket.resetAndDestroy();
        setTimeout(reset, delays[Math.floor(Math.random() * delays.length)]);
      },
      async (url) => {
        const kinds = await Promise.all(Array.from({ length: 40 }, async () => (await send(url)).kind));
        expect(kinds.filter((kind) => kind === 'answer')).to.deep.equal([]);
      },
    );
  });

  for (const [what, bytes] of [
    ['a banner of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a whole response', respond({ status: '00', transaction_status: 'success', sn: '12345' })],
    ['the end of the connection', null],
  ] as const) {
    it(`before the request, ${what} is no answer: the order is not sent`, async () => {
      await withServer(
        (socket) => {
          if (bytes === null) {
            socket.end();
          } else {
            socket.write(bytes);
          }
        },
        async (url, connections) => {
          const outcomes = [await send(url), await send(url), await send(url)];
          for (const outcome of outcomes) {
            expect(outcome.kind, JSON.stringify(outcome)).to.equal('not-sent');
          }
          // Not one connection after the other until the timeout.
          expect(connections()).to.be.at.most(9);
        },
      );
    });
  }

  const cases = {
    h2h: {
      adapter: createH2hAdapter('h2h'),
      bodies: [
        { status: '00', transaction_status: 'success', sn: '12345' },
        { status: '03', transaction_status: 'failed' },
      ],
    },
    digiflazz: {
      adapter: createDigiflazzAdapter(() => undefined),
      bodies: [
        { data: { status: 'Sukses', rc: '00', sn: '12345', price: 10_000 } },
        { data: { status: 'Gagal', rc: '02' } },
      ],
    },
  };
  for (const [name, { adapter, bodies }] of Object.entries(cases)) {
    it(`${name}: a second response is not taken as the answer to the next order`, async () => {
      const [first = {}, second = {}] = bodies;
      await withServer(
        (socket) => {
          socket.on('data', () => {
            socket.write(respond(first));
            setTimeout(() => socket.writable && socket.write(respond(second)), 1);
          });
        },
        async (baseUrl) => {
          const connection = { sellerId: newId(), baseUrl, username: 'us', secret: 'secret' };
          for (let left = 60; left > 0; left--) {
            const order = orderOf({ productCode: 'S10', customerNumber: '081234567890' });
            const sendBefore = new Date(Date.now() + 3_000);
            const outcome = await adapter.buy(connection, { ...order, sendBefore });
            expect(outcome.outcome, JSON.stringify(outcome)).to.equal('success');
          }
        },
      );
    });
  }

  it('a deadline from before a step back of the clock is late', async () => {
    await withServer(
      (socket) => socket.write(respond({})),
      async (url, connections) => {
        expect(await send(url, 3_603_000).catch((error: unknown) => error)).to.be.instanceOf(LateError);
        expect(connections()).to.equal(0);
      },
    );
  });
});
