import { orders } from '../purchases/order.model.js';
import { purchases } from '../purchases/purchase.model.js';
import { endReports } from '../reports/end-reports.js';

const atOnce = 500;

/**
 * Ends the reports of those who bought, were asked for or sold what was erased. The mark is written with the erasure and
 * goes once they have ended: whatever dies in between, the next one to call this finds it. A report that is asked for
 * after the erasure reads nothing of it, so those that are there by now are all. @returns how many.
 */
export async function endReportsOfErased(): Promise<number> {
  let ended = 0;
  for (;;) {
    const marked = await purchases
      .find({ reportsToEnd: true }, { projection: { accountId: 1, sellerId: 1 } })
      .limit(atOnce)
      .toArray();
    if (marked.length === 0) {
      return ended;
    }
    const buyers = [...new Set(marked.map(({ accountId }) => accountId))];
    const asked = await orders
      .find(
        {
          accountId: { $in: buyers },
          transactionId: { $in: marked.map(({ _id }) => _id) },
        },
        { projection: { _id: 0, sellerId: 1 } },
      )
      .toArray();
    const sellers = [...marked, ...asked].flatMap(({ sellerId }) => (sellerId === null ? [] : [sellerId]));
    ended += await endReports([...new Set([...buyers, ...sellers])]);
    await purchases.bulkWrite(
      marked.map(({ _id, accountId }) => ({
        updateOne: { filter: { _id, accountId }, update: { $unset: { reportsToEnd: 1 as const } } },
      })),
      { ordered: false },
    );
  }
}
