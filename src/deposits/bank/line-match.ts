import type { DatedDeposit } from './find-candidates.js';

/**
 * The match of a line, in order of relevance for operators.
 *
 * - named: its text has our id of the one pending deposit of this amount.
 * - referenced: its text has the `ref_id`, which the client chose, of one.
 * - amount: only the amount matches one pending deposit.
 * - several: several deposits match, or the match is not certain.
 * - repeated: another line is for the same deposit.
 * - decided: the deposits it matches or names by id were credited or rejected before.
 * - other-amount: its text names a deposit of another amount.
 * - none: nothing matches.
 * - used, set-aside: an earlier statement had it, with that status.
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
  /** For `named`, `referenced` and `amount` the one deposit; otherwise some possible ones. */
  deposits: Pick<DatedDeposit, '_id' | 'accountId' | 'refId' | 'status'>[];
}

/** The most deposits shown per line. */
export const shownMax = 5;

/** True if the text names exactly one deposit. */
export function isSingleMatch(match: LineMatch | undefined): boolean {
  return match === 'named' || match === 'referenced';
}

/** Returns the deposits that texts identify as paid by a line of their own amount. */
export function getPaidDepositIds(matched: Iterable<LineMatchResult>): Set<string> {
  return new Set(
    [...matched].flatMap(({ match, deposits: [one] }) => (one && isSingleMatch(match) ? [one._id] : [])),
  );
}
