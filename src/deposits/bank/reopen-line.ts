import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { inTransaction } from '../../database/mongo.js';
import { BankLineModel, type BankLine } from './bank-line.model.js';
import { requireLine, requireOpen } from './use-line.js';

/**
 * Takes back that a line was set aside: its money is for somebody again. Twice changes nothing.
 * @throws NotFoundError. ConflictError for one that has credited a deposit.
 */
export async function reopenLine(lineId: string, by: ChangedBy): Promise<{ changed: boolean }> {
  const { day, amount } = await requireLine(lineId);
  const changed = await inTransaction(async (session) => {
    const before = await BankLineModel.findOneAndUpdate(
      { _id: lineId, status: 'set-aside' },
      { $set: { status: 'open', decided: null } },
      { session, returnDocument: 'before' },
    ).lean<BankLine>();
    if (before) {
      await recordAudit(session, {
        ...by,
        action: 'bank-line.reopen',
        subject: { kind: 'bank-line', id: lineId },
        before: { status: 'set-aside', reason: before.decided?.reason ?? null },
        after: { status: 'open', day, amount },
      });
    }
    return before !== null;
  });
  if (!changed) {
    requireOpen(await requireLine(lineId));
  }
  return { changed };
}
