import { iterateInSlices } from '../../shared/collections.js';
import { findMismatch } from '../decide-deposit.js';
import { filterInTime, type Candidate, type DatedDeposit } from './find-candidates.js';
import { getPaidDepositIds, shownMax, type LineMatch, type LineMatchResult } from './line-match.js';
import type { LineNames } from './find-named-deposits.js';
import type { IncomingLine } from './read-bank-statement.js';

/**
 * Matches lines whose texts name a deposit. The result is keyed by line. Our own id has priority
 * over references in the same line and in other lines. A `ref_id` has priority over the amount.
 */
export async function matchLinesByText(
  lines: readonly IncomingLine[],
  namedBy: ReadonlyMap<string, LineNames>,
  byAmount: ReadonlyMap<number, Candidate[]>,
): Promise<Map<string, LineMatchResult>> {
  const matched = new Map<string, LineMatchResult>();
  const taken = new Set<string>();
  // Match all ids before any `ref_id`, so that the order of the lines does not matter.
  for (const matchOf of [matchById, matchByReference]) {
    for await (const line of iterateInSlices(lines)) {
      const named = namedBy.get(line.key);
      const found = named && !matched.has(line.key) ? matchOf(line, named, taken) : null;
      if (found) {
        matched.set(line.key, { ...found, deposits: found.deposits.slice(0, shownMax) });
        getPaidDepositIds([found]).forEach((id) => taken.add(id));
      }
    }
  }
  await downgradeUncertainReferences(lines, matched, byAmount);
  return matched;
}

function matchById(
  { amount, day }: IncomingLine,
  { byId }: LineNames,
  taken: ReadonlySet<string>,
): LineMatchResult | null {
  if (byId.length === 0) {
    return null;
  }
  const fitting = filterInTime(
    day,
    byId.filter((each) => each.amount === amount),
  );
  return matchFitting('named', fitting, taken) ?? { match: matchUnfitting(byId, amount), deposits: byId };
}

function matchByReference(
  { isWhole }: IncomingLine,
  { fitting, waiting }: LineNames,
  taken: ReadonlySet<string>,
): LineMatchResult | null {
  // The cut part of a truncated text may name another deposit.
  const found = matchFitting(isWhole ? 'referenced' : 'several', fitting, taken);
  return found ?? (waiting.length === 0 ? null : { match: 'other-amount', deposits: waiting });
}

/**
 * @param fitting Named deposits that have the line's amount and that the line may pay by its day.
 */
function matchFitting(
  match: 'named' | 'referenced' | 'several',
  fitting: DatedDeposit[],
  taken: ReadonlySet<string>,
): LineMatchResult | null {
  const [one, ...others] = fitting;
  if (!one) {
    return null;
  }
  if (fitting.every((each) => findMismatch(each, one.amount) !== null)) {
    return { match: 'decided', deposits: fitting };
  }
  if (others.length > 0) {
    return { match: 'several', deposits: fitting };
  }
  return { match: taken.has(one._id) ? 'repeated' : match, deposits: [one] };
}

/**
 * Returns the match of a line that names deposits by id, but can pay none of them. If a pending one
 * has the line's amount, it was requested too long ago.
 */
function matchUnfitting(named: readonly DatedDeposit[], amount: number): LineMatch {
  const waiting = named.filter(({ status }) => status === 'pending');
  if (waiting.length === 0) {
    return 'decided';
  }
  return waiting.some((each) => each.amount !== amount) ? 'other-amount' : 'none';
}

/**
 * Downgrades uncertain references to `several`. A client chooses its `ref_id`, so it could be a
 * common word, or a word that another customer's transfers contain.
 *
 * A reference is uncertain if a deposit of another account waits for the same amount and no line
 * pays that deposit. Only a line with the same amount pays a deposit, so a transfer of one rupiah
 * cannot remove this doubt. Our own id is always certain.
 */
async function downgradeUncertainReferences(
  lines: readonly IncomingLine[],
  matched: Map<string, LineMatchResult>,
  byAmount: ReadonlyMap<number, Candidate[]>,
): Promise<void> {
  const paid = getPaidDepositIds(matched.values());
  const unpaid = new Map<string, Candidate[]>();
  for await (const { key, amount, day } of iterateInSlices(lines)) {
    const { match, deposits: [one] = [] } = matched.get(key) ?? {};
    if (match !== 'referenced' || !one) {
      continue;
    }
    const place = `${amount} ${day}`;
    const waiting =
      unpaid.get(place) ?? pickOnePerAccount(filterInTime(day, byAmount.get(amount) ?? []), paid);
    unpaid.set(place, waiting);
    const others = waiting.filter(({ accountId }) => accountId !== one.accountId);
    if (others.length > 0) {
      matched.set(key, { match: 'several', deposits: [one, ...others].slice(0, shownMax) });
    }
  }
}

/**
 * Returns one unpaid pending deposit per account, for at most `shownMax` accounts. That is enough
 * to find an account other than the line's own.
 */
function pickOnePerAccount(all: readonly Candidate[], paid: ReadonlySet<string>): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const each of all) {
    if (found.size >= shownMax) {
      break;
    }
    if (findMismatch(each, each.amount) === null && !paid.has(each._id) && !found.has(each.accountId)) {
      found.set(each.accountId, each);
    }
  }
  return [...found.values()];
}
