import { openStatuses } from './claim-settlement.js';
import type { Settlement } from './settlement.model.js';

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
