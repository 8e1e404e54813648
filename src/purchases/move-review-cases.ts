import { defineMigration } from '../database/migrate.js';
import { now } from '../shared/clock.js';
import { CaseModel, type ReconciliationCase } from './case.model.js';
import { PurchaseModel } from './purchase.model.js';

const atOnce = 500;

/**
 * 0.1.0 told of a review twice: by the purchase and by a case of kind `review`. The words of the case go to the
 * purchase where it still waits, and the case is closed.
 */
export async function moveReviewCases(): Promise<void> {
  for (;;) {
    const open = await CaseModel.collection
      .find<ReconciliationCase>({ resolvedAt: null, kind: 'review' })
      .limit(atOnce)
      .toArray();
    if (open.length === 0) {
      return;
    }
    await PurchaseModel.bulkWrite(
      open.map(({ transactionId, detail }) => ({
        updateOne: {
          filter: { _id: transactionId ?? '', reviewSince: { $type: 'date' }, reviewReason: null },
          update: { $set: { reviewReason: detail } },
        },
      })),
    );
    await CaseModel.updateMany({ _id: { $in: open.map(({ _id }) => _id) } }, { $set: { resolvedAt: now() } });
  }
}

defineMigration(moveReviewCases);
