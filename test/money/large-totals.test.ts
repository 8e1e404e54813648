/** Totals larger than 16 MB, which MongoDB returns in several batches. */
import { expect } from 'chai';
import { withSnapshot } from '../../src/database/mongo.js';
import { toInt64 } from '../../src/database/typed-collection.js';
import { nestCounters, type Counters } from '../../src/money/totals/counters.js';
import { dailyTotals, getTotalsId } from '../../src/money/totals/daily-totals.model.js';
import { readTotalsOfMany, readStoredDay, readTotals } from '../../src/money/totals/read-totals.js';
import { newId } from '../../src/shared/ids.js';
import { useDatabase } from '../webhooks/support/database.js';

const day = '2024-03-01';
const [slots, products] = [4, 7_000];
const nameLength = 900;

describe('totals larger than one MongoDB reply', () => {
  useDatabase();

  it('are read completely: of a day, of an account, and of several accounts', async () => {
    const accountId = newId();
    const counters: Counters = new Map(
      Array.from({ length: products }, (_, n) => [`sold.products.${String(n).padEnd(nameLength, 'x')}`, 1]),
    );
    for (let slot = 0; slot < slots; slot++) {
      await dailyTotals.insertOne({
        _id: getTotalsId(accountId, day, slot),
        accountId,
        day,
        slot,
        counters: nestCounters(counters),
      });
    }
    await dailyTotals.insertOne({
      _id: getTotalsId(accountId, day, null),
      accountId,
      day,
      slot: null,
      counters: { sold: { count: { SUCCESS: toInt64(1) } } },
      version: 'v',
    });
    const ofDay = await withSnapshot((snapshot) => readStoredDay(snapshot, accountId, day));
    const ofAccount = await withSnapshot((snapshot) =>
      readTotals(snapshot, { accountId, from: day, to: day, path: 'sold.products' }),
    );
    const [ofMany] = await withSnapshot((snapshot) =>
      readTotalsOfMany(snapshot, { accountIds: [accountId], from: day, to: day, paths: ['sold'] }),
    );
    const all = products * slots;
    expect([sumOf(ofDay.slots), sumOf(ofDay.base), ofDay.version]).to.deep.equal([all, 1, 'v']);
    expect(sumOf(ofAccount.get(day))).to.equal(all);
    expect(sumOf(ofMany?.counters)).to.equal(all + 1);
  });

  it('return the days of an account newest first', async () => {
    const accountId = newId();
    const days = ['2024-03-01', '2024-03-02', '2024-03-03'];
    await dailyTotals.insertMany(
      days.map((each) => ({
        _id: getTotalsId(accountId, each, null),
        accountId,
        day: each,
        slot: null,
        counters: { sold: { count: { SUCCESS: toInt64(1) } } },
      })),
    );
    const found = await withSnapshot((snapshot) =>
      readTotals(snapshot, { accountId, from: '2024-03-02', to: '2024-03-03', path: 'sold' }),
    );
    expect([...found.keys()]).to.deep.equal(['2024-03-03', '2024-03-02']);
  });
});

function sumOf(counters: Counters | undefined): number {
  return [...(counters ?? new Map<string, number>()).values()].reduce((sum, each) => sum + each, 0);
}
