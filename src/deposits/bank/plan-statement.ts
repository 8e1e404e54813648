import { createHash } from 'node:crypto';
import { int64 } from '../../database/money-type.js';
import { daysAfter } from '../../shared/business-time.js';
import { chunksOf } from '../../shared/chunks-of.js';
import { inSlices } from '../../shared/in-slices.js';
import { misfitOf } from '../misfit-of.js';
import { BankLineModel, type BankLine } from './bank-line.model.js';
import { findCandidates, inTimeFor, type Candidate } from './find-candidates.js';
import { nameOf, namesIn } from './named-in.js';
import { namedByTexts, type NamedByText, type NamedDeposit } from './named-otherwise.js';
import { daysAround, sameWithinDays } from './same-before.js';
import { daysOf, type BankStatement, type IncomingLine } from './read-bank-statement.js';

/**
 * What a line is for, in the order in which people look at them. named: its text has our id of the one deposit that waits for
 * this amount. referenced: it has the `ref_id` of one, which its client chose. amount: one deposit waits for it, and only the
 * amount says so. several: of several it could be any. repeated: a line before it is for the same deposit. decided: what it fits
 * to, or names by our id, was credited or rejected before. other-amount: its text names a deposit, and that is of another amount.
 * none: nothing fits. used, set-aside: an earlier statement had it, and that became of it.
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

export interface PlannedLine extends IncomingLine {
  match: LineMatch;
  /**
   * Another line of its amount, at most a day away and not in this statement, was used or set aside: it may be the same payment,
   * which another export tells with another text.
   */
  sameBefore: boolean;
  /** Of `named`, `referenced` and `amount` the one; of others some that it could be. */
  deposits: Pick<NamedDeposit, '_id' | 'accountId' | 'refId' | 'status'>[];
}

/** What a bank statement would confirm, as things are now. */
export interface StatementPlan extends Omit<BankStatement, 'incoming'> {
  lines: PlannedLine[];
  /** Of the file and of each deposit that would be confirmed: the same plan again has the same. */
  fingerprint: string;
}

const atOnce = 1_000;
const shownMax = 5;

/** Holds a bank statement against the deposits that wait. Changes nothing. */
export async function planStatement(statement: BankStatement): Promise<StatementPlan> {
  const { incoming, ...rest } = statement;
  const kept = await keptLines(incoming);
  const fresh = incoming.filter(({ key }) => (kept.get(key)?.status ?? 'open') === 'open');
  const byAmount = await findCandidates(fresh);
  const named = await matchNames(fresh, byAmount);
  matchOtherwise(fresh, await namedByTexts(fresh), named);
  const referenced = fresh.filter(({ key }) => named.get(key)?.match === 'referenced');
  await doubtReferences(referenced, named, byAmount);
  const taken = new Set(
    [...named.values()].flatMap(({ match, deposits: [one] }) => (isOfOne(match) ? [one?._id] : [])),
  );
  const alone = await aloneOfTheirAmount(fresh.filter(({ key }) => !named.has(key)));
  const sameBefore = await decidedElsewhere(fresh, kept);
  const lines: PlannedLine[] = [];
  const unnamed = new Map<string, Matched>();
  for await (const line of inSlices(incoming)) {
    const status = kept.get(line.key)?.status ?? 'open';
    const sameDay = `${line.amount} ${line.day}`;
    if (status === 'open' && !named.has(line.key) && !unnamed.has(sameDay)) {
      const left = (byAmount.get(line.amount) ?? []).filter(
        ({ _id, hasLine }) => !hasLine && !taken.has(_id),
      );
      const isAlone = alone.has(line.amount) && !sameBefore.has(sameDay);
      unnamed.set(sameDay, matchAmount(line, left, isAlone));
    }
    const matched =
      status === 'open' ? (named.get(line.key) ?? unnamed.get(sameDay)) : { match: status, deposits: [] };
    lines.push({
      ...line,
      ...(matched ?? { match: 'none', deposits: [] }),
      sameBefore: status === 'open' && sameBefore.has(sameDay),
    });
  }
  return { ...rest, lines, fingerprint: fingerprintOf(lines) };
}

/** Which of these an earlier statement had, by key. */
export async function keptLines(lines: readonly IncomingLine[]): Promise<Map<string, BankLine>> {
  const found = new Map<string, BankLine>();
  for (const some of chunksOf(lines, atOnce)) {
    const keys = some.map(({ key }) => key);
    for (const each of await BankLineModel.find({ key: { $in: keys } }).lean<BankLine[]>()) {
      found.set(each.key, each);
    }
  }
  return found;
}

type Matched = Pick<PlannedLine, 'match' | 'deposits'>;

