/** Orders that certainly did not reach the provider or were not accepted, and long price lists. */
import { expect } from 'chai';
import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { ProviderAdapter, ProviderConnection } from '../../src/providers/adapter.js';
import { readCircuits } from '../../src/providers/circuit.js';
import { createDigiflazzAdapter } from '../../src/providers/digiflazz.js';
import { createH2hAdapter } from '../../src/providers/h2h.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { newId } from '../../src/shared/ids.js';
import { orderOf } from './conformance.js';
import { expiredCertificate } from './expired-certificate.js';
import { measureLongestHoldMs } from '../support/measure-longest-hold.js';
import { forkTestProgram } from '../support/fork-test-program.js';
import { watchMemory } from '../support/memory-watch.js';
import { startPlayServer, type PlayServer } from './play-server.js';

/** Limit for the memory that a process needs to read a 31 MB price list, in MB above idle. */
const priceListMegabytesMax = 140;

const adapters: Record<string, ProviderAdapter> = {
  h2h: createH2hAdapter('h2h'),
  digiflazz: createDigiflazzAdapter(() => undefined),
};

function connectionTo(baseUrl: string): ProviderConnection {
  return { sellerId: newId(), baseUrl, username: 'us', secret: 'secret' };
}

const order = () => orderOf({ productCode: 'S10', customerNumber: '081234567890' });

describe('an order to an unreachable provider', () => {
  /** Runs `use` with the port of `server`, which listens meanwhile. */
  async function withListeningServer(server: Server, use: (port: number) => Promise<void>): Promise<void> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await use((server.address() as AddressInfo).port);
    } finally {
      sockets.forEach((socket) => socket.destroy());
      await new Promise((resolve) => server.close(resolve));
    }
  }

  for (const [name, adapter] of Object.entries(adapters)) {
    it(`${name}: an expired certificate is not-sent, and no request arrives`, async () => {
      let requests = 0;
      const server = createTlsServer(expiredCertificate, (_request, response) => {
        requests += 1;
        response.end();
      });
      await withListeningServer(server, async (port) => {
        const outcome = await adapter.buy(connectionTo(`https://localhost:${port}`), order());
        expect(outcome.outcome, JSON.stringify(outcome)).to.equal('not-sent');
        expect(requests).to.equal(0);
      });
    });

    it(`${name}: a failed TLS handshake is not-sent`, async () => {
      const hangsUp = createServer((socket) => socket.once('data', () => socket.destroy()));
      const speaksPlainly = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      for (const server of [hangsUp, speaksPlainly]) {
        await withListeningServer(server, async (port) => {
          const outcome = await adapter.buy(connectionTo(`https://localhost:${port}`), order());
          expect(outcome.outcome, JSON.stringify(outcome)).to.equal('not-sent');
        });
      }
    });

    it(`${name}: a connection that closes after the request is unknown`, async () => {
      const hangsUp = createServer((socket) => socket.once('data', () => socket.destroy()));
      await withListeningServer(hangsUp, async (port) => {
        const outcome = await adapter.buy(connectionTo(`http://localhost:${port}`), order());
        expect(outcome.outcome, JSON.stringify(outcome)).to.equal('unknown');
      });
    });
  }
});

describe('a busy provider', () => {
  before(async () => {
    redis();
    await connectRedis();
  });
  after(disconnectRedis);

  const cases = [
    { adapter: 'h2h', status: 429, retryAfter: '7', outcome: 'not-sent', pauses: true },
    { adapter: 'h2h', status: 429, retryAfter: null, outcome: 'not-sent', pauses: false },
    { adapter: 'h2h', status: 503, retryAfter: '7', outcome: 'not-sent', pauses: true },
    { adapter: 'h2h', status: 503, retryAfter: null, outcome: 'unknown', pauses: false },
    { adapter: 'h2h', status: 502, retryAfter: '7', outcome: 'unknown', pauses: false },
    { adapter: 'digiflazz', status: 429, retryAfter: '7', outcome: 'not-sent', pauses: true },
    { adapter: 'digiflazz', status: 503, retryAfter: '7', outcome: 'unknown', pauses: true },
    { adapter: 'digiflazz', status: 503, retryAfter: null, outcome: 'unknown', pauses: false },
  ];
  for (const { adapter, status, retryAfter, outcome, pauses } of cases) {
    const header = retryAfter === null ? 'without Retry-After' : 'with Retry-After';
    it(`${adapter}: ${status} ${header} is ${outcome}${pauses ? ' and pauses the provider' : ''}; a status check is unknown`, async () => {
      const server = await startPlayServer((_call, response) => {
        response.writeHead(status, retryAfter === null ? {} : { 'retry-after': retryAfter });
        response.end('busy');
      });
      try {
        const connection = connectionTo(server.url);
        expect(await adapters[adapter]?.buy(connection, order())).to.include({ outcome });
        const [view] = (await readCircuits([connection.sellerId])).values();
        expect(view?.state).to.equal(pauses ? 'open' : 'closed');
        expect(view?.pauseMs).to.be.within(pauses ? 5_000 : 0, pauses ? 7_000 : 0);
        expect(await adapters[adapter]?.inquire(connection, order())).to.include({ outcome: 'unknown' });
      } finally {
        await server.stop();
      }
    });
  }
});

