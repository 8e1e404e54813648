import type { Role } from '../../accounts/account.model.js';
import type { JournalKind } from '../../money/journals/journal.model.js';

/** What holds for every journal of a kind, whatever its amounts. */
export interface JournalRule {
  /** What must exist under the journal's `subjectId`. */
  subject: 'transaction' | 'deposit' | 'settlement' | 'posting' | 'adjustment';
  /** Whose wallet it changes; null: none. */
  wallet: Role | 'any' | null;
  /** May it take that wallet below zero? Only the posting of a reversal may (decision 007). */
  mayOverdraw: boolean;
}

/** A new kind of journal is a row here, and its amounts in the check of its subject. */
const rules: Record<JournalKind, JournalRule> = {
  deposit: { subject: 'deposit', wallet: 'buyer', mayOverdraw: false },
  purchase: { subject: 'transaction', wallet: 'buyer', mayOverdraw: false },
  success: { subject: 'transaction', wallet: null, mayOverdraw: false },
  refund: { subject: 'transaction', wallet: 'buyer', mayOverdraw: false },
  reversal: { subject: 'transaction', wallet: 'buyer', mayOverdraw: false },
  'seller-posting': { subject: 'posting', wallet: 'seller', mayOverdraw: true },
  'settlement-request': { subject: 'settlement', wallet: 'seller', mayOverdraw: false },
  'settlement-completed': { subject: 'settlement', wallet: 'seller', mayOverdraw: false },
  'settlement-failed': { subject: 'settlement', wallet: 'seller', mayOverdraw: false },
  adjustment: { subject: 'adjustment', wallet: 'any', mayOverdraw: false },
};

/** Undefined for a kind that nothing calls for. */
export function findJournalRule(kind: string): JournalRule | undefined {
  return Object.hasOwn(rules, kind) ? rules[kind as JournalKind] : undefined;
}
