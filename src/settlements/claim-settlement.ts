import { auditInsert, type ChangedBy } from '../audit/record-audit.js';
import { post } from '../money/posting/post.js';
import { businessTime } from '../shared/business-time.js';
import { now } from '../shared/clock.js';
import { ConflictError, ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { requireSettlement } from './find-settlement.js';
import { settlements, type Settlement, type SettlementStatus } from './settlement.model.js';

export const openStatuses: SettlementStatus[] = ['pending', 'processing'];

/**
 * An operator takes a settlement to pay it at the bank, so that no other one pays it too: from now on only the claimer
 * completes or fails it. Claiming twice changes nothing.
 * @param options.takeOver Also from another operator, for a reason.
 * @throws NotFoundError. ConflictError if it is final, waits for approval, or another operator has it.
 *   ValidationError for a take-over without a reason.
 */
export async function claimSettlement(
  settlementId: string,
  by: ChangedBy,
  { takeOver = false }: { takeOver?: boolean } = {},
): Promise<{ settlement: Settlement; changed: boolean }> {
  const settlement = await requireSettlement(settlementId);
  const { accountId, status, needsApproval, claimedBy } = settlement;
  if (!openStatuses.includes(status)) {
    throw new ConflictError(asWritten(`Settlement ${settlementId} is ${status}.`));
  }
  if (needsApproval) {
    throw new ConflictError(asWritten('It waits for approval first.'), {
      atCommandLine: `topup settlement approve ${settlementId}`,
    });
  }
  if (claimedBy === by.actor) {
    return { settlement, changed: false };
  }
  if (claimedBy !== null && !takeOver) {
    throw buildClaimedError(settlement);
  }
  if (claimedBy !== null && !by.reason) {
    throw new ValidationError([{ field: 'reason', message: asWritten('Taking it over needs a reason.') }]);
  }
  // In the operator's hands: no worker looks at it again.
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
      auditInsert({
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
  return { settlement: { ...settlement, ...claim }, changed: true };
}

/**
 * Only who has claimed a settlement ends it.
 * @param options.claimNeeded Also refuse where nobody has: whoever pays it at this moment would be a second one.
 * @throws ConflictError whose words say what to do.
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
        `Nobody has claimed settlement ${_id}. Claim it before you pay, so that nobody else pays it too.`,
      ),
      { atCommandLine: `topup settlement claim ${_id}` },
    );
  }
}

function buildClaimedError({ _id, claimedBy, claimedAt }: Settlement): ConflictError {
  return new ConflictError(
    asWritten(
      `${claimedBy ?? ''} has claimed settlement ${_id} at ${claimedAt ? businessTime(claimedAt) : ''}. Ask whether it is paid.`,
    ),
    { atCommandLine: `To go on in their place: topup settlement claim ${_id} --take-over --reason …` },
  );
}

/** What an operator can do about a settlement; src/settlements refuses all else. */
export const settlementSteps = ['approve', 'claim', 'take-over', 'complete', 'fail'] as const;
export type SettlementStep = (typeof settlementSteps)[number];

/** @param actor Who asks, as the audit log names them. */
export function getPossibleSteps(settlement: Settlement, actor: string): SettlementStep[] {
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