describe('a price list of 31 MB', () => {
  let server: PlayServer;
  let whole: Buffer;

  before(async () => {
    const row = (code: string) => ({
      buyer_sku_code: code,
      price: 10_000,
      buyer_product_status: true,
      seller_product_status: true,
      product_name: `Product ${code}`,
      desc: 'x'.repeat(150),
      seller_name: 'Seller',
      unlimited_stock: true,
    });
    const rows = Array.from({ length: 95_000 }, (_, index) => row(`SKU${index}`));
    whole = Buffer.from(JSON.stringify({ data: rows }));
    expect(whole.length).to.be.above(30_000_000);
    server = await startPlayServer((call, response) => {
      const isPrepaid = call.raw.includes('"prepaid"');
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(isPrepaid ? whole : '{"data":[]}');
    });
  });
  after(() => server.stop());

  it('is read as a stream, without blocking the process, keeping only wanted rows', async () => {
    const isWanted = (code: string) => code === 'SKU5' || code === 'SKU94999';
    const read = async () => {
      const list = await adapters['digiflazz']?.priceList(connectionTo(server.url), isWanted);
      expect(list?.ok && list.value.map(({ code }) => code)).to.deep.equal(['SKU5', 'SKU94999']);
    };
    const streamedMs = await measureLongestHoldMs(read, { runs: 2 });
    const parsedMs = await measureLongestHoldMs(() => Promise.resolve(JSON.parse(whole.toString())));
    process.stdout.write(
      `    ${streamedMs.toFixed(0)} ms, parsed at once ${parsedMs.toFixed(0)} ms of CPU\n`,
    );
    expect(streamedMs).to.be.below(parsedMs / 2);
  });

  it('needs little memory', async () => {
    // Node 24 lets the heap for new objects grow larger before it collects garbage. Set the same
    // size for all versions.
    const execArgv = ['--max-semi-space-size=16'];
    const reader = forkTestProgram('test/providers/price-list-process', process.env, { execArgv });
    try {
      await once(reader, 'message');
      const memory = await watchMemory(reader.pid ?? 0);
      reader.send({ baseUrl: server.url, wanted: ['SKU94999'] });
      const [{ codes }] = (await once(reader, 'message')) as [{ codes: unknown }];
      memory.stop();
      expect(codes).to.deep.equal(['SKU94999']);
      process.stdout.write(`    ${memory.growth().toFixed(0)} MB above ${memory.idle.toFixed(0)} MB idle\n`);
      // Parsing the whole list in one step would hold the bytes, the text and 95,000 rows in memory
      // together.
      expect(memory.growth()).to.be.below(priceListMegabytesMax);
    } finally {
      reader.disconnect();
    }
  });

  for (const [what, body] of [
    ['has no end', '{"data":[{"buyer_sku_code":"A","price":1,"buyer_product_status":true'],
    ['is not a list', '{"data":{"rc":"99"}}'],
    ['has a row without a code', '{"data":[{"price":1}]}'],
  ] as const) {
    it(`that ${what} is unreadable and changes nothing`, async () => {
      const broken = await startPlayServer((_call, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(body);
      });
      try {
        const list = await adapters['digiflazz']?.priceList(connectionTo(broken.url));
        expect(list).to.deep.include({ ok: false, code: 'UNREADABLE' });
      } finally {
        await broken.stop();
      }
    });
  }
});
