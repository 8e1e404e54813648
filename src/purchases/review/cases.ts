import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { now } from '../../shared/clock.js';
import { NotFoundError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { runInTransaction } from '../../database/mongo.js';
import { CaseModel, openCaseFilter, type ReconciliationCase } from '../case.model.js';

/** Lists cases: open cases newest or oldest first, or resolved cases by latest resolution. */
export async function listCases(filter: {
  open: boolean;
  oldestFirst?: boolean;
  limit: number;
}): Promise<ReconciliationCase[]> {
  return filter.open
    ? CaseModel.find(openCaseFilter)
        .sort({ createdAt: filter.oldestFirst ? 1 : -1 })
        .limit(filter.limit)
        .lean()
    : CaseModel.find({ resolvedAt: { $type: 'date' } })
        .sort({ resolvedAt: -1 })
        .limit(filter.limit)
        .lean();
}

/**
 * Closes a case. This moves no money. The operator first moves the money, then records the decision
 * as the reason.
 * @returns `changed` is true if this call closed the case.
 * @throws NotFoundError if there is no such case.
 */
export async function resolveCase(
  caseId: string,
  by: ChangedBy,
): Promise<{ resolved: ReconciliationCase; changed: boolean }> {
  return runInTransaction(async (session) => {
    const found = await CaseModel.findById(caseId).session(session).lean<ReconciliationCase>();
    if (!found) {
      throw new NotFoundError(asWritten(`There is no case ${caseId}.`), {
        atCommandLine: 'See the open ones: topup case list',
      });
    }
    if (found.resolvedAt !== null) {
      return { resolved: found, changed: false };
    }
    const resolvedAt = now();
    await CaseModel.updateOne({ _id: caseId }, { $set: { resolvedAt } }, { session });
    await recordAudit(session, {
      ...by,
      action: 'case.resolve',
      subject: { kind: 'case', id: caseId },
      before: getCaseDetails(found),
      after: { resolvedAt },
    });
    return { resolved: { ...found, resolvedAt }, changed: true };
  });
}

function getCaseDetails({ kind, transactionId, paymentId, bankLineId, detail }: ReconciliationCase) {
  const about =
    paymentId === undefined ? (bankLineId === undefined ? { transactionId } : { bankLineId }) : { paymentId };
  return { kind, ...about, detail };
}
