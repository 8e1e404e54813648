/** Sums of a filtered purchase list, and its CSV export. */
import { expect } from 'chai';
import { newId } from '../../src/shared/ids.js';
import { consoleClient } from '../support/console-client.js';
import { uniqueRef } from '../support/api-client.js';
import { callerAs, type Caller } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';

interface Row {
  id: string;
  ref_id: string;
  price: number;
  status: string;
}

interface Sums {
  count: number;
  by_status: { status: string; count: number; amount: number }[];
  commission: number;
  looked_back_to: string | null;
}

describe('filtered purchases in the console', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let caller: Caller;

  before(async () => {
    shop = await startOperatedStack();
    caller = await callerAs(shop, 'viewer');
    for (let n = 0; n < 3; n++) {
      await shop.buySuccessfully();
    }
    await shop.buyUnderReview();
  });
  after(() => shop.stack.stop());

  const listed = async (filter: string): Promise<Row[]> =>
    (await caller.ask('listPurchases', `/purchases?limit=100&${filter}`)).purchases;
  const summed = (filter: string): Promise<Sums> =>
    caller.ask('getPurchaseSums', `/purchases/sums?${filter}`);

  /** Computes the expected sums from the rows. */
  function byStatusOf(rows: Row[]): Sums['by_status'] {
    const order = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED', 'REFUNDED'];
    return order
      .map((status) => ({ status, rows: rows.filter((each) => each.status === status) }))
      .filter((each) => each.rows.length > 0)
      .map((each) => ({
        status: each.status,
        count: each.rows.length,
        amount: each.rows.reduce((sum, { price }) => sum + price, 0),
      }));
  }

  it('are summed to the rupiah, from totals or from rows', async () => {
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Jakarta' }).format(new Date());
    const transactions = shop.stack.db.collection('transactions');
    const succeeded = await transactions.find({ status: 'SUCCESS' }).toArray();
    const commission = succeeded.reduce((sum, each) => sum + Number(each['commissionAmount'] ?? 0), 0);
    for (const filter of [
      '',
      'account=buyer',
      'account=buyer&status=SUCCESS',
      'account=buyer&status=REFUNDED',
      `account=buyer&from=${day}&to=${day}`,
      'account=buyer&to=2025-12-31',
      'seller=seller',
      'account=buyer&seller=seller',
      'product=S10',
      `from=${day}`,
    ]) {
      const rows = await listed(filter);
      const sums = await summed(filter);
      expect(sums.by_status, filter).to.deep.equal(byStatusOf(rows));
      expect(sums, filter).to.include({ count: rows.length, looked_back_to: null });
      const isOfAll = rows.filter(({ status }) => status === 'SUCCESS').length === succeeded.length;
      expect(sums.commission, filter).to.equal(isOfAll ? commission : 0);
    }
    expect((await summed('account=buyer&status=SUCCESS')).count).to.be.at.least(3);
    expect((await caller.call('/purchases/sums?account=nobody')).status).to.equal(404);
  });

  it('are found by price, both bounds included; an invalid price is refused', async () => {
    const transactions = shop.stack.db.collection<{ _id: string; price: number }>('transactions');
    const [pattern] = await transactions.find().sort({ _id: -1 }).limit(1).toArray();
    const productCode = uniqueRef('P');
    const prices = [999, 1_000, 1_500, 2_000, 2_001];
    await transactions.insertMany(
      prices.map((price) => ({ ...pattern, _id: newId(), refId: uniqueRef(), productCode, price })),
    );
    try {
      const filter = `product=${productCode}&price_from=1000&price_to=2000`;
      const pricesOf = (rows: Row[]) => rows.map(({ price }) => price).sort((a, b) => a - b);
      expect(pricesOf(await listed(filter))).to.deep.equal([1_000, 1_500, 2_000]);
      expect((await summed(filter)).by_status.reduce((sum, { amount }) => sum + amount, 0)).to.equal(4_500);
      expect(pricesOf(await listed(`account=buyer&price_to=999`))).to.deep.equal([999]);
    } finally {
      await transactions.deleteMany({ productCode });
    }
    for (const wrong of ['price_from=-1', 'price_to=x', 'price_from=1.5']) {
      const answer = await caller.call(`/purchases?${wrong}`);
      expect(answer.status, wrong).to.equal(400);
      expect(answer.text).to.include(wrong.slice(0, wrong.indexOf('=')));
    }
  });

  it('sums of too many rows state how far back they go', async () => {
    const transactions = shop.stack.db.collection<{ _id: string }>('transactions');
    const [pattern] = await transactions.find().sort({ _id: -1 }).limit(1).toArray();
    const startMs = Date.UTC(2026, 0, 1);
    await transactions.insertMany(
      Array.from({ length: 5_001 }, (_, n) => ({
        ...pattern,
        _id: (startMs + n).toString(16).padStart(12, '0').padEnd(32, '7'),
        refId: `many-${n}`,
        createdAt: new Date(startMs + n),
      })),
    );
    try {
      const sums = await summed('product=S10');
      expect(sums.looked_back_to).to.match(/^2026-01-01/);
      expect(sums.count).to.equal(5_000);
    } finally {
      await transactions.deleteMany({ refId: /^many-/ });
    }
  });

  it('are exported as CSV with all matching rows, only after login', async () => {
    const rows = await listed('account=buyer&status=SUCCESS');
    const csv = await caller.client.get('/admin/purchases.csv?account=buyer&status=SUCCESS', {
      accept: '*/*',
    });
    expect(csv.headers['content-type']).to.match(/^text\/csv/);
    const [head, ...lines] = csv.text.trim().split('\r\n');
    expect(head).to.include('ref_id,product_code,product_name,customer_number,price,status');
    expect(lines).to.have.length(rows.length);
    rows.forEach(({ id, price }, at) => {
      expect(lines[at]).to.include(`=""${id}""`).and.to.include(`,${price},`);
    });
    const wrong = await caller.client.get('/admin/purchases.csv?account=nobody', { accept: '*/*' });
    expect(wrong.status).to.equal(404);
    const stranger = consoleClient(shop.stack.baseUrl, '198.51.100.9');
    const refused = await stranger.get('/admin/purchases.csv', { accept: '*/*' });
    expect(refused.status).to.be.oneOf([302, 303, 401]);
    expect(refused.text).to.not.include('customer_number');
  });
});
