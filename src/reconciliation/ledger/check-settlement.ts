import type { Settlement, SettlementStatus } from '../../settlements/settlement.model.js';
import type { Journal, JournalKind, JournalLine } from '../../money/journals/journal.model.js';
import { checkMovement } from './check-journal.js';
import type { LedgerFinding } from './ledger-report.js';

/** A request holds the whole amount; then it is paid or returned, in full, once. */
const journalsOf: Record<SettlementStatus, readonly JournalKind[]> = {
  pending: ['settlement-request'],
  processing: ['settlement-request'],
  completed: ['settlement-request', 'settlement-completed'],
  failed: ['settlement-request', 'settlement-failed'],
};

export function checkSettlement(settlement: Settlement, journals: readonly Journal[]): LedgerFinding[] {
  const finding = { check: 'settlements' as const, subject: `settlement ${settlement._id}` };
  const expected = journalsOf[settlement.status];
  const problems = [
    ...expected
      .filter((kind) => journals.filter((each) => each.kind === kind).length !== 1)
      .map((kind) => `it is ${settlement.status} and has not exactly one journal "${kind}"`),
    ...journals
      .filter((each) => !expected.includes(each.kind))
      .map((each) => `it is ${settlement.status} and has a journal "${each.kind}"`),
  ];
  if (settlement.netAmount + settlement.fee !== settlement.amount) {
    problems.push('its net amount and its fee do not make its amount');
  }
  return [
    ...problems.map((message) => ({ ...finding, message })),
    ...journals
      .filter((each) => expected.includes(each.kind))
      .flatMap((journal) => checkMovement(journal, movementOf(settlement, journal.kind), finding)),
  ];
}

function movementOf(settlement: Settlement, kind: JournalKind): JournalLine[] {
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
