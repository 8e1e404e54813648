/** Figures of earlier days on the page of today. money.long.test.ts covers the current day. */
import { expect } from 'chai';
import { sampleId } from '../../src/samples/sample.model.js';
import { callerAs } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';

describe('earlier days on the page of today', function () {
  this.timeout(90_000);
  let shop: OperatedStack;

  before(async () => {
    shop = await startOperatedStack();
  });
  after(() => shop.stack.stop());

  it('shows latency of the day before, the last closing suspense and 30 days', async () => {
    await shop.sold();
    const hourOf = (backMs: number) => sampleId('purchases', Date.now() - backMs);
    const took = (slots: Record<string, Record<string, number>>) => ({ from: new Date(), slots });
    await shop.stack.db.collection<{ _id: string }>('samples').insertMany([
      { _id: hourOf(30 * 3_600_000), ...took({ 2: { to7000: 3 }, 11: { to7000: 1, longer: 1 } }) },
      { _id: hourOf(60 * 3_600_000), ...took({ 2: { to50: 9 } }) },
    ]);
    const closes = shop.stack.db.collection<{ _id: string }>('dayCloses');
    const close = { state: 'closed', content: { totals: { 'platform:suspense': 70_000 } } };
    await closes.insertOne({ _id: '2999-01-31', ...close });
    const caller = await callerAs(shop, 'viewer');
    const { today, latency, suspense, days } = await caller.ask('getToday', '/today');
    expect(latency.before).to.deep.equal({ ended: 5, median_s: 6.25, p95_s: 86_400 });
    expect(suspense.closed).to.deep.equal({ day: '2999-01-31', amount: 70_000 });
    expect(days).to.have.length(30);
    const { day, ...figures } = days.at(-1);
    expect(day).to.match(/^\d{4}-\d\d-\d\d$/);
    expect(figures).to.deep.equal(today);
    expect(figures.success).to.equal(1);
  });
});
