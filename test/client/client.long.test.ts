/**
 * The clients of all languages against the running service: calls, and retries over an unreliable
 * network.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { fastify } from 'fastify';
import { expect } from 'chai';
import { createClient, type Client, type Order } from '../../packages/client-node/src/client.js';
import {
  fastifyWebhooks,
  webhookReceiver,
  type WebhookEvent,
} from '../../packages/client-node/src/webhooks.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { findNoonZone } from '../support/noon-zone.js';
import { startStack, type SeededAccount, type Stack } from '../support/stack.js';
import { startFaultyNetwork, listen, type NetworkFault } from './support/faulty-network.js';
import { collectAll, languages, type Command, type Driver, type Result } from './support/drivers.js';
import { describeWith } from '../support/require-tool.js';

const order = (): Order => ({ code: 'S10', customer_number: '081234561230', ref_id: uniqueRef('client') });

describe('clients', () => {
  let stack: Stack;
  let accounts: Record<string, SeededAccount>;
  let client: Client;
  /** The price of product S10. */
  let price: number;

  before(async () => {
    stack = await startStack({
      workers: ['fulfilment', 'follow-up', 'webhooks', 'sellers', 'reports'],
      env: { BUSINESS_TIMEZONE: findNoonZone() },
    });
    accounts = await stack.seed();
    client = createClient({ baseUrl: stack.baseUrl, apiKey: accounts['buyer']?.api_key ?? '' });
    price = (await client.call('getBuyerPriceList')).find(({ code }) => code === 'S10')?.price ?? 0;
  });
  after(() => stack.stop());

  it('packages/client-node: from a deposit to verified webhooks in Express and Fastify', async () => {
    const received: Record<string, WebhookEvent[]> = { express: [], fastify: [] };
    const { webhook_secret: secret } = await client.call('getBuyerConfig');
    const app = express();
    const shop = app.listen(0, '127.0.0.1');
    const books = fastify();
    await once(shop, 'listening');
    try {
      const onEvent = (event: WebhookEvent) => void received['express']?.push(event);
      app.post('/hooks', webhookReceiver({ secret, onEvent }));
      const shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/hooks`;
      await client.call('updateBuyerConfig', { body: { webhook_url: shopUrl } });
      // The endpoint's URL contains the port, and the secret exists only after the endpoint. So
      // choose the port first.
      const port = await freePort();
      const endpoint = await client.call('createBuyerEndpoint', {
        body: { url: `http://127.0.0.1:${port}/hooks`, events: ['transaction.success'] },
      });
      await books.register(
        fastifyWebhooks({
          path: '/hooks',
          secret: endpoint.secret,
          onEvent: (event) => void received['fastify']?.push(event),
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
        await eventually(`the webhook arrives at ${receiver}`, () =>
          Promise.resolve(
            (received[receiver] ?? []).some(
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

  it('packages/client-node: reads every list to its end with any page size', async () => {
    const as = (name: string) =>
      createClient({ baseUrl: stack.baseUrl, apiKey: accounts[name]?.api_key ?? '' });
    const [buyer, seller] = [as('buyer2'), as('seller2')];
    await seller.call('updateSellerConfig', { body: { webhook_url: `${stack.inbox.url}/sales` } });
    await buyer.call('updateBuyerConfig', { body: { webhook_url: `${stack.inbox.url}/lists` } });
    const refsOf = (found: { ref_id: string | null }[]) => found.map((each) => each.ref_id);
    const idsOf = (found: { id: string }[]) => found.map((each) => each.id);

    const [deposits, purchases] = [threeRefs(), threeRefs()];
    for (const ref of deposits) {
      await buyer.deposit({ amount: 200_000, ref_id: ref });
    }
    for (const ref of purchases) {
      await buyer.buy({ code: 'PLN100', customer_number: '12345671230', ref_id: ref });
      expect(await buyer.waitForResult(ref, { everyMs: 100 })).to.include({ status: 'success' });
    }
    expect(refsOf(await collectAll(buyer.deposits({ limit: 2 })))).to.deep.equal(deposits.toReversed());
    expect(refsOf(await collectAll(buyer.deposits({ limit: 1, ref_id: deposits[1] ?? '' })))).to.deep.equal([
      deposits[1],
    ]);
    expect(refsOf(await collectAll(buyer.transactions({ limit: 2 })))).to.deep.equal(purchases.toReversed());
    const moved = await collectAll(buyer.statement({ limit: 2 }));
    expect(moved.length).to.equal(deposits.length + purchases.length);
    const lines = await buyer.download('getBuyerStatement', { query: { format: 'csv-excel' } });
    expect(lines.toString().trim().split('\r\n').length).to.equal(1 + moved.length);
    const receipt = await buyer.download('getReceipt', { path: { ref: purchases[0] ?? '' } });
    expect(receipt.subarray(0, 5).toString()).to.equal('%PDF-');
    expect(moved.at(-1)?.balance).to.equal((await buyer.call('getBuyerBalance')).balance);

    const sales = await collectAll(seller.seller.transactions({ limit: 2 }));
    expect(sales.filter(({ code }) => code === 'PLN100').length).to.equal(purchases.length);
    await eventually(
      'the wallet has the sales',
      async () => (await seller.call('getSellerBalance')).balance >= 3 * 50_000,
    );
    const withdrawals = threeRefs();
    for (const ref of withdrawals) {
      const bankAccount = { bank_code: 'BCA', account_number: '1234567890', account_name: 'Toko Maju' };
      await seller.call('requestSettlement', {
        body: { amount: 50_000, ref_id: ref, bank_account: bankAccount },
      });
    }
    expect(refsOf(await collectAll(seller.seller.settlements({ limit: 2 })))).to.deep.equal(
      withdrawals.toReversed(),
    );
    const earned = await collectAll(seller.seller.statement({ limit: 1 }));
    expect(earned.filter(({ amount }) => amount === -50_000).length).to.equal(withdrawals.length);
    for (const [index, { amount, balance }] of earned.entries()) {
      expect(balance - amount).to.equal(earned[index - 1]?.balance ?? 0);
    }

    for (let sent = 0; sent < 3; sent++) {
      await seller.call('testSellerWebhook');
    }
    const listed = await seller.call('listSellerDeliveries', { query: { limit: 100 } });
    expect(idsOf(await collectAll(seller.seller.deliveries({ limit: 2 })))).to.include.members(
      idsOf(listed.deliveries),
    );
    // New rows move older rows to later pages. No row may be returned twice.
    const before = (await buyer.call('listBuyerDeliveries', { query: { limit: 100 } })).deliveries;
    const read: string[] = [];
    for await (const { id } of buyer.deliveries({ limit: 2 })) {
      read.push(id);
      if (read.length === 1) {
        await buyer.call('testBuyerWebhook');
      }
    }
    expect(before.length).to.be.above(3);
    expect(read).to.include.members(idsOf(before));
    expect(new Set(read).size).to.equal(read.length);

    for (const each of [
      {
        first: () => buyer.call('listBuyerRequests', { query: { limit: 100 } }),
        pages: () => collectAll(buyer.requests({ limit: 2 })),
      },
      {
        first: () => seller.call('listSellerRequests', { query: { limit: 100 } }),
        pages: () => collectAll(seller.seller.requests({ limit: 2 })),
      },
    ]) {
      const known = await eventually('the log has the calls', async () => {
        const { requests } = await each.first();
        return requests.length > 4 ? requests : null;
      });
      expect(idsOf(await each.pages())).to.include.members(idsOf(known));
    }
    await buyer.call('updateBuyerConfig', { body: { webhook_url: null } });
    await seller.call('updateSellerConfig', { body: { webhook_url: null } });
  });

  for (const language of languages) {
    describeWith(language.needs, language.name, () => {
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
      /**
       * Runs a command over a network that applies these faults. Returns the result, the number of
       * calls and the number of distinct bodies.
       */
      const through = async (fates: NetworkFault[], command: Command) => {
        const bad = await startFaultyNetwork(stack.baseUrl, fates);
        try {
          const result = await play(command, bad.url);
          return { result, calls: bad.seen.length, different: new Set(bad.seen).size };
        } finally {
          bad.close();
        }
      };

      it('downloads a report in every format despite lost responses and proxy pages', async () => {
        for (const format of ['json', 'csv', 'csv-excel', 'xlsx'] as const) {
          const made = await client.call('createBuyerReport', { body: { type: 'transaction', format } });
          const direct = await fetch('download_url' in made ? made.download_url : '');
          const { result, calls } = await through(
            ['lost', 'proxy page', 'success without data', 'answered'],
            {
              do: 'download',
              with: { id: made.report_id },
            },
          );
          const wanted = Buffer.from(await direct.arrayBuffer()).toString('base64');
          expect(result, format).to.deep.equal({ ok: wanted });
          expect(calls, format).to.equal(4);
        }
        const { result } = await through(['answered'], { do: 'download', with: { id: 'none' } });
        expect(result).to.include({ error: 'refused', httpStatus: 404 });
      });

      it('buys once despite lost responses and proxy pages', async () => {
        await fund();
        const before = await balance();
        const wanted = order();
        const { result, calls, different } = await through(['lost', 'proxy page', 'busy', 'answered'], {
          do: 'buy',
          with: wanted,
        });
        expect(result).to.have.nested.property('ok.ref_id', wanted.ref_id);
        expect({ calls, different }).to.deep.equal({ calls: 4, different: 1 });
        expect(before - (await balance()), 'debited amount').to.equal(price);
      });

      it('trusts no refusal after a lost response, because the purchase may exist', async () => {
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
        // A read has no effect, so the client reports this refusal and not an unknown outcome.
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
        expect(before - (await balance()), 'amount of three debits').to.equal(3 * price);
      });

      it('repeats no call without a ref_id, and reports an unknown outcome', async () => {
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

      it("does not repeat a call that may run only once after a proxy's error", async () => {
        const asked = await through(["another's busy"], {
          do: 'createEndpoint' as const,
          with: { url: 'https://shop.example/hooks' },
        });
        expect(asked).to.deep.include({ result: { error: 'unknown', refId: null }, calls: 1 });
      });

      it('a response that the service did not send leaves the outcome unknown', async () => {
        await fund();
        const strange = [
          ...(['refusal as a success', 'success without data', 'success of nothing'] as const),
          ...(["another's refusal", "another's error", "another's busy", "another's code"] as const),
        ];
        for (const fate of strange) {
          const before = await balance();
          const wanted = order();
          const bought = await through([fate], { do: 'buy', with: wanted });
          expect(bought, fate).to.deep.include({
            result: { error: 'unknown', refId: wanted.ref_id },
            calls: 4,
            different: 1,
          });
          const again = await through([fate, 'answered'], { do: 'buy', with: wanted });
          expect(again.result, fate).to.have.nested.property('ok.ref_id', wanted.ref_id);
          expect(before - (await balance()), `debited amount, ${fate}`).to.equal(price);

          const read = await through([fate], { do: 'balance' });
          expect(read, fate).to.deep.include({ result: { error: 'unknown', refId: null }, calls: 4 });
          const endpoint = { url: 'https://shop.example/hooks' };
          const created = await through([fate], { do: 'createEndpoint', with: endpoint });
          expect(created, fate).to.deep.include({ result: { error: 'unknown', refId: null }, calls: 1 });
        }
        for (const fate of strange) {
          const read = await through([fate], { do: 'resellerBalance' });
          expect(read.result, fate).to.deep.equal({ error: 'unknown', refId: null });
        }
      });

      it('refuses a ref_id that would change the path', async () => {
        for (const ref of ['.', '..', 'lookup']) {
          const wanted = { ...order(), ref_id: ref };
          const commands: Command[] = [
            { do: 'buy', with: wanted },
            { do: 'deposit', with: { amount: 10_000, ref_id: ref } },
            { do: 'waitForResult', with: { ref_id: ref } },
            { do: 'resellerRequest', with: { code: 'S10', customer: '081234561230', ref_id: ref } },
          ];
          for (const command of commands) {
            const { result, calls } = await through(['answered'], command);
            expect(calls, `${command.do} ${ref}`).to.equal(0);
            expect(result, `${command.do} ${ref}`).to.include({ error: 'usage' });
            expect(result).to.have.property('message').that.includes(`cannot be "${ref}"`);
          }
        }
        const { result } = await through(['silent'], {
          do: 'resellerRequest',
          with: { code: 'S10', customer: '081234561230', ref_id: '' },
        });
        expect(result).to.include({ error: 'usage' });
      });

      it('a refusal is an error with its reason and is not repeated', async () => {
        const { result, calls } = await through(['answered'], {
          do: 'buy',
          with: { ...order(), max_price: 1 },
        });
        expect(result).to.deep.equal({
          error: 'refused',
          httpStatus: 409,
          code: '01',
          reason: 'price_above_max',
        });
        expect(calls).to.equal(1);
        for (const amount of [50_000.5, '50000']) {
          const wrong = await play({ do: 'deposit', with: { amount, ref_id: uniqueRef('client') } });
          expect(wrong).to.have.property('error').that.is.oneOf(['usage', 'refused']);
        }
      });

      it('iterates over every transaction and movement despite clock skew and new rows', async () => {
        await fund();
        const refs = [order(), order(), order()].map((each) => each.ref_id);
        for (const ref of refs) {
          await done({ do: 'buy', with: { ...order(), ref_id: ref } });
        }
        const purchases = stack.db.collection('transactions');
        const setNewest = (createdAt: Date) =>
          purchases.updateOne({ refId: refs.at(-1) }, { $set: { createdAt } });
        const network = await startFaultyNetwork(stack.baseUrl, ['answered'], async (body) => {
          if ((JSON.parse(body) as { page: number }).page === 2) {
            await client.buy(order());
          }
        });
        try {
          // Simulate a client whose clock is ten minutes behind that of the service.
          await setNewest(new Date(Date.now() + 600_000));
          const command = { do: 'transactions', with: { limit: 2 }, url: network.url } as const;
          const found = (await done(command)) as string[];
          expect(found.slice(0, 3)).to.deep.equal(refs.toReversed());
          expect(new Set(found).size).to.equal(found.length);
        } finally {
          network.close();
          await setNewest(new Date());
        }
        const movements = (await done({ do: 'statement' })) as number[];
        expect(movements.at(-1)).to.equal(await done({ do: 'balance' }));
      });

      it('signs reseller calls, buys once and repeats the same call', async () => {
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
          status: '07',
          reason: 'invalid_sign',
        });
        const list = await done({ do: 'resellerPriceList', with: { operator: 'Telkomsel' } });
        expect((list as { data: unknown[] }).data.length).to.be.greaterThan(0);
      });
    });
  }
});

const threeRefs = () => [uniqueRef('lists'), uniqueRef('lists'), uniqueRef('lists')];

/** Returns a port that was free a moment ago. */
async function freePort(): Promise<number> {
  const { server, url } = await listen(() => undefined);
  await new Promise((resolve) => server.close(resolve));
  return Number(new URL(url).port);
}
