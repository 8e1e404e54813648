import type { DatedDeposit } from './find-candidates.js';

/**
 * The match of a line, in order of relevance for operators.
 *
 * - named: the text has the id of the one pending deposit with this amount.
 * - referenced: the text has the `ref_id` of one such deposit, which its client chose.
 * - amount: one pending deposit has this amount, and nothing else matches.
 * - several: several deposits match, or the match is uncertain.
 *
 * - taken-back: the bank took the payment back, or it takes back an outgoing one.
 * - repeated: another line pays the same deposit.
 * - decided: every matching deposit was already credited or rejected.
 * - other-amount: the text names a deposit with another amount.
 * - none: nothing matches.
 * - used, set-aside: the line is in an earlier statement and has that status.
 */
export const lineMatches = [
  'named',
  'referenced',
  'amount',
  'several',
  'taken-back',
  'repeated',
  'decided',
  'other-amount',
  'none',
  'used',
  'set-aside',
] as const;
export type LineMatch = (typeof lineMatches)[number];

export interface LineMatchResult {
  match: LineMatch;
  /**
   * For `named`, `referenced` and `amount`, the matching deposit. For any other match, some
   * possible deposits.
   */
  deposits: Pick<DatedDeposit, '_id' | 'accountId' | 'refId' | 'status'>[];
}

/** Maximum number of deposits shown per line. */
export const shownMax = 5;

/** True if the text names exactly one deposit. */
export function isSingleMatch(match: LineMatch | undefined): boolean {
  return match === 'named' || match === 'referenced';
}

/** Returns the ids of deposits that a text identifies and that a line with the same amount pays. */
export function getPaidDepositIds(matched: Iterable<LineMatchResult>): Set<string> {
  return new Set(
    [...matched].flatMap(({ match, deposits: [one] }) => (one && isSingleMatch(match) ? [one._id] : [])),
  );
}
