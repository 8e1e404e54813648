import type { SettlementStatus } from '../../settlements/settlement.model.js';
import type { JournalKind, JournalLine } from '../../money/journals/journal.model.js';
import { checkMovement } from './check-journals.js';
import { checkNextAction } from './subject.js';
import type { LedgerFinding } from './ledger-report.js';
import type { ReadJournal, ReadSettlement } from './stored-documents.js';

/** A request reserves the whole amount. The amount is then paid out or returned in full, once. */
const journalKindsByStatus: Record<SettlementStatus, readonly JournalKind[]> = {
  pending: ['settlement-request'],
  processing: ['settlement-request'],
  completed: ['settlement-request', 'settlement-completed'],
  failed: ['settlement-request', 'settlement-failed'],
};

export function checkSettlement(
  settlement: ReadSettlement,
  journals: readonly ReadJournal[],
): LedgerFinding[] {
  const finding = { check: 'settlements' as const, subject: `settlement ${settlement._id}` };
  const problems = checkAmounts(settlement);
  // An unknown state is reported separately.
  if (settlement.status === null) {
    return problems.map((message) => ({ ...finding, message }));
  }
  const expected: readonly string[] = journalKindsByStatus[settlement.status];
  problems.push(
    ...checkState(settlement),
    ...expected
      .filter((kind) => journals.filter((each) => each.kind === kind).length !== 1)
      .map((kind) => `it is ${settlement.status ?? ''} but does not have exactly one journal "${kind}"`),
    ...journals
      .filter((each) => !expected.includes(each.kind))
      .map((each) => `it is ${settlement.status ?? ''} and has a journal "${each.kind}"`),
  );
  return [
    ...problems.map((message) => ({ ...finding, message })),
    ...journals
      .filter((each) => expected.includes(each.kind))
      .flatMap((journal) => checkMovement(journal, getExpectedLines(settlement, journal.kind), finding)),
  ];
}

function checkAmounts({ amount, fee, netAmount }: ReadSettlement): string[] {
  const problems: string[] = [];
  if (netAmount + fee !== amount) {
    problems.push('its net amount and its fee do not add up to its amount');
  }
  if (amount <= 0 || fee < 0 || netAmount < 0) {
    problems.push(`its amounts are ${amount}, ${fee} and ${netAmount}`);
  }
  return problems;
}

function checkState(settlement: ReadSettlement): string[] {
  const { status, finalAt, nextActionAt, needsApproval } = settlement;
  const isFinal = status === 'completed' || status === 'failed';
  const problems: string[] = [];
  if (isFinal !== (finalAt !== null)) {
    problems.push(`it is ${status ?? ''} and its finalAt is ${String(finalAt)}`);
  }
  if (isFinal && (nextActionAt !== null || needsApproval)) {
    problems.push('it is final but still waits for an action');
  }
  if (!isFinal) {
    // A settlement that waits for approval or for a manual payment needs no next action, because an
    // operator's list shows it.
    const isPaidByHand = status === 'processing' && settlement.byHand === true;
    problems.push(...checkNextAction(nextActionAt, needsApproval || isPaidByHand));
  }
  return problems;
}

function getExpectedLines(settlement: ReadSettlement, kind: string): JournalLine[] {
  const { accountId, amount, fee, netAmount } = settlement;
  switch (kind) {
    case 'settlement-request':
      return [
        { account: `wallet:${accountId}`, amount: -amount },
        { account: `held:${accountId}`, amount },
      ];
    case 'settlement-completed':
      return [
        { account: `held:${accountId}`, amount: -amount },
        { account: 'platform:bank', amount: netAmount },
        { account: 'platform:revenue', amount: fee },
      ];
    case 'settlement-failed':
      return [
        { account: `held:${accountId}`, amount: -amount },
        { account: `wallet:${accountId}`, amount },
      ];
    default:
      return [];
  }
}
