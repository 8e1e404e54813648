import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { findConfirmed } from '../database/find-confirmed.js';
import { post } from '../money/posting/post.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { openStatuses } from './claim-settlement.js';
import { settlements, type Settlement } from './settlement.model.js';

/**
 * Stores the bank's reference in an open settlement, then finds the other settlements that have it.
 * Invariant: of two settlements that are completed at once with one reference, at least one call
 * sees the other, because each call stores its reference before it looks.
 *
 * @param options.shared True if the operator has confirmed that one transfer paid several
 *   settlements.
 * @returns The ids of the other settlements with this reference, which are not empty only with
 *   `shared`.
 * @throws ConflictError if another settlement has this reference and `shared` is false.
 */
export async function reserveBankReference(
  settlement: Settlement,
  bankReference: string,
  { shared }: { shared: boolean },
): Promise<string[]> {
  const { _id, accountId, claimedBy } = settlement;
  await post({
    accountId,
    kind: 'settlement-reference',
    subjectId: _id,
    changes: [
      {
        collection: settlements.collectionName,
        id: _id,
        expect: { status: { $in: openStatuses }, claimedBy },
        set: { bankReference },
      },
    ],
  });
  // Without `$type`, MongoDB cannot use the partial index.
  const others = await findConfirmed(settlements, {
    bankReference: { $eq: bankReference, $type: 'string' as const },
    _id: { $ne: _id },
    status: { $ne: 'failed' },
  });
  const [first] = others;
  if (first && !shared) {
    throw new ConflictError(
      asWritten(
        `Bank reference ${bankReference} is also the reference of settlement ${first._id}, which is ${first.status}. Compare both with the bank statement. If one transfer paid both, confirm that the reference is shared.`,
      ),
      { atCommandLine: `To confirm it: topup settlement complete ${_id} --shared-reference …` },
    );
  }
  return others.map((each) => each._id);
}

/**
 * Requires that a completed settlement has the reference of this call. Otherwise the call may
 * report a second payment, so the refusal is recorded in the audit log.
 * @param bankReference The reference of this call. Undefined if the call has none.
 * @throws ConflictError if the settlement was completed with another reference, or without one.
 */
export async function requireSameReference(
  { _id, bankReference: stored }: Settlement,
  by: ChangedBy,
  bankReference: string | undefined,
): Promise<void> {
  if (bankReference === undefined || bankReference === stored) {
    return;
  }
  await recordAudit(null, {
    ...by,
    action: 'settlement.complete.refused',
    subject: { kind: 'settlement', id: _id },
    before: { bankReference: stored ?? null },
    after: { refused: bankReference },
  });
  const recorded = stored === undefined ? 'without a bank reference' : `with bank reference ${stored}`;
  throw new ConflictError(
    asWritten(
      `Settlement ${_id} was completed ${recorded}, not with ${bankReference}. Nothing changed. Compare both with the bank statement: if both payments are there, it was paid twice.`,
    ),
  );
}
