import { expect } from 'chai';
import mongoose from 'mongoose';
import { setTotalsComplete } from '../../src/money/totals/totals-state.model.js';
import { concludeFailure } from '../../src/purchases/fulfil/conclude-purchase.js';
import { listTransactions } from '../../src/purchases/history.js';
import { purchases } from '../../src/purchases/purchase.model.js';
import { openShop } from '../jobs/sold-purchases.js';
import { eventually } from '../support/eventually.js';
import { withFault } from '../support/mongo-faults.js';
import { useDatabase } from '../webhooks/support/database.js';

describe('a page of the history', () => {
  useDatabase();

  it('skips no row when a newer one leaves the filter between count and read', async () => {
    await setTotalsComplete();
    const shop = await openShop('http://127.0.0.1:9');
    await shop.buy();
    const middle = await shop.buy();
    const newest = await shop.buy();
    const pause = {
      commands: ['find'],
      kind: 'pause' as const,
      ms: 4_000,
      namespace: `${mongoose.connection.name}.${purchases.collectionName}`,
    };
    const page = await withFault(pause, async (fault) => {
      let isRead = false;
      const owner = { accountId: shop.buyer._id };
      const reading = listTransactions({ owner, status: 'pending', page: 2, limit: 1 }).finally(
        () => (isRead = true),
      );
      await eventually('the rows are requested', async () => (await fault.met()) === 1);
      await concludeFailure(newest, null, { code: '01', message: 'nobody' });
      expect(isRead, 'read before the newest row had left').to.equal(false);
      return reading;
    });
    expect([page.purchases.map(({ _id }) => _id), page.total]).to.deep.equal([[middle._id], 3]);
  });
});
