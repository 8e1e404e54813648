/** packages/client-node against the running service: its calls, its retries behind a bad network, its webhooks. */
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import express from 'express';
import { fastify } from 'fastify';
import { expect } from 'chai';
import {
  createClient,
  OutcomeUnknownError,
  TopupError,
  type Client,
  type Order,
} from '../../packages/client-node/src/client.js';
import { createResellerClient } from '../../packages/client-node/src/reseller.js';
import {
  fastifyWebhooks,
  verifyWebhook,
  WebhookError,
  webhookReceiver,
  type WebhookEvent,
} from '../../packages/client-node/src/webhooks.js';
import { projectRoot } from '../../config/project-file.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { startStack, type SeededAccount, type Stack } from '../support/stack.js';

const quick = { timeoutMs: 5_000, attemptsMax: 4, waitMaxMs: 50 };
const order = (): Order => ({ code: 'S10', customer_number: '081234561230', ref_id: uniqueRef('client') });

describe('packages/client-node', function () {
  this.timeout(60_000);
  let stack: Stack;
  let accounts: Record<string, SeededAccount>;
  let client: Client;

  before(async () => {
    stack = await startStack({ workers: ['fulfilment', 'follow-up', 'webhooks'] });
    accounts = await stack.seed();
    client = createClient({ baseUrl: stack.baseUrl, apiKey: accounts['buyer']?.api_key ?? '' });
  });
  after(() => stack.stop());

  it('from a deposit to verified webhooks, at Express and at Fastify', async () => {
    const came: Record<string, WebhookEvent[]> = { express: [], fastify: [] };
    const { webhook_secret: secret } = await client.call('getBuyerConfig');
    const app = express();
    const shop = app.listen(0, '127.0.0.1');
    const books = fastify();
    await once(shop, 'listening');
    try {
      const onEvent = (event: WebhookEvent) => void came['express']?.push(event);
      app.post('/hooks', webhookReceiver({ secret, onEvent }));
      const shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/hooks`;
      await client.call('updateBuyerConfig', { body: { webhook_url: shopUrl } });
      // Its secret is known once the endpoint exists, and that needs the port.
      const port = await freePort();
      const endpoint = await client.call('createBuyerEndpoint', {
        body: { url: `http://127.0.0.1:${port}/hooks`, events: ['transaction.success'] },
      });
      await books.register(
        fastifyWebhooks({
          ...{ path: '/hooks', secret: endpoint.secret },
          onEvent: (event) => void came['fastify']?.push(event),
        }),
      );
      await books.listen({ port, host: '127.0.0.1' });

      expect((await client.deposit({ amount: 100_000, ref_id: uniqueRef('client') })).amount).to.equal(
        100_000,
      );
      const wanted = order();
      expect((await client.buy(wanted)).ref_id).to.equal(wanted.ref_id);
      const result = await client.waitForResult(wanted.ref_id, { everyMs: 100 });
      expect(result).to.include({ status: 'success', code: 'S10' });
      for (const receiver of ['express', 'fastify']) {
        await eventually(`the webhook at ${receiver}`, () =>
          Promise.resolve(
            (came[receiver] ?? []).some(
              ({ name, body }) => name === 'transaction.success' && body.data.sn === result.sn,
            ),
          ),
        );
      }
      await client.call('removeBuyerEndpoint', { path: { id: endpoint.id } });
    } finally {
      await client.call('updateBuyerConfig', { body: { webhook_url: null } });
      shop.close();
      await books.close();
    }
  });

  it('the quick-start of docs/integration.md buys', async () => {
    const text = await readFile('docs/integration.md', 'utf8');
    const [, program = ''] = /<!-- quick-start -->\n```js\n([\s\S]*?)```/.exec(text) ?? [];
    const directory = await mkdtemp(join(tmpdir(), 'quick-start-'));
    try {
      const file = join(directory, 'quick-start.mjs');
      const source = pathToFileURL(join(projectRoot, 'packages/client-node/src/client.ts')).href;
      await writeFile(file, program.replace("'topup-client'", `'${source}'`));
      const tsx = pathToFileURL(join(projectRoot, 'node_modules/tsx/dist/loader.mjs')).href;
      const args = [
        '--import',
        tsx,
        file,
        stack.baseUrl,
        accounts['buyer']?.api_key ?? '',
        uniqueRef('quick'),
      ];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: projectRoot });
      expect(JSON.parse(stdout))
        .to.include({ status: 'success' })
        .and.to.have.property('sn')
        .that.is.a('string');
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('buys once through a network that loses requests and answers, and answers of proxies in between', async () => {
    const seen: string[] = [];
    const bad = await listen((request, response) => {
      void forward(stack.baseUrl, request).then(({ status, body, sent }) => {
        seen.push(sent);
        switch (seen.length) {
          case 1: // It was bought, and nobody heard.
            request.socket.destroy();
            break;
          case 2:
            response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
            break;
          case 3:
            response.writeHead(503, { 'retry-after': '0' }).end('{"status":"error","code":"03"}');
            break;
          default:
            response.writeHead(status, { 'content-type': 'application/json' }).end(body);
        }
      });
    });
    try {
      const through = createClient({ baseUrl: bad.url, apiKey: accounts['buyer']?.api_key ?? '', ...quick });
      await client.deposit({ amount: 50_000, ref_id: uniqueRef('client') });
      const before = (await client.call('getBuyerBalance')).balance;
      const wanted = order();
      const bought = await through.buy(wanted);
      expect(seen).to.deep.equal(Array.from({ length: 4 }, () => JSON.stringify(wanted)));
      const after = (await client.call('getBuyerBalance')).balance;
      expect(before - after, 'one debit').to.equal(bought.price);
    } finally {
      bad.server.close();
    }
  });

  it('does not repeat what could be done twice, and says what is not known; without a ref_id nothing is sent', async () => {
    let calls = 0;
    const silent = await listen((request) => {
      calls += 1;
      request.socket.destroy();
    });
    try {
      const through = createClient({ baseUrl: silent.url, apiKey: 'bk_test_x', ...quick });
      const create = through.call('createBuyerEndpoint', { body: { url: 'https://shop.example/hooks' } });
      expect(await failureOf(create))
        .to.be.instanceOf(OutcomeUnknownError)
        .and.to.have.property('refId', null);
      expect(calls).to.equal(1);
      const wanted = order();
      const unknown = await failureOf(through.buy(wanted));
      expect(unknown).to.be.instanceOf(OutcomeUnknownError).and.to.have.property('refId', wanted.ref_id);
      expect(calls).to.equal(1 + quick.attemptsMax);
      for (const ref_id of ['', undefined]) {
        expect(() => through.buy({ ...wanted, ref_id: ref_id as string })).to.throw(
          TypeError,
          'ref_id is missing',
        );
      }
      expect(calls).to.equal(1 + quick.attemptsMax);
    } finally {
      silent.server.close();
    }
  });

  it('a refusal is an error with its reason, and is not repeated', async () => {
    const refused = await failureOf(client.buy({ ...order(), max_price: 1 }));
    expect(refused).to.be.instanceOf(TopupError);
    expect(refused).to.include({ httpStatus: 409, code: '01', reason: 'price_above_max' });
    const poor = createClient({ baseUrl: stack.baseUrl, apiKey: accounts['buyer2']?.api_key ?? '' });
    const { balance } = await poor.call('getBuyerBalance');
    const tooMuch = await failureOf(poor.buy({ ...order(), code: 'NONE' }));
    expect(tooMuch).to.include({ httpStatus: 404, reason: 'product_not_found' });
    expect(balance).to.be.a('number');
  });

  it('iterates over every transaction and every movement, whatever the size of a page', async () => {
    await client.deposit({ amount: 100_000, ref_id: uniqueRef('client') });
    const refs = [order(), order(), order()];
    for (const each of refs) {
      await client.buy(each);
    }
    const found: string[] = [];
    for await (const { ref_id: ref } of client.transactions({ limit: 1 })) {
      found.push(ref);
    }
    expect(found.slice(0, 3)).to.deep.equal(refs.map((each) => each.ref_id).reverse());
    expect(new Set(found).size).to.equal(found.length);
    let last = 0;
    for await (const entry of client.statement()) {
      last = entry.balance;
    }
    expect(last).to.equal((await client.call('getBuyerBalance')).balance);
  });

  it('the reseller client signs, buys once, and asks again with the same call', async () => {
    const { username = '', api_key: apiKey = '' } = accounts['buyer'] ?? {};
    const reseller = createResellerClient({ baseUrl: stack.baseUrl, username, apiKey, ...quick });
    const { balance } = { balance: 0, ...(await reseller.balance()) };
    const wanted = { code: 'S10', customer: '081234561230', ref_id: uniqueRef('client') };
    const [first, second] = [await reseller.request(wanted), await reseller.request(wanted)];
    expect(first).to.include({ status: '00', ref_id: wanted.ref_id });
    expect(second).to.include({ status: '00', ref_id: wanted.ref_id });
    expect((await reseller.balance()).status).to.equal('00');
    expect({ balance: 0, ...(await reseller.balance()) }.balance).to.be.lessThan(balance);
    const stranger = createResellerClient({ baseUrl: stack.baseUrl, username, apiKey: 'wrong', ...quick });
    expect(await stranger.balance()).to.include({ status: '07', reason: 'invalid_sign' });
    const list = await reseller.priceList({ operator: 'Telkomsel' });
    expect('data' in list && list.data.length).to.be.greaterThan(0);
  });
});