/** Lines whose text names a deposit, by key. */
async function matchNames(
  lines: readonly IncomingLine[],
  byAmount: ReadonlyMap<number, Candidate[]>,
): Promise<Map<string, Matched>> {
  const byName = new Map<string, Candidate[]>();
  for await (const each of inSlices([...byAmount.values()].flat())) {
    for (const name of new Set([nameOf(each.refId), nameOf(each._id)])) {
      if (name !== null) {
        const all = byName.get(`${each.amount} ${name}`) ?? [];
        all.push(each);
        byName.set(`${each.amount} ${name}`, all);
      }
    }
  }
  const matched = new Map<string, Matched>();
  const taken = new Set<string>();
  for await (const line of inSlices(lines)) {
    const { key, amount, day } = line;
    const names = namesIn(line.description);
    const fitting = [...names].flatMap((name) => byName.get(`${amount} ${name}`) ?? []);
    const all = fitting.length === 0 ? [] : inTimeFor(day, [...new Set(fitting)]);
    const [one] = all;
    if (one) {
      const match =
        all.length > 1
          ? matchOfMany(all, amount)
          : matchOfOne(one, { amount, names, isTaken: taken.has(one._id) });
      matched.set(key, { match, deposits: all.slice(0, shownMax) });
      if (isOfOne(match)) {
        taken.add(one._id);
      }
    }
  }
  return matched;
}

/**
 * Lines whose texts name deposits of other amounts. Our own id outweighs whatever else fits; a `ref_id`, which its client chose,
 * what the amount alone would say.
 */
function matchOtherwise(
  lines: readonly IncomingLine[],
  namedBy: ReadonlyMap<string, NamedByText>,
  matched: Map<string, Matched>,
): void {
  for (const { key, amount } of lines) {
    const { byId = [], byReference = [] } = namedBy.get(key) ?? {};
    const match = matched.get(key)?.match;
    if (byId.length > 0 && (match === undefined || match === 'referenced')) {
      matched.set(key, { match: matchOfMisfit(byId, amount), deposits: byId.slice(0, shownMax) });
    } else if (byReference.length > 0 && match === undefined) {
      matched.set(key, { match: 'other-amount', deposits: byReference.slice(0, shownMax) });
    }
  }
}

/** One of its amount that waits, and is named by our id, was asked for too long ago: it would have been found. */
function matchOfMisfit(named: readonly NamedDeposit[], amount: number): LineMatch {
  const waiting = named.filter(({ status }) => status === 'pending');
  if (waiting.length === 0) {
    return 'decided';
  }
  return waiting.some((each) => each.amount !== amount) ? 'other-amount' : 'none';
}

function matchOfOne(
  deposit: Candidate,
  { amount, names, isTaken }: { amount: number; names: ReadonlySet<string>; isTaken: boolean },
): LineMatch {
  if (misfitOf(deposit, amount) !== null) {
    return 'decided';
  }
  if (isTaken) {
    return 'repeated';
  }
  return names.has(nameOf(deposit._id) ?? '') ? 'named' : 'referenced';
}

/**
 * A client chooses its `ref_id`: it may be a word of everybody's lines, or of those of one customer who pays that amount. Where a
 * deposit of another account, named by no line, waits for that amount too, it says nothing. Our own id always does.
 */
async function doubtReferences(
  referenced: readonly IncomingLine[],
  matched: Map<string, Matched>,
  byAmount: ReadonlyMap<number, Candidate[]>,
): Promise<void> {
  const named = new Set([...matched.values()].flatMap(({ deposits: [one] }) => one?._id ?? []));
  const unnamed = new Map<string, Candidate[]>();
  for await (const { key, amount, day } of inSlices(referenced)) {
    const [one] = matched.get(key)?.deposits ?? [];
    const place = `${amount} ${day}`;
    const waiting = unnamed.get(place) ?? oneOfEachAccount(inTimeFor(day, byAmount.get(amount) ?? []), named);
    unnamed.set(place, waiting);
    const others = waiting.filter(({ accountId }) => accountId !== one?.accountId);
    if (one && others.length > 0) {
      matched.set(key, { match: 'several', deposits: [one, ...others].slice(0, shownMax) });
    }
  }
}

/** Of some accounts that wait and are not named: so many that one is left, whosever the line is. */
function oneOfEachAccount(all: readonly Candidate[], named: ReadonlySet<string>): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const each of all) {
    if (found.size >= shownMax) {
      break;
    }
    if (misfitOf(each, each.amount) === null && !named.has(each._id) && !found.has(each.accountId)) {
      found.set(each.accountId, each);
    }
  }
  return [...found.values()];
}

function matchOfMany(all: readonly Candidate[], amount: number): LineMatch {
  return all.some((each) => misfitOf(each, amount) === null) ? 'several' : 'decided';
}

