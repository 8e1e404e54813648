/**
 * A change of a price, status, offer or provider applies to the next call in every process. Tested
 * with two web processes.
 */
import { expect } from 'chai';
import { newBuyer, addProduct, pointSeller, waitUntilFinal, purchase } from '../providers/provider-stack.js';
import { sendJson, startPlayServer, type PlayServer } from '../providers/play-server.js';
import { startDigiflazzServer, type DigiflazzServer } from '../providers/digiflazz-server.js';
import { sendCall } from '../api/support/api.js';
import { apiClient, uniqueRef, type ApiClient } from '../support/api-client.js';
import { forkTestProgram } from '../support/fork-test-program.js';
import { startStack, type SeededAccount, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';

describe('changes effective for the next call in every process', function () {
  this.timeout(120_000);
  let stack: Stack;
  let otherUrl: string;
  let seeded: Record<string, SeededAccount>;
  let buyer: ApiClient;
  let sellerId: string;
  let code: string;

  before(async () => {
    stack = await startStack({ workers: ['fulfilment', 'follow-up', 'sellers'] });
    seeded = await stack.seed();
    otherUrl = (await stack.startWeb()).url;
    await newBuyer(stack, keyOf('buyer'));
    buyer = apiClient(otherUrl, keyOf('buyer'));
    sellerId = String((await stack.db.collection('accounts').findOne({ username: 'seller' }))?._id);
  });
  after(() => stack.stop());
  beforeEach(async () => {
    code = await addProduct(stack, [{ sellerId, price: 10_000 }]);
  });

  const keyOf = (username: string) => seeded[username]?.api_key ?? '';
  const buy = () =>
    buyer.post('/v1/transactions', { product_code: code, destination: '081234561230', ref_id: uniqueRef() });
  /**
   * Buys in the other process. Returns the price, or the status code if the purchase is refused.
   */
  const priceThere = async () => {
    const answer = await buy();
    return answer.status === 201 ? (answer.body.data.price as number) : answer.status;
  };
  const sell = async (method: 'POST' | 'PUT', path: string, body: object) => {
    const answer = await sendCall(stack.baseUrl, { method, path, key: keyOf('seller'), body });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
  };
  const operate = async (...args: string[]) => {
    const result = await topup([...args, '--reason', 'a test', '--json'], stack.env);
    expect(result.code, result.stderr).to.equal(0);
    return result;
  };

  it("a seller's price, set by offer and by product, repeatedly", async () => {
    expect(await priceThere()).to.equal(10_000);
    for (let price = 10_001; price <= 10_020; price++) {
      await sell('POST', `/api/seller/products/${code}/offers`, { price });
      expect(await priceThere()).to.equal(price);
    }
    for (let price = 10_100; price <= 10_120; price++) {
      await sell('PUT', `/api/seller/products/${code}`, { price });
      expect(await priceThere()).to.equal(price);
    }
  });

  it('the status of a product and of an offer', async () => {
    expect(await priceThere()).to.equal(10_000);
    await sell('PUT', `/api/seller/products/${code}`, { status: 'maintenance' });
    expect(await priceThere()).to.equal(503);
    await sell('PUT', `/api/seller/products/${code}`, { status: 'active' });
    expect(await priceThere()).to.equal(10_000);
    await sell('POST', `/api/seller/products/${code}/offers`, { price: 10_000, status: 'inactive' });
    expect(await priceThere()).to.equal(404);
  });

  it('a new product', async () => {
    const before = code;
    code = `N${before}`;
    expect(await priceThere()).to.equal(404);
    const product = { code, name: 'new', category: 'prabayar', subcategory: 'voucher', price: 7_000 };
    const made = await sendCall(stack.baseUrl, {
      path: '/api/seller/products',
      key: keyOf('seller'),
      body: product,
    });
    expect(made.status).to.equal(201);
    expect(await priceThere()).to.equal(7_000);
  });

  it('pausing and resuming a provider, suspending and resuming a seller', async () => {
    for (const [stop, start] of [
      [
        ['provider', 'pause'],
        ['provider', 'resume'],
      ],
      [
        ['account', 'suspend'],
        ['account', 'resume'],
      ],
    ] as const) {
      expect(await priceThere()).to.equal(10_000);
      await operate(...stop, 'seller');
      expect(await priceThere()).to.equal(503);
      await operate(...start, 'seller');
      expect(await priceThere()).to.equal(10_000);
    }
  });

  it("an account's suspension, key, allowlist and rate limit", async () => {
    const call = (key: string) => sendCall(otherUrl, { path: '/v1/wallet/balance', key });
    const config = async (key: string, body: object) => {
      const from = '203.0.113.7';
      const answer = await sendCall(stack.baseUrl, { path: '/api/buyer/api/config', key, body, from });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    };
    let key = keyOf('buyer2');
    expect((await call(key)).status).to.equal(200);
    await operate('account', 'suspend', 'buyer2');
    expect((await call(key)).status).to.equal(403);
    await operate('account', 'resume', 'buyer2');
    expect((await call(key)).status).to.equal(200);

    await config(key, { rate_limit: 777 });
    expect((await call(key)).headers['ratelimit-limit']).to.equal('777');
    for (let n = 0; n < 5; n++) {
      const path = '/api/buyer/api/keys/rotate';
      const rotated = await sendCall(stack.baseUrl, { path, key, body: { overlap_minutes: 0 } });
      expect((await call(key)).status).to.equal(401);
      key = rotated.body.data.api_key as string;
      expect((await call(key)).status).to.equal(200);
    }
    const last = await operate('key', 'rotate', 'buyer2', '--overlap', '0');
    expect((await call(key)).status).to.equal(401);
    expect((await call(last.json<{ api_key: string }>().api_key)).status).to.equal(200);
  });

  describe('the connection of a provider', () => {
    const played: PlayServer[] = [];
    let digiflazz: DigiflazzServer | null = null;
    after(async () => {
      await Promise.all(played.map((each) => each.stop()));
      await digiflazz?.stop();
    });

    it('its address: the next order goes to the new one', async () => {
      const sold = { status: '00', transaction_status: 'success', sn: 'SN1', message: 'ok' };
      const open = () => startPlayServer((_call, response) => sendJson(response, 200, sold));
      played.push(await open(), await open());
      const [first, second] = played;
      await pointSeller(stack, 'seller2', {
        kind: 'h2h',
        baseUrl: first?.url ?? '',
        username: 'us',
        secret: 'secret',
      });
      const seller2 = await stack.db.collection('accounts').findOne({ username: 'seller2' });
      const product = await addProduct(stack, [{ sellerId: String(seller2?._id), price: 9_000 }]);
      await waitUntilFinal(stack, await purchase(buyer, product, '081234567890'));
      expect(ordersAt(first)).to.equal(1);
      await operate('provider', 'pause', 'seller2');
      await operate('provider', 'set', 'seller2', '--url', second?.url ?? '');
      await operate('provider', 'resume', 'seller2');
      await waitUntilFinal(stack, await purchase(buyer, product, '081234567890'));
      expect([ordersAt(first), ordersAt(second)]).to.deep.equal([1, 1]);
    });

    it('its price list: a removed product is not sold', async () => {
      digiflazz = await startDigiflazzServer();
      await pointSeller(stack, 'seller3', {
        kind: 'digiflazz',
        baseUrl: digiflazz.url,
        username: digiflazz.username,
        secret: digiflazz.apiKey,
      });
      const seller3 = await stack.db.collection('accounts').findOne({ username: 'seller3' });
      code = await addProduct(stack, [{ sellerId: String(seller3?._id), price: 9_000 }]);
      expect(await priceThere()).to.equal(9_000);
      await new Promise<void>((resolve, reject) => {
        const child = forkTestProgram('test/redis/sync-process', {
          ...stack.env,
          SELLER_ID: String(seller3?._id),
        });
        child.once('exit', (exit) =>
          exit === 0 ? resolve() : reject(new Error(`ended with ${String(exit)}`)),
        );
      });
      expect(await priceThere()).to.equal(503);
    });
  });
});

function ordersAt(server: PlayServer | undefined): number {
  return server?.calls.filter(({ url }) => url.pathname === '/request').length ?? 0;
}
