import type { DatedDeposit } from './find-candidates.js';

/**
 * What a line is for, in the order in which people look at them. named: its text has our id of the one deposit that waits for
 * this amount. referenced: it has the `ref_id` of one, which its client chose. amount: one deposit waits for it, and only the
 * amount says so. several: of several it could be any, or nothing says enough. repeated: another line is for the same deposit.
 * decided: what it fits to, or names by our id, was credited or rejected before. other-amount: its text names a deposit, and that
 * is of another amount. none: nothing fits. used, set-aside: an earlier statement had it, and that became of it.
 */
export const lineMatches = [
  'named',
  'referenced',
  'amount',
  'several',
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
  /** Of `named`, `referenced` and `amount` the one; of others some that it could be. */
  deposits: Pick<DatedDeposit, '_id' | 'accountId' | 'refId' | 'status'>[];
}

/** So many deposits are told of one line. */
export const shownMax = 5;

/** Its text says of one deposit that it is its payment. */
export function isSingleMatch(match: LineMatch | undefined): boolean {
  return match === 'named' || match === 'referenced';
}

/** The deposits that texts say are paid by a line of their own amount. */
export function getPaidDepositIds(matched: Iterable<LineMatchResult>): Set<string> {
  return new Set(
    [...matched].flatMap(({ match, deposits: [one] }) => (one && isSingleMatch(match) ? [one._id] : [])),
  );
}
