import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { inTransaction } from '../../database/mongo.js';
import { now } from '../../shared/clock.js';
import { BankLineModel } from './bank-line.model.js';
import { requireLine, requireOpen } from './use-line.js';

/**
 * Says that the money of a line is for no deposit, and why: paid back, interest, a deposit that was confirmed by hand. Twice changes nothing.
 * @throws NotFoundError. ConflictError for one that has credited a deposit.
 */
export async function setLineAside(lineId: string, by: ChangedBy): Promise<{ changed: boolean }> {
  const { day, amount } = await requireLine(lineId);
  const changed = await inTransaction(async (session) => {
    const { modifiedCount } = await BankLineModel.updateOne(
      { _id: lineId, status: 'open' },
      { $set: { status: 'set-aside', decided: { at: now(), actor: by.actor, reason: by.reason } } },
      { session },
    );
    if (modifiedCount === 1) {
      await recordAudit(session, {
        ...by,
        action: 'bank-line.set-aside',
        subject: { kind: 'bank-line', id: lineId },
        before: { status: 'open' },
        after: { status: 'set-aside', day, amount },
      });
    }
    return modifiedCount === 1;
  });
  if (!changed) {
    const line = await requireLine(lineId);
    if (line.status !== 'set-aside') {
      requireOpen(line);
    }
  }
  return { changed };
}
