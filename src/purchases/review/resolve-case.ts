import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { now } from '../../shared/clock.js';
import { ConflictError, NotFoundError } from '../../shared/errors.js';
import { inTransaction } from '../../database/mongo.js';
import { CaseModel, type ReconciliationCase } from '../case.model.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

/** Cases for the operator: open ones newest first, or resolved ones last resolved first. */
export async function listCases(filter: { open: boolean; limit: number }): Promise<ReconciliationCase[]> {
  return filter.open
    ? CaseModel.find({ resolvedAt: null }).sort({ createdAt: -1 }).limit(filter.limit).lean()
    : CaseModel.find({ resolvedAt: { $type: 'date' } })
        .sort({ resolvedAt: -1 })
        .limit(filter.limit)
        .lean();
}

/**
 * Closes a case. It moves no money: what the operator decided is in the reason, and what had to be moved was
 * moved before.
 * @returns whether this call closed it.
 * @throws NotFoundError if there is no such case.
 * @throws ConflictError while its purchase still waits for a decision.
 */
export async function resolveCase(
  caseId: string,
  by: ChangedBy,
): Promise<{ resolved: ReconciliationCase; changed: boolean }> {
  return inTransaction(async (session) => {
    const found = await CaseModel.findById(caseId).session(session).lean<ReconciliationCase>();
    if (!found) {
      throw new NotFoundError(`There is no case ${caseId}. See the open ones: topup case list`);
    }
    if (found.resolvedAt !== null) {
      return { resolved: found, changed: false };
    }
    const purchase = await PurchaseModel.findById(found.transactionId).session(session).lean<Purchase>();
    if (found.kind === 'review' && purchase?.reviewSince) {
      throw new ConflictError(
        `Transaction ${found.transactionId} still waits for a decision: decide it with topup review resolve`,
      );
    }
    const resolvedAt = now();
    await CaseModel.updateOne({ _id: caseId }, { $set: { resolvedAt } }, { session });
    await recordAudit(session, {
      ...by,
      action: 'case.resolve',
      subject: { kind: 'case', id: caseId },
      before: { kind: found.kind, transactionId: found.transactionId, detail: found.detail },
      after: { resolvedAt },
    });
    return { resolved: { ...found, resolvedAt }, changed: true };
  });
}