/** @param isAlone No other line of this amount waits for its deposit, and none can be the same payment. */
function matchAmount({ amount, day }: IncomingLine, left: readonly Candidate[], isAlone: boolean): Matched {
  const all = inTimeFor(day, left);
  const waiting = all.filter((each) => misfitOf(each, amount) === null);
  const deposits = [...new Set([...waiting, ...all])].slice(0, shownMax);
  if (all.length === 0) {
    return { match: 'none', deposits };
  }
  if (waiting.length === 0) {
    return { match: 'decided', deposits };
  }
  return { match: all.length === 1 && isAlone ? 'amount' : 'several', deposits };
}

/** Amounts of which there is one line alone, in this statement and among those that earlier ones left open. */
async function aloneOfTheirAmount(lines: readonly IncomingLine[]): Promise<Set<number>> {
  const lineOf = new Map<number, Set<string>>();
  const add = (amount: number, key: string) => lineOf.set(amount, (lineOf.get(amount) ?? new Set()).add(key));
  lines.forEach(({ amount, key }) => add(amount, key));
  const amounts = [...lineOf.keys()];
  for (const some of chunksOf(amounts, atOnce)) {
    const open = await BankLineModel.aggregate<{ _id: number; first: string; last: string }>([
      { $match: { status: 'open', amount: { $in: some.map(int64) } } },
      // Two are enough to know that it is not alone, whichever they are.
      { $group: { _id: '$amount', first: { $min: '$key' }, last: { $max: '$key' } } },
    ]);
    open.forEach(({ _id, first, last }) => [first, last].forEach((key) => add(_id, key)));
  }
  return new Set(amounts.filter((amount) => lineOf.get(amount)?.size === 1));
}

/**
 * Amounts and days (`50000 2026-11-23`) of lines of which another one, at most a day away, was used or set aside, but for those
 * that this statement has as well: what stands beside a line in one statement is another payment.
 */
async function decidedElsewhere(
  lines: readonly IncomingLine[],
  kept: ReadonlyMap<string, BankLine>,
): Promise<Set<string>> {
  const decided = new Map<string, number>();
  const add = (amount: number, day: string, more: number) =>
    decided.set(`${amount} ${day}`, (decided.get(`${amount} ${day}`) ?? 0) + more);
  const { first, last } = daysOf(lines) ?? { first: '', last: '' };
  for (const some of chunksOf([...new Set(lines.map(({ amount }) => amount))], atOnce)) {
    const found = await BankLineModel.aggregate<{ _id: { amount: number; day: string }; count: number }>([
      {
        $match: {
          status: { $in: ['used', 'set-aside'] },
          amount: { $in: some.map(int64) },
          day: { $gte: daysAfter(first, -sameWithinDays), $lte: daysAfter(last, sameWithinDays) },
        },
      },
      { $group: { _id: { amount: '$amount', day: '$day' }, count: { $sum: 1 } } },
    ]);
    found.forEach(({ _id: { amount, day }, count }) => add(amount, day, count));
  }
  for await (const { amount, day, status } of inSlices(kept.values())) {
    if (status !== 'open') {
      add(amount, day, -1);
    }
  }
  const same = new Set<string>();
  if (decided.size === 0) {
    return same;
  }
  for await (const { amount, day } of inSlices(lines)) {
    if (daysAround(day).some((each) => (decided.get(`${amount} ${each}`) ?? 0) > 0)) {
      same.add(`${amount} ${day}`);
    }
  }
  return same;
}

/** Its text says of one deposit that it is its payment. */
function isOfOne(match: LineMatch): boolean {
  return match === 'named' || match === 'referenced';
}

/** What is confirmed besides what our own id says. Nobody but the operator answers for it. */
export interface TrustedMatches {
  /** Also lines with the `ref_id` of a deposit: its client chose it, and can have chosen words of somebody else's transfer. */
  byReference?: boolean | undefined;
  /** Also lines for which only the amount speaks. */
  byAmount?: boolean | undefined;
}

/** Lines that are confirmed with a statement. */
export function toConfirm(
  lines: readonly PlannedLine[],
  { byReference = false, byAmount = false }: TrustedMatches,
): PlannedLine[] {
  return lines.filter(
    ({ match }) =>
      match === 'named' || (byReference && match === 'referenced') || (byAmount && match === 'amount'),
  );
}

function fingerprintOf(lines: readonly PlannedLine[]): string {
  const hash = createHash('sha256');
  for (const { key } of lines) {
    hash.update(key);
  }
  for (const { key, match, deposits } of toConfirm(lines, { byReference: true, byAmount: true })) {
    hash.update(JSON.stringify([key, match, deposits[0]?._id]));
  }
  return hash.digest('hex');
}
