/**
 * The age of open purchases and their amount in suspense, which the alarms for stuck purchases use.
 */
import { expect } from 'chai';
import { sumOpenPurchases } from '../../src/purchases/purchase-figures.js';
import { purchases } from '../../src/purchases/purchase.model.js';
import { setClock } from '../../src/shared/clock.js';
import { openShop } from '../jobs/sold-purchases.js';
import { useDatabase } from '../webhooks/support/database.js';

const [minuteMs, hourMs] = [60_000, 3_600_000];

describe('open purchases', () => {
  useDatabase();
  after(() => setClock(null));

  it('are counted and summed by age, without final purchases', async () => {
    expect(await sumOpenPurchases([minuteMs])).to.deep.equal({
      count: 0,
      suspense: 0,
      isCut: false,
      younger: [0],
    });
    const shop = await openShop('http://127.0.0.1:1');
    const agesMs = [0, minuteMs - 1, minuteMs, hourMs - 1, hourMs, 30 * hourMs, 0];
    const bought = await Promise.all(agesMs.map(() => shop.buy()));
    const atMs = Date.now();
    setClock(() => atMs);
    await purchases.bulkWrite(
      bought.map(({ _id, accountId }, place) => ({
        updateOne: {
          filter: { _id, accountId },
          update: {
            $set: {
              createdAt: new Date(atMs - (agesMs[place] ?? 0)),
              status: place === agesMs.length - 1 ? ('SUCCESS' as const) : ('PROCESSING' as const),
            },
          },
        },
      })),
    );
    expect(await sumOpenPurchases([minuteMs, hourMs])).to.deep.equal({
      count: 6,
      suspense: 6_000,
      isCut: false,
      younger: [2, 4],
    });
  });
});
