import { buildAuditEntryInsert, type ChangedBy } from '../audit/record-audit.js';
import { post } from '../money/posting/post.js';
import { formatBusinessTime } from '../shared/business-time.js';
import { now } from '../shared/clock.js';
import { ConflictError, ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { requireSettlement } from './find-settlement.js';
import { settlements, type Settlement, type SettlementStatus } from './settlement.model.js';
import { getSellerBalance, WalletBelowZeroError } from './wallet-below-zero.js';

export const openStatuses: SettlementStatus[] = ['pending', 'processing'];

/**
 * Claims a settlement for an operator who pays it at the bank. After that, only the claimer
 * completes or fails the settlement, which prevents a double payment. Claiming twice changes
 * nothing.
 *
 * A settlement of a seller whose wallet is below zero cannot be claimed. It can be taken over,
 * because otherwise nobody could fail it. It must not be paid then.
 *
 * @param options.takeOver True to take the settlement over from another operator, which needs a
 *   reason.
 * @returns `mayBePaid`: false if the wallet is below zero.
 * @throws NotFoundError if there is no such settlement.
 * @throws ConflictError if it is final, waits for approval, or is claimed by another operator.
 * @throws WalletBelowZeroError if the seller owes the platform money.
 * @throws ValidationError for a take-over without a reason.
 */
export async function claimSettlement(
  settlementId: string,
  by: ChangedBy,
  { takeOver = false }: { takeOver?: boolean } = {},
): Promise<{ settlement: Settlement; changed: boolean; mayBePaid: boolean }> {
  const settlement = await requireSettlement(settlementId);
  const { accountId, status, needsApproval, claimedBy } = settlement;
  if (!openStatuses.includes(status)) {
    throw new ConflictError(asWritten(`Settlement ${settlementId} is ${status}.`));
  }
  if (needsApproval) {
    throw new ConflictError(asWritten('It must be approved first.'), {
      atCommandLine: `topup settlement approve ${settlementId}`,
    });
  }
  const isTakenOver = claimedBy !== null && claimedBy !== by.actor;
  if (isTakenOver && !takeOver) {
    throw buildClaimedError(settlement);
  }
  const balance = await getSellerBalance(settlement);
  if (balance < 0 && !isTakenOver) {
    throw new WalletBelowZeroError(settlement, balance);
  }
  if (claimedBy === by.actor) {
    return { settlement, changed: false, mayBePaid: true };
  }
  if (isTakenOver && !by.reason) {
    throw new ValidationError([{ field: 'reason', message: asWritten('Enter a reason to take it over.') }]);
  }
  // An operator handles the settlement from here on, so no worker takes it again.
  const claim = {
    status: 'processing' as const,
    nextActionAt: null,
    byHand: true,
    claimedBy: by.actor,
    claimedAt: now(),
  };
  const { outcome } = await post({
    accountId,
    kind: 'settlement-claim',
    subjectId: settlementId,
    changes: [
      {
        collection: settlements.collectionName,
        id: settlementId,
        expect: { status: { $in: openStatuses }, needsApproval: false, claimedBy },
        set: claim,
      },
    ],
    inserts: [
      buildAuditEntryInsert({
        ...by,
        action: 'settlement.claim',
        subject: { kind: 'settlement', id: settlementId },
        before: { status, claimedBy },
        after: { status: claim.status, claimedBy: by.actor },
      }),
    ],
  });
  if (outcome !== 'posted') {
    throw new ConflictError(asWritten(`Settlement ${settlementId} has just changed. Look at it again.`));
  }
  return { settlement: { ...settlement, ...claim }, changed: true, mayBePaid: balance >= 0 };
}

/**
 * Refuses to end a settlement that another operator has claimed.
 * @param options.claimNeeded True to refuse an unclaimed settlement as well, because another
 *   operator may be paying it.
 * @throws ConflictError with a message that says what to do.
 */
export function requireClaim(
  settlement: Settlement,
  { actor }: ChangedBy,
  { claimNeeded }: { claimNeeded: boolean },
): void {
  const { _id, claimedBy } = settlement;
  if (claimedBy !== null && claimedBy !== actor) {
    throw buildClaimedError(settlement);
  }
  if (claimedBy === null && claimNeeded) {
    throw new ConflictError(
      asWritten(
        `Settlement ${_id} is not claimed. Claim it before you pay it, so that no other operator pays it too.`,
      ),
      { atCommandLine: `topup settlement claim ${_id}` },
    );
  }
}

function buildClaimedError({ _id, claimedBy, claimedAt }: Settlement): ConflictError {
  return new ConflictError(
    asWritten(
      `${claimedBy ?? ''} claimed settlement ${_id} at ${claimedAt ? formatBusinessTime(claimedAt) : ''}. Ask them whether it is paid.`,
    ),
    { atCommandLine: `To take it over: topup settlement claim ${_id} --take-over --reason …` },
  );
}

/** Steps that operators can take on a settlement. */
export const settlementSteps = ['approve', 'claim', 'take-over', 'complete', 'fail'] as const;
export type SettlementStep = (typeof settlementSteps)[number];

/**
 * Returns the steps that this operator can take now.
 * @param options.actor The operator's name in the audit log.
 * @param options.isBelowZero True if the seller's wallet is below zero, so that the settlement must
 *   not be paid.
 */
export function getPossibleSteps(
  settlement: Settlement,
  { actor, isBelowZero }: { actor: string; isBelowZero: boolean },
): SettlementStep[] {
  const steps = getStepsOfState(settlement, actor);
  return isBelowZero ? steps.filter((each) => each === 'fail' || each === 'take-over') : steps;
}

function getStepsOfState(settlement: Settlement, actor: string): SettlementStep[] {
  const { status, needsApproval, claimedBy } = settlement;
  if (!openStatuses.includes(status)) {
    return [];
  }
  if (needsApproval) {
    return ['approve', 'fail'];
  }
  if (claimedBy === null) {
    return ['claim', 'fail'];
  }
  return claimedBy === actor ? ['complete', 'fail'] : ['take-over'];
}
