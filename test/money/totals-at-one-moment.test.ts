/** Sums that are read while their rows change. A MongoDB cursor is no snapshot. */
import { expect } from 'chai';
import mongoose from 'mongoose';
import { MongoServerError } from 'mongodb';
import { withSnapshot } from '../../src/database/mongo.js';
import { toInt64 } from '../../src/database/typed-collection.js';
import { dailyTotals, getTotalsId, type StoredCounters } from '../../src/money/totals/daily-totals.model.js';
import { foldTotals } from '../../src/money/totals/fold-totals.js';
import { setTotalsComplete } from '../../src/money/totals/totals-state.model.js';
import { sumOpenPurchases } from '../../src/purchases/purchase-figures.js';
import { purchases } from '../../src/purchases/purchase.model.js';
import { sumPurchases } from '../../src/purchases/sum-purchases.js';
import { newId } from '../../src/shared/ids.js';
import { openShop } from '../jobs/sold-purchases.js';
import { eventually } from '../support/eventually.js';
import { startFault } from '../support/mongo-faults.js';
import { useDatabase } from '../webhooks/support/database.js';

const [slots, perSlot] = [2_100, 3];

describe('sums over rows that change during the read', () => {
  useDatabase();

  it('the totals of a day are complete while the day is folded', async () => {
    await setTotalsComplete();
    const accountId = newId();
    const day = '2024-03-01';
    const counters: StoredCounters = { bought: { count: { SUCCESS: toInt64(perSlot) } } };
    await dailyTotals.insertMany(
      Array.from({ length: slots }, (_, slot) => ({
        _id: getTotalsId(accountId, day, slot),
        accountId,
        day,
        slot,
        counters,
      })),
    );
    // There are more slots than one batch holds. The read pauses before the first and the second
    // batch.
    const fault = await startFault({
      commands: ['find', 'getMore'],
      times: 2,
      kind: 'pause',
      ms: 2_500,
      namespace: `${mongoose.connection.name}.dailyTotals`,
    });
    let isRead = false;
    const reading = sumPurchases({ accountId }).finally(() => (isRead = true));
    await eventually('the second page is requested', async () => isRead || (await fault.count()) === 2);
    expect(isRead, 'read in one batch').to.equal(false);
    await foldTotals();
    expect(isRead, 'read before the day was folded').to.equal(false);
    expect(await dailyTotals.countDocuments({ accountId })).to.equal(1);
    expect((await reading).byStatus).to.deep.equal([
      { status: 'SUCCESS', count: slots * perSlot, amount: 0 },
    ]);
    await fault.end();
  });

  it('an open purchase that moves in its index is counted once', async () => {
    const shop = await openShop('http://127.0.0.1:9');
    const { _id, accountId } = await shop.buy();
    const row = await purchases.findOne({ _id, accountId });
    if (!row) {
      throw new Error('The purchase is not stored');
    }
    const { count } = await sumOpenPurchases();
    const at = (n: number) => new Date(Date.now() + n * 1_000);
    const more = 1_500;
    await purchases.insertMany(
      Array.from({ length: more }, (_, n) => ({ ...row, _id: newId(), refId: newId(), nextActionAt: at(n) })),
    );
    const counts = new Set<number>();
    for (let round = 0; round < 40; round++) {
      const [{ count: counted }] = await Promise.all([
        sumOpenPurchases(),
        purchases
          .updateOne({ _id, accountId }, { $set: { nextActionAt: at(-60) } })
          .then(() => purchases.updateOne({ _id, accountId }, { $set: { nextActionAt: at(2 * more) } })),
      ]);
      counts.add(counted);
    }
    expect([...counts]).to.deep.equal([count + more]);
  });
});

describe('an unavailable MongoDB snapshot', () => {
  useDatabase();

  for (const code of [246, 239]) {
    it(`is retried (error ${code})`, async () => {
      let attempts = 0;
      const found = await withSnapshot(async (snapshot) => {
        attempts += 1;
        const [row] = await dailyTotals.find({ _id: 'none' }, { ...snapshot }).toArray();
        if (attempts < 3) {
          throw new MongoServerError({ message: 'no such snapshot', code });
        }
        return row ?? 'nothing';
      });
      expect([found, attempts]).to.deep.equal(['nothing', 3]);
    });
  }

  it('is given up after five attempts; other errors fail at once', async () => {
    for (const [code, expected] of [
      [246, 5],
      [13, 1],
    ] as const) {
      let attempts = 0;
      const error = await withSnapshot(() => {
        attempts += 1;
        return Promise.reject(new MongoServerError({ message: 'refused', code }));
      }).catch((caught: unknown) => caught);
      expect(error).to.include({ code });
      expect(attempts).to.equal(expected);
    }
  });
});
