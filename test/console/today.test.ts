/** What the page of today says of the days before it. What it says of today: money.test.ts. */
import { expect } from 'chai';
import { firstIdAt } from '../../src/shared/ids.js';
import { callerAs } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack, type StoredPurchase } from './support/operated-stack.js';

describe('today beside the days before', function () {
  this.timeout(90_000);
  let shop: OperatedStack;

  before(async () => {
    shop = await startOperatedStack();
  });
  after(() => shop.stack.stop());

  it('time to final of the 24 hours before, suspense at the last close, and every day of 30 with all its outcomes', async () => {
    const sold = await shop.purchaseOf(await shop.sold());
    const created = new Date(Date.now() - 30 * 3_600_000);
    const before = {
      ...sold,
      ...{ _id: `${firstIdAt(created.getTime()).slice(0, 12)}7000800000000001`, refId: 'of yesterday' },
      ...{ createdAt: created, finalAt: new Date(created.getTime() + 7_000) },
    };
    await shop.stack.db.collection<StoredPurchase>('transactions').insertOne(before as StoredPurchase);
    const closes = shop.stack.db.collection<{ _id: string }>('dayCloses');
    const close = { state: 'closed', content: { totals: { 'platform:suspense': 70_000 } } };
    await closes.insertOne({ _id: '2999-01-31', ...close });
    const caller = await callerAs(shop, 'viewer');
    const { today, latency, suspense, days } = await caller.ask('getToday', '/today');
    expect(latency.before).to.deep.equal({ sampled: 1, median_s: 7, p95_s: 7 });
    expect(suspense.closed).to.deep.equal({ day: '2999-01-31', amount: 70_000 });
    expect(days).to.have.length(30);
    const { day, ...figures } = days.at(-1);
    expect(day).to.match(/^\d{4}-\d\d-\d\d$/);
    expect(figures).to.deep.equal(today);
    expect(figures.success).to.equal(1);
  });
});