describe('packages/client-node/src/webhooks.ts', () => {
  const secret = `whsec_${Buffer.from('a secret of thirty-two bytes !!!').toString('base64')}`;
  const body = JSON.stringify({
    event: 'ping',
    data: { message: 'é' },
    timestamp: '2024-03-01T05:06:07.000Z',
  });
  const signed = (at = Date.now() / 1_000, over: Record<string, string> = {}) => {
    const [id, timestamp] = ['msg_1', String(Math.floor(at))];
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    };
    return { headers: { ...headers, 'x-event': 'ping', ...over }, body };
  };

  it('takes what is genuine, as text or bytes, also with the second of two signatures', () => {
    const message = signed();
    expect(verifyWebhook(message, { secret })).to.include({ id: 'msg_1', name: 'ping' });
    expect(verifyWebhook({ ...message, body: Buffer.from(body) }, { secret }).name).to.equal('ping');
    const two = {
      ...message.headers,
      'webhook-signature': `v1,AAAA ${message.headers['webhook-signature']}`,
    };
    expect(verifyWebhook({ ...message, headers: two }, { secret }).name).to.equal('ping');
    // A header that nobody signed makes no other event of it.
    expect(verifyWebhook(signed(undefined, { 'x-event': 'transaction.success' }), { secret }).name).to.equal(
      'ping',
    );
  });

  it('refuses everything else', () => {
    const now = Date.now() / 1_000;
    const wrong = {
      'another body': { ...signed(), body: body.replace('ping', 'pong') },
      'another id': signed(now, { 'webhook-id': 'msg_2' }),
      'an old one': signed(now - 400),
      'one of the future': signed(now + 400),
      'another time than was signed': signed(now, { 'webhook-timestamp': String(Math.floor(now) + 1) }),
      'no signature': signed(now, { 'webhook-signature': '' }),
    };
    for (const [what, message] of Object.entries(wrong)) {
      expect(() => verifyWebhook(message, { secret }), what).to.throw(WebhookError);
    }
    const other = `whsec_${Buffer.from('another').toString('base64')}`;
    expect(() => verifyWebhook(signed(), { secret: other })).to.throw(WebhookError, 'another secret');
    expect(() => verifyWebhook(signed(), { secret: '' })).to.throw(TypeError);
  });

  it('at Express: 401 for a forgery and for a body that was parsed before, 500 where the handler throws', async () => {
    const app = express();
    const failing = () => Promise.reject(new Error('the database is away'));
    app.post('/late', express.json(), webhookReceiver({ secret, onEvent: () => undefined }));
    app.post('/raw', express.raw({ type: '*/*' }), webhookReceiver({ secret, onEvent: () => undefined }));
    app.post('/failing', webhookReceiver({ secret, onEvent: failing }));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const send = async (path: string, { headers, body: text } = signed()) => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: text,
      });
      return `${answer.status} ${await answer.text()}`;
    };
    try {
      expect(await send('/raw')).to.equal('200 {"status":"received"}');
      expect(await send('/raw', { ...signed(), body: '{}' })).to.match(/^401 /);
      expect(await send('/late')).to.match(/^401 .*before express\.json/);
      expect(await send('/failing')).to.equal('500 {"status":"error"}');
    } finally {
      server.close();
    }
  });
});

async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ server: Server; url: string }> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Of a server that has just closed. */
async function freePort(): Promise<number> {
  const { server, url } = await listen(() => undefined);
  await new Promise((resolve) => server.close(resolve));
  return Number(new URL(url).port);
}

async function forward(baseUrl: string, request: IncomingMessage) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  const sent = Buffer.concat(chunks).toString();
  const answer = await fetch(`${baseUrl}${request.url ?? ''}`, {
    method: request.method ?? 'GET',
    headers: { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' },
    body: sent,
  });
  return { status: answer.status, body: await answer.text(), sent };
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}
