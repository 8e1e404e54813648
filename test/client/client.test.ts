/** The clients of every language against the running service: their calls, their retries behind a bad network, webhooks. */
import { execFile, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import express from 'express';
import { fastify } from 'fastify';
import { expect } from 'chai';
import { createClient, type Client, type Order } from '../../packages/client-node/src/client.js';
import {
  fastifyWebhooks,
  verifyWebhook,
  webhookReceiver,
  type WebhookEvent,
} from '../../packages/client-node/src/webhooks.js';
import { projectRoot } from '../../config/project-file.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { startStack, type SeededAccount, type Stack } from '../support/stack.js';
import { badNetwork, listen, type Fate } from './support/bad-network.js';
import { languages, type Command, type Driver, type Language, type Result } from './support/drivers.js';
import { genuineIn, vectors, verifiedAt } from './support/vectors.js';

const order = (): Order => ({ code: 'S10', customer_number: '081234561230', ref_id: uniqueRef('client') });

describe('The clients', function () {
  this.timeout(60_000);
  let stack: Stack;
  let accounts: Record<string, SeededAccount>;
  let client: Client;
  /** Of S10. */
  let price: number;

  before(async () => {
    stack = await startStack({ workers: ['fulfilment', 'follow-up', 'webhooks'] });
    accounts = await stack.seed();
    client = createClient({ baseUrl: stack.baseUrl, apiKey: accounts['buyer']?.api_key ?? '' });
    price = (await client.call('getBuyerPriceList')).find(({ code }) => code === 'S10')?.price ?? 0;
  });
  after(() => stack.stop());

  it('packages/client-node: from a deposit to verified webhooks, at Express and at Fastify', async () => {
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

  for (const language of languages) {
    (language.isHere ? describe : describe.skip)(
      `${language.name}${language.isHere ? '' : ' (skipped: its runtime is not here)'}`,
      () => {
        let driver: Driver;
        let username: string;
        let key: string;

        before(() => {
          driver = language.start();
          ({ username = '', api_key: key = '' } = accounts['buyer'] ?? {});
        });
        after(() => driver.stop());

        const play = (command: Command, url = stack.baseUrl): Promise<Result> =>
          driver.play({ url, username, key, ...command });
        const done = async (command: Command): Promise<unknown> => {
          const result = await play(command);
          expect(result, JSON.stringify(result)).to.have.property('ok');
          return 'ok' in result ? result.ok : null;
        };
        const balance = async () => (await client.call('getBuyerBalance')).balance;
        const fund = () => client.deposit({ amount: 100_000, ref_id: uniqueRef('client') });
        /** Through a network that does these to its calls; how many came, and whether each was the same. */
        const through = async (fates: Fate[], command: Command) => {
          const bad = await badNetwork(stack.baseUrl, fates);
          try {
            const result = await play(command, bad.url);
            return { result, calls: bad.seen.length, different: new Set(bad.seen).size };
          } finally {
            bad.close();
          }
        };

        it('its quick-start comes from a key to a verified webhook', async () => {
          const ref = uniqueRef('quick');
          const { stdout } = await runQuickStart(language, [stack.baseUrl, key, ref]);
          expect(JSON.parse(stdout))
            .to.include({ status: 'success' })
            .and.to.have.property('sn')
            .that.is.a('string');
          await client.call('updateBuyerConfig', { body: { webhook_url: null } });
        });

        it('buys once through a network that loses answers, and answers of proxies in between', async () => {
          await fund();
          const before = await balance();
          const wanted = order();
          const { result, calls, different } = await through(['lost', 'proxy page', 'busy', 'answered'], {
            do: 'buy',
            with: wanted,
          });
          expect(result).to.have.nested.property('ok.ref_id', wanted.ref_id);
          expect({ calls, different }).to.deep.equal({ calls: 4, different: 1 });
          expect(before - (await balance()), 'one debit').to.equal(price);
        });

        it('believes no refusal after a lost answer: what was lost was bought', async () => {
          await fund();
          const before = await balance();
          const orders = [order(), order()];
          for (const [index, fates] of (
            [
              ['lost', 'unauthorized'],
              ['lost', 'busy'],
            ] as const
          ).entries()) {
            const wanted = orders[index] ?? order();
            const { result } = await through([...fates], { do: 'buy', with: wanted });
            expect(result).to.deep.equal({ error: 'unknown', refId: wanted.ref_id });
            expect(await done({ do: 'buy', with: wanted })).to.include({ ref_id: wanted.ref_id });
          }
          // A read makes nothing, so what it is told is believed.
          const read = await through(['lost', 'unauthorized'], { do: 'balance' });
          expect(read.result).to.include({ error: 'refused', reason: 'invalid_key' });
          const { code, ref_id: ref } = order();
          const request = { code, customer: '081234561230', ref_id: ref };
          const { result } = await through(['lost', 'reseller limit'], {
            do: 'resellerRequest',
            with: request,
          });
          expect(result).to.deep.equal({ error: 'unknown', refId: ref });
          expect(await done({ do: 'resellerRequest', with: request })).to.include({
            status: '00',
            ref_id: ref,
          });
          expect(before - (await balance()), 'three debits').to.equal(3 * price);
        });

        it('does not repeat what could be done twice, and says what is not known; without a ref_id nothing is sent', async () => {
          const endpoint = { url: 'https://shop.example/hooks' };
          const created = await through(['silent'], { do: 'createEndpoint', with: endpoint });
          expect(created).to.deep.include({ result: { error: 'unknown', refId: null }, calls: 1 });
          const wanted = order();
          const bought = await through(['silent'], { do: 'buy', with: wanted });
          expect(bought).to.deep.include({ result: { error: 'unknown', refId: wanted.ref_id }, calls: 4 });
          const { result, calls } = await through(['silent'], { do: 'buy', with: { ...wanted, ref_id: '' } });
          expect(result).to.include({ error: 'usage' });
          expect(result)
            .to.have.property('message')
            .that.matches(/ref_?id is missing/i);
          expect(calls).to.equal(0);
        });

        it('a refusal is an error with its reason, and is not repeated', async () => {
          const { result, calls } = await through(['answered'], {
            do: 'buy',
            with: { ...order(), max_price: 1 },
          });
          expect(result).to.deep.equal({
            ...{ error: 'refused', httpStatus: 409 },
            ...{ code: '01', reason: 'price_above_max' },
          });
          expect(calls).to.equal(1);
          for (const amount of [50_000.5, '50000']) {
            const wrong = await play({ do: 'deposit', with: { amount, ref_id: uniqueRef('client') } });
            expect(wrong).to.have.property('error').that.is.oneOf(['usage', 'refused']);
          }
        });

        it('iterates over every transaction and every movement, whatever the size of a page', async () => {
          await fund();
          const refs = [order(), order(), order()].map((each) => ({ do: 'buy', with: each }) as const);
          for (const each of refs) {
            await done(each);
          }
          const found = (await done({ do: 'transactions', with: { limit: 2 } })) as string[];
          expect(found.slice(0, 3)).to.deep.equal(refs.map((each) => each.with.ref_id).reverse());
          expect(new Set(found).size).to.equal(found.length);
          const movements = (await done({ do: 'statement' })) as number[];
          expect(movements.at(-1)).to.equal(await done({ do: 'balance' }));
        });

        it('on the reseller surface it signs, buys once, and asks again with the same call', async () => {
          await fund();
          const before = await balance();
          const request = { code: 'S10', customer: '081234561230', ref_id: uniqueRef('client') };
          for (let call = 0; call < 2; call++) {
            const answer = await done({ do: 'resellerRequest', with: request });
            expect(answer).to.include({ status: '00', ref_id: request.ref_id });
          }
          expect(await done({ do: 'resellerBalance' })).to.include({
            status: '00',
            balance: before - price,
          });
          expect(await done({ do: 'resellerBalance', key: 'wrong' })).to.include({
            ...{ status: '07', reason: 'invalid_sign' },
          });
          const list = await done({ do: 'resellerPriceList', with: { operator: 'Telkomsel' } });
          expect((list as { data: unknown[] }).data.length).to.be.greaterThan(0);
        });

        it('takes and refuses the messages of clients/webhook-vectors.json, each for its reason', async () => {
          const words = {
            signature: 'signature is not right',
            time: 'signed more than',
            header: 'is missing',
          };
          for (const vector of vectors) {
            const result = await play({ do: 'verify', with: verifiedAt(vector) });
            if (vector.refused === null) {
              expect(result, vector.name).to.have.property('ok').that.deep.includes(genuineIn(vector));
            } else {
              expect(result, vector.name).to.include({ error: 'forged' });
              const wanted = words[vector.refused];
              expect(result, vector.name).to.have.property('message').that.includes(wanted);
            }
          }
        });
      },
    );
  }
});

const hasGo = spawnSync('go', ['version']).status === 0;
(hasGo ? describe : describe.skip)(`clients/go${hasGo ? '' : ' (skipped: no Go)'}`, function () {
  this.timeout(120_000);

  it('passes its tests, which hold it to clients/webhook-vectors.json', async () => {
    const env = { ...process.env, GOCACHE: join(projectRoot, 'node_modules/.cache/go') };
    const cwd = join(projectRoot, 'clients/go');
    const { stdout } = await promisify(execFile)('go', ['test', '-count=1', './...'], { cwd, env });
    expect(stdout).to.match(/^ok/);
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

  it('takes bytes and text, and no secret that is none', () => {
    const message = signed();
    expect(verifyWebhook(message, { secret })).to.include({ id: 'msg_1', name: 'ping' });
    expect(verifyWebhook({ ...message, body: Buffer.from(body) }, { secret }).name).to.equal('ping');
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

/** Of a server that has just closed. */
async function freePort(): Promise<number> {
  const { server, url } = await listen(() => undefined);
  await new Promise((resolve) => server.close(resolve));
  return Number(new URL(url).port);
}

/** As its reader does; of the one for Node with the package's source in place of what is built from it. */
async function runQuickStart({ quickStart: { file, command } }: Language, args: string[]) {
  const [program = '', ...options] = command;
  const directory = await mkdtemp(join(tmpdir(), 'quick-start-'));
  try {
    let path = join(projectRoot, file);
    if (file.endsWith('.mjs')) {
      const source = (name: string) =>
        `'${pathToFileURL(join(projectRoot, `packages/client-node/src/${name}.ts`)).href}'`;
      const text = (await readFile(path, 'utf8'))
        .replace("'topup-client'", source('client'))
        .replace("'topup-client/webhooks'", source('webhooks'));
      path = join(directory, 'quick-start.mjs');
      await writeFile(path, text);
    }
    return await promisify(execFile)(program, [...options, path, ...args], { cwd: projectRoot });
  } finally {
    await rm(directory, { recursive: true });
  }
}
