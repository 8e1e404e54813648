/**
 * Product lists with the maximum number of products per seller, in one process. Tests their effect
 * on other requests and their cache invalidation.
 */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { request } from 'undici';
import { limits } from '../../../config/limits.js';
import { announceChange } from '../../support/announce-change.js';
import { watchMemory } from '../../support/memory-watch.js';
import { startStack, type SeededAccount, type Stack } from '../../support/stack.js';
import { startStatementTap, type StatementTap } from '../../support/statement-tap.js';
import { md5Sign, pathOf } from '../support/reseller.js';
import { sendCall } from '../support/api.js';

const atOnce = 30;

interface ListedProduct {
  code: string;
  price: number;
  status: string;
}

describe('lists of 20,000 products', function () {
  this.timeout(180_000);
  let stack: Stack;
  let tap: StatementTap;
  let web: { url: string; pid: number };
  let keys: Record<string, SeededAccount>;
  let sellerId: string;
  const codeOf = (n: number) => `ZZ${String(n).padStart(5, '0')}`;

  before(async () => {
    tap = await startStatementTap(process.env['MONGODB_URI'] ?? '');
    stack = await startStack({ env: { MONGODB_URI: tap.uri } });
    keys = await stack.seed();
    const seller = await stack.db.collection('accounts').findOne({ username: 'seller' });
    const rows = Array.from({ length: limits.productsPerSellerMax }, (_, n) => codeOf(n));
    sellerId = String(seller?._id);
    // Remove the seeded products, so that the count is exact.
    await stack.db.collection('products').deleteMany({});
    await stack.db.collection('offers').deleteMany({});
    await insert(rows, 'pulsa');
    // Limit the heap, so that uncollected garbage does not distort the measured memory.
    web = await stack.startWeb({ NODE_OPTIONS: '--max-old-space-size=256' });
  });
  after(async () => {
    await stack.stop();
    await tap.stop();
  });

  async function insert(codes: string[], subcategory: string): Promise<void> {
    const at = { createdAt: new Date(), updatedAt: new Date() };
    await stack.db.collection<{ _id: string }>('products').insertMany(
      codes.map((_id) => ({
        _id,
        sellerId,
        name: 'n'.repeat(100),
        category: 'prabayar',
        subcategory,
        operator: 'Telkomsel',
        status: 'active',
        description: 'd'.repeat(500),
        customerNumber: { kind: 'any' },
        cutOff: null,
        ...at,
      })),
    );
    await stack.db.collection<{ _id: string }>('offers').insertMany(
      codes.map((productCode, n) => ({
        _id: `${productCode}:${sellerId}`,
        productCode,
        sellerId,
        price: 10_000 + n,
        status: 'active',
        ...at,
      })),
    );
  }
  const keyOf = (username: string) => keys[username]?.api_key ?? '';
  const calls = () => {
    const signed = { username: 'buyer', key: keyOf('buyer') };
    return [
      { path: '/v1/products', key: keyOf('buyer') },
      { path: '/api/buyer/price-list', key: keyOf('buyer'), body: {} },
      { path: pathOf('price-list', { username: 'buyer', sign: md5Sign(signed, 'pricelist') }) },
      { path: '/api/seller/products', key: keyOf('seller') },
    ];
  };
  /**
   * Returns the hash of a response body. Keeping the bodies themselves would take hundreds of
   * megabytes.
   */
  async function hashOf({ path, key, body }: { path: string; key?: string; body?: object }, url = web.url) {
    const response = await request(url + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body ? JSON.stringify(body) : null,
    });
    expect(response.statusCode).to.equal(200);
    const hash = createHash('sha256');
    for await (const chunk of response.body) {
      hash.update(chunk as Buffer);
    }
    return hash.digest('hex');
  }

  const readsSince = (before: number) =>
    tap.sent.slice(before).filter(({ name, collection }) => name === 'find' && collection === 'products')
      .length;

  it('30 concurrent equal lists share one read, use bounded memory and do not block', async () => {
    const aloneAt = performance.now();
    await hashOf({ path: '/v1/products', key: keyOf('buyer') }, stack.baseUrl);
    const oneListMs = performance.now() - aloneAt;
    for (const call of calls()) {
      const { hashes, reads, peakMb, longestWaitMs } = await thirtyAtOnce(call);
      expect(new Set(hashes).size).to.equal(1);
      const answer = await sendCall(web.url, call);
      const rows = answer.body.data as ListedProduct[];
      expect(rows.map(({ code, price, status }) => ({ code, price, status }))).to.deep.equal(
        Array.from({ length: limits.productsPerSellerMax }, (_, n) => ({
          code: codeOf(n),
          price: 10_000 + n,
          status: 'active',
        })),
      );
      expect(reads).to.be.at.most(limits.productsPerSellerMax / 500 + 1);
      expect(peakMb).to.be.below(512);
      expect(longestWaitMs).to.be.below(oneListMs);
    }
  });

  async function thirtyAtOnce(call: { path: string; key?: string; body?: object }) {
    const memory = await watchMemory(web.pid);
    const before = tap.sent.length;
    let isOver = false;
    let longestWaitMs = 0;
    const others = (async () => {
      while (!isOver) {
        const askedAt = performance.now();
        await (await request(`${web.url}/healthz`)).body.dump();
        longestWaitMs = Math.max(longestWaitMs, performance.now() - askedAt);
      }
    })();
    const hashes = await Promise.all(Array.from({ length: atOnce }, () => hashOf(call)));
    isOver = true;
    await others;
    memory.stop();
    return { hashes, reads: readsSince(before), peakMb: memory.peak(), longestWaitMs };
  }

  it('the next list has a change of another process and reloads only few chunks', async () => {
    const seen = async () =>
      Promise.all(
        calls().map(async (call) => {
          const { body } = await sendCall(web.url, call);
          return new Map((body.data as ListedProduct[]).map((each) => [each.code, each]));
        }),
      );
    await seen();
    const put = async (code: string, body: object) => {
      const path = `/api/seller/products/${code}`;
      const answer = await sendCall(stack.baseUrl, { method: 'PUT', path, key: keyOf('seller'), body });
      expect(answer.status).to.equal(200);
    };
    const counts: number[] = [];
    // A process that was delayed for a second invalidates its whole cache and reads everything
    // again. Only a later change then reads two chunks.
    for (let price = 7_001; price < 7_011 && counts.at(-1) !== 2; price++) {
      await put(codeOf(12_345), { price });
      const before = tap.sent.length;
      expect((await seen()).map((list) => list.get(codeOf(12_345))?.price)).to.deep.equal(
        Array(4).fill(price),
      );
      counts.push(readsSince(before));
    }
    // One chunk belongs to the catalogue and one to the seller's list.
    expect(counts.at(-1), counts.join()).to.equal(2);
    await put(codeOf(0), { status: 'maintenance' });
    expect((await seen()).map((list) => list.get(codeOf(0))?.status)).to.deep.equal(
      Array(4).fill('maintenance'),
    );
    await put(codeOf(0), { status: 'inactive' });
    expect((await seen()).map((list) => list.get(codeOf(0))?.status)).to.deep.equal([
      ...Array(3).fill(undefined),
      'inactive',
    ]);
    const made = await sendCall(stack.baseUrl, {
      path: `/api/seller/products/${codeOf(1)}/offers`,
      key: keyOf('seller2'),
      body: { price: 5_000 },
    });
    expect(made.status).to.equal(200);
    expect((await seen()).map((list) => list.get(codeOf(1))?.price)).to.deep.equal([
      5_000, 5_000, 5_000, 10_001,
    ]);
  });

  it('a filter finds products beyond the first 20,000 of a large catalogue', async () => {
    const codes = ['ZZZ1', 'ZZZ2', 'ZZZ3'];
    await insert(codes, 'data');
    await announceChange(stack);
    const found = async (query: string) => {
      const { body } = await sendCall(web.url, { path: `/v1/products?${query}`, key: keyOf('buyer') });
      return (body.data as ListedProduct[]).map(({ code }) => code);
    };
    expect(await found('subcategory=data')).to.deep.equal(codes);
    expect(await found('category=data&operator=Telkomsel&status=active')).to.deep.equal(codes);
    // `subcategory` has priority over `category`.
    expect(await found('category=pulsa&subcategory=data')).to.deep.equal(codes);
    expect(await found('category=pascabayar')).to.deep.equal([]);
    const first = await found('operator=Telkomsel');
    expect(first.length).to.be.at.most(limits.productsPerSellerMax);
    expect(first).to.not.include('ZZZ3');
  });
});
