/** Input made to crash a process, to exhaust its memory or to probe for data. */
import { expect } from 'chai';
import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Collection } from 'mongodb';
import { request } from 'undici';
import { limits } from '../../../config/limits.js';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { findKeysByUsername } from '../../../src/accounts/api-key-cache.js';
import { generateApiKey } from '../../../src/accounts/api-key.js';
import { AuditModel } from '../../../src/audit/audit.model.js';
import { createCache } from '../../../src/redis/cache.js';
import { ProductModel } from '../../../src/products/product.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { writeRequestLog } from '../../../src/request-log/log-request.js';
import { newId } from '../../../src/shared/ids.js';
import { logger, redact } from '../../../src/shared/logger.js';
import { redactUrlSecrets } from '../../../src/shared/mask.js';
import { uniqueRef } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { someTransaction } from '../../webhooks/support/accounts.js';
import { deliveries } from '../../../src/webhooks/deliver/delivery.model.js';
import { buildEventDeliveries } from '../../../src/webhooks/account-events.js';
import { uniqueAddress, useApi } from '../support/api.js';
import { expectFailure } from '../support/expect-answer.js';
import { hmacSign, md5Sign, pathOf } from '../support/reseller.js';

describe('hostile input', () => {
  const api = useApi();

  describe('names of built-in object properties', () => {
    const made: string[] = [];
    after(() => writeAndInvalidate([ProductModel], null, (rows) => rows.deleteMany({ _id: { $in: made } })));

    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
      it(`treats an operator called ${name} as one without known prefixes`, async () => {
        const { key } = await api.newAccount('seller');
        const code = uniqueRef('P').slice(0, 50);
        made.push(code);
        const product = {
          code,
          name,
          category: 'prabayar',
          subcategory: 'pulsa',
          price: 1_000,
          operator: name,
        };
        const created = await api.call({ path: '/api/seller/products', key, body: product });
        expect(created.status, JSON.stringify(created.body)).to.equal(201);
        expect((await ProductModel.findById(code).lean())?.customerNumber).to.deep.equal({
          kind: 'phone',
          prefixes: [],
        });
        const { key: buyer } = await api.newBuyer(1_000_000);
        const order = { code, customer_number: '123', ref_id: uniqueRef() };
        const refused = await api.call({ path: '/api/buyer/transaction', key: buyer, body: order });
        expectFailure(refused, { status: 422, code: '04' });
        expect(JSON.stringify(refused.body)).to.not.match(/native code|function/);
        for (const query of [`category=${name}`, `operator=${name}`]) {
          const list = await api.call({ path: `/v1/products?${query}`, key: buyer });
          expect(list.status).to.equal(200);
        }
      });
    }
  });

  describe('compressed bodies', () => {
    const body = Buffer.from(JSON.stringify({ limit: 1 }));
    const send = async (path: string, key: string, encoding: string, bytes: Buffer) => {
      const logged: unknown[] = [];
      const listen = (info: { level: string }) => info.level === 'error' && logged.push(info);
      logger.on('data', listen);
      const answer = await request(api.url() + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'content-encoding': encoding,
          'x-forwarded-for': uniqueAddress(),
        },
        body: bytes,
      });
      const reply = (await answer.body.json()) as { code: string; message: string };
      logger.off('data', listen);
      return { status: answer.statusCode, code: reply.code, message: reply.message, errors: logged.length };
    };
    const broken = {
      gzip: gzipSync(body).fill(7, 10),
      deflate: Buffer.from('not deflated'),
      br: Buffer.from('not brotli at all'),
    };

    for (const [encoding, bytes] of Object.entries(broken)) {
      it(`refuses an invalid ${encoding} body with 400/01 and logs no error`, async () => {
        const { key } = await api.newBuyer();
        for (const path of ['/api/buyer/transactions', '/api/reseller/callback']) {
          const { message, ...answer } = await send(path, key, encoding, bytes);
          expect(answer, path).to.deep.equal({ status: 400, code: '01', errors: 0 });
          expect(message).to.match(/Content-Encoding/);
        }
      });
    }

    it('reads valid compression; refuses a bomb with 413 and another encoding with 415', async () => {
      const { key } = await api.newBuyer();
      const path = '/api/buyer/transactions';
      const good = { gzip: gzipSync(body), deflate: deflateSync(body), br: brotliCompressSync(body) };
      for (const [encoding, bytes] of Object.entries(good)) {
        expect((await send(path, key, encoding, bytes)).status, encoding).to.equal(200);
      }
      const bomb = gzipSync(Buffer.alloc(20_000_000, ' '));
      expect(await send(path, key, 'gzip', bomb)).to.include({ status: 413, code: '01', errors: 0 });
      expect(await send(path, key, 'zstd', body)).to.include({ status: 415, code: '01', errors: 0 });
    });
  });

  it('logs 400 and no error if the client disconnects while it sends the body', async () => {
    const lines: Record<string, unknown>[] = [];
    const listen = (line: Record<string, unknown>) => lines.push(line);
    logger.on('data', listen);
    try {
      const { hostname, port } = new URL(api.url());
      const path = `/api/buyer/deposit`;
      const id = newId();
      const head = ['Host: x', 'Content-Type: application/json', 'Content-Length: 33', `x-request-id: ${id}`];
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      await new Promise((sent) =>
        socket.write(`POST ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n{`, sent),
      );
      socket.end();
      const line = await eventually('its log line', () => lines.find(({ requestId }) => requestId === id));
      expect(line).to.include({ level: 'info', code: '01' });
    } finally {
      logger.off('data', listen);
    }
  });

  for (const charset of ['utf-7', 'utf-16', 'utf-16le', 'utf-32', 'latin1']) {
    it(`refuses a body in ${charset} with 415/01 and does nothing`, async () => {
      const { key } = await api.newBuyer();
      const refused = await api.call({
        method: 'POST',
        path: '/api/buyer/deposit',
        key,
        raw: JSON.stringify({ amount: 50_000, ref_id: uniqueRef() }),
        headers: { 'content-type': `application/json; charset=${charset}` },
      });
      expectFailure(refused, { status: 415, code: '01' });
      const { body } = await api.call({ path: '/api/buyer/balance', key, body: {} });
      expect(body.data.balance).to.equal(0);
    });
  }

  for (const [what, character] of [
    ['a C0 control character', '\u001b'],
    ['a DEL character', '\u007f'],
    ['a C1 control character', '\u009b'],
    ['a direction override', '\u202e'],
    ['a zero-width space', '\u200b'],
    ['a lone surrogate', '\ud83d'],
  ] as const) {
    it(`refuses a text with ${what}`, async () => {
      const { key } = await api.newAccount('seller');
      const product = { code: uniqueRef('P').slice(0, 50), name: `a${character}b`, price: 1_000 };
      const refused = await api.call({
        path: '/api/seller/products',
        key,
        body: { ...product, category: 'prabayar', subcategory: 'pulsa', operator: 'Telkomsel' },
      });
      expectFailure(refused, { status: 400, code: '01', field: 'name', message: /control characters/ });
    });
  }

  async function queriesOf(work: () => Promise<unknown>): Promise<string[]> {
    const seen: string[] = [];
    // The log is written in batches. Write the entries of earlier calls now.
    await writeRequestLog();
    // Mongoose and the posting client both call the driver. `findOne` is a `find`.
    const asked = Collection.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
    const methods = [
      'find',
      'aggregate',
      'insertOne',
      'insertMany',
      'updateOne',
      'findOneAndUpdate',
      'bulkWrite',
    ];
    const originals = methods.map((method) => [method, asked[method]] as const);
    for (const [method, original] of originals) {
      asked[method] = function (this: Collection, ...args: unknown[]) {
        seen.push(`${this.collectionName}.${method}`);
        return original?.apply(this, args);
      };
    }
    try {
      await work();
    } finally {
      originals.forEach(([method, original]) => {
        asked[method] = original as never;
      });
    }
    return seen;
  }

  describe('unknown names', () => {
    it('does not cache a name that is too long', async () => {
      const asked: string[] = [];
      const find = createCache({
        from: [AccountModel],
        load: (name: string) => (asked.push(name), Promise.resolve(name)),
      });
      const [short, long] = ['a'.repeat(200), 'a'.repeat(201)];
      for (const name of [short, short, long, long]) {
        await find(name);
      }
      expect(asked).to.deep.equal([short, long, long]);
    });

    it('refuses a malformed username without a query or a cache entry', async () => {
      const queries = await queriesOf(async () => {
        for (const username of ['x'.repeat(12_000), 'NOT VALID', 'ab', 'x'.repeat(41), '__proto__ ']) {
          const answer = await api.call({ path: pathOf('balance', { username, sign: 'a'.repeat(32) }) });
          expect(answer.body).to.include({ status: '07' });
          expect(answer.body.message).to.have.length.below(200);
        }
      });
      expect(queries).to.deep.equal([]);
    });

    it('an unknown username causes the same queries, response and time as a known one', async () => {
      const { account, key } = await api.newBuyer();
      const unknown = `u-${account.username.slice(2)}`;
      const ask = async (username: string, kind: 'md5' | 'hmac') => {
        const signing = { username, key: `${key}x` };
        const sign = kind === 'md5' ? md5Sign(signing, 'depo') : hmacSign(signing, 'depo');
        const startedAt = performance.now();
        const { body } = await api.call({ path: pathOf('balance', { username, sign }) });
        expect(performance.now() - startedAt).to.be.above(limits.refusalFloorMs - 1);
        return body as object;
      };
      for (const kind of ['md5', 'hmac'] as const) {
        expect(await ask(unknown, kind)).to.deep.equal(await ask(account.username, kind));
      }
      const { account: fresh } = await api.newBuyer();
      const ofUnknown = await queriesOf(() => findKeysByUsername(`v-${fresh.username.slice(2)}`));
      expect(ofUnknown).to.deep.equal(['accounts.find', 'apiKeys.find']);
      expect(await queriesOf(() => findKeysByUsername(fresh.username))).to.deep.equal(ofUnknown);
    });

    it('refuses an unknown key or token only after a minimum time', async () => {
      for (const wrong of [generateApiKey('buyer', 'test'), `at_${'A'.repeat(70)}`, 'nonsense']) {
        const startedAt = performance.now();
        const answer = await api.call({ path: '/v1/wallet/balance', key: wrong });
        expectFailure(answer, { status: 401, code: '07' });
        expect(performance.now() - startedAt).to.be.above(limits.refusalFloorMs - 1);
      }
    });
  });

  describe('callbacks with an invalid signature', () => {
    const send = (path: string, body: object, from: string) =>
      api.call({ path, body, from, headers: { 'x-signature': 'sha256=00' } });

    it('get 429/06 from the 21st per minute on, per provider and address', async () => {
      const [from, elsewhere] = [uniqueAddress(), uniqueAddress()];
      const path = '/api/reseller/callback';
      const forged = { ref_id: 'nobody-1', status: 'success' };
      for (let n = 0; n < 20; n++) {
        expectFailure(await send(path, forged, from), { status: 401, code: '07' });
      }
      expectFailure(await send(path, forged, from), { status: 429, code: '06' });
      expectFailure(await send(path, forged, elsewhere), { status: 401, code: '07' });
      const other = { data: { ref_id: 'nobody-1', status: 'Sukses' } };
      expectFailure(await send('/api/providers/digiflazz/callback', other, from), {
        status: 401,
        code: '07',
      });
    });
  });

  describe('secrets in the query of a webhook URL', () => {
    const secret = 'of-the-receiver-4711';
    const url = `https://shop.example/hook?token=${secret}&v=2`;

    it('are masked in the audit log and the delivery list but shown to the owner', async () => {
      const { key, account } = await api.newBuyer();
      const path = '/api/buyer/api/config';
      const urls = { webhook_url: url, callback_url: `${url}&back` };
      expect((await api.call({ path, key, body: urls })).body.data).to.include(urls);
      const audit = JSON.stringify(await AuditModel.find({ 'subject.id': account._id }).lean());
      expect(audit).to.include('https://shop.example/hook?token=***&v=***').and.not.include(secret);
      const about = { id: someTransaction()._id, event: 'ping' as const, refId: null, data: {} };
      await deliveries.insertMany(buildEventDeliveries({ ...account, webhookUrl: url }, about));
      const listed = await api.call({ path: '/api/buyer/webhooks/deliveries', key });
      expect(JSON.stringify(listed.body)).to.include('token=***').and.not.include(secret);
    });

    it('are masked in logged text, as are credentials before the host', () => {
      const line = redact({ text: `went to ${url}, then to https://user:${secret}@shop.example/x` });
      expect(line).to.deep.equal({
        text: 'went to https://shop.example/hook?token=***&v=*** then to https://***@shop.example/x',
      });
      expect(redactUrlSecrets('https://shop.example/a?b#c and no query')).to.equal(
        'https://shop.example/a?***#*** and no query',
      );
      expect(redactUrlSecrets("https://shop.example/o'x?token=a'SECRET&x=1")).to.equal(
        "https://shop.example/o'x?token=***&x=***",
      );
    });
  });
});
