import { createHash } from 'node:crypto';
import { toInt64 } from '../../database/typed-collection.js';
import { addDays } from '../../shared/business-time.js';
import { splitIntoChunks, iterateInSlices } from '../../shared/collections.js';
import { findMismatch } from '../decide-deposit.js';
import { BankLineModel, decidedStatuses, type BankLine } from './bank-line.model.js';
import { findCandidates, filterInTime, type Candidate } from './find-candidates.js';
import { isSingleMatch, getPaidDepositIds, shownMax, type LineMatchResult } from './line-match.js';
import { matchLinesByText } from './match-lines-by-text.js';
import { isDoubtfulText } from './correction-text.js';
import { findTakenBack, type Corrections } from './find-taken-back.js';
import { findNamedDeposits, type StatementNames } from './find-named-deposits.js';
import { getDaysAround, sameWithinDays } from './bank-lines.js';
import { getDayRange, type BankStatement, type IncomingLine } from './read-bank-statement.js';

export interface PlannedLine extends IncomingLine, LineMatchResult {
  /**
   * True if a decided line outside this statement has the same amount and is at most a
   * day apart. It may be the same payment in another export with another text.
   */
  sameBefore: boolean;
}

/** The deposits that a bank statement would confirm now. */
export interface StatementPlan extends Omit<BankStatement, 'incoming'> {
  lines: PlannedLine[];
  /** Corrections by the bank that are not stored yet, and the payments that they take back. */
  taken: Corrections;
  /**
   * Hash of the lines and of the deposits that they would confirm. Equal plans have equal
   * fingerprints.
   */
  fingerprint: string;
}

const chunkSize = 1_000;

/** Matches a bank statement with pending deposits. This writes nothing. */
export async function planStatement(statement: BankStatement): Promise<StatementPlan> {
  const { incoming, ...rest } = statement;
  const stored = await findStoredLines(incoming);
  const taken = await findTakenBack(statement, stored);
  const open = incoming.filter(({ key }) => (stored.get(key)?.status ?? 'open') === 'open');
  const fresh = open.filter(({ key }) => !taken.takenBack.has(key));
  const { byAmount, named, isNamed } = await findByText(fresh);
  const { named: lost } = await findByText(open.filter(({ key }) => taken.takenBack.has(key)));
  const paid = getPaidDepositIds(named.values());
  // A line that names another deposit may still pay a deposit of its amount, so it counts here.
  const alone = await findUniqueAmounts(fresh.filter(({ key }) => !isSingleMatch(named.get(key)?.match)));
  const sameBefore = await findDecidedElsewhere(fresh, stored);
  const lines: PlannedLine[] = [];
  const unnamed = new Map<string, LineMatchResult>();
  for await (const line of iterateInSlices(incoming)) {
    const known = stored.get(line.key)?.status ?? 'open';
    const status = known === 'open' && taken.takenBack.has(line.key) ? 'taken-back' : known;
    const sameDay = `${line.amount} ${line.day}`;
    if (status === 'open' && !named.has(line.key) && !unnamed.has(sameDay)) {
      const left = (byAmount.get(line.amount) ?? []).filter(({ _id, hasLine }) => !hasLine && !paid.has(_id));
      const isAlone = alone.has(line.amount) && !sameBefore.has(sameDay);
      unnamed.set(sameDay, matchAmount(line, left, { isAlone, isNamed }));
    }
    const matched = named.get(line.key) ?? unnamed.get(sameDay) ?? { match: 'none', deposits: [] };
    const isDoubtful =
      taken.doubtful.has(line.key) || (matched.match === 'amount' && isDoubtfulText(line.description));
    const found = isDoubtful ? downgradeMatch(matched) : matched;
    lines.push({
      ...line,
      ...(status === 'open' || status === 'correction'
        ? found
        : { match: status, deposits: lost.get(line.key)?.deposits ?? [] }),
      sameBefore: status === 'open' && sameBefore.has(sameDay),
    });
  }
  return { ...rest, lines, taken, fingerprint: computeFingerprint(lines, taken) };
}

async function findByText(lines: readonly IncomingLine[]) {
  const byAmount = await findCandidates(lines);
  const { byLine, isNamed } = await findNamedDeposits(lines, byAmount);
  return { byAmount, isNamed, named: await matchLinesByText(lines, byLine, byAmount) };
}

/** Leaves a line that the bank may have taken back to the operator. */
function downgradeMatch({ match, deposits }: LineMatchResult): LineMatchResult {
  return { match: isSingleMatch(match) || match === 'amount' ? 'several' : match, deposits };
}

/** Finds lines that earlier statements contained, by key. */
export async function findStoredLines(lines: readonly IncomingLine[]): Promise<Map<string, BankLine>> {
  const found = new Map<string, BankLine>();
  for (const some of splitIntoChunks(lines, chunkSize)) {
    const keys = some.map(({ key }) => key);
    for (const each of await BankLineModel.find({ key: { $in: keys } }).lean<BankLine[]>()) {
      found.set(each.key, each);
    }
  }
  return found;
}

interface AmountContext {
  /**
   * True if no other open line has this amount, and no decided line may be the same
   * payment.
   */
  isAlone: boolean;
  isNamed: StatementNames['isNamed'];
}

/**
 * Matches a line by its amount alone. A deposit that another line names is not matched. If the text
 * is truncated, the cut part may name another deposit.
 * @param left Deposits with the line's amount that no text identifies as paid.
 */
function matchAmount(
  { amount, day, isWhole }: IncomingLine,
  left: readonly Candidate[],
  { isAlone, isNamed }: AmountContext,
): LineMatchResult {
  const all = filterInTime(day, left);
  const waiting = all.filter((each) => findMismatch(each, amount) === null);
  const deposits = [...new Set([...waiting, ...all])].slice(0, shownMax);
  if (all.length === 0) {
    return { match: 'none', deposits };
  }
  if (waiting.length === 0) {
    return { match: 'decided', deposits };
  }
  const isSure = isAlone && isWhole && all.length === 1 && !waiting.some(isNamed);
  return { match: isSure ? 'amount' : 'several', deposits };
}

/** Finds amounts that exactly one line has, among the given lines and the stored open lines. */
async function findUniqueAmounts(lines: readonly IncomingLine[]): Promise<Set<number>> {
  const lineOf = new Map<number, Set<string>>();
  const add = (amount: number, key: string) => lineOf.set(amount, (lineOf.get(amount) ?? new Set()).add(key));
  lines.forEach(({ amount, key }) => add(amount, key));
  const amounts = [...lineOf.keys()];
  for (const some of splitIntoChunks(amounts, chunkSize)) {
    const open = await BankLineModel.aggregate<{ _id: number; first: string; last: string }>([
      { $match: { status: 'open', amount: { $in: some.map(toInt64) } } },
      // Two keys are enough to show that the amount is not unique.
      { $group: { _id: '$amount', first: { $min: '$key' }, last: { $max: '$key' } } },
    ]);
    open.forEach(({ _id, first, last }) => [first, last].forEach((key) => add(_id, key)));
  }
  return new Set(amounts.filter((amount) => lineOf.get(amount)?.size === 1));
}

/**
 * Finds the pairs of amount and day (`50000 2026-11-23`) that have a decided line at most a day
 * apart. Lines of this statement do not count: two lines in one statement are two payments.
 */
async function findDecidedElsewhere(
  lines: readonly IncomingLine[],
  stored: ReadonlyMap<string, BankLine>,
): Promise<Set<string>> {
  const decided = new Map<string, number>();
  const add = (amount: number, day: string, more: number) =>
    decided.set(`${amount} ${day}`, (decided.get(`${amount} ${day}`) ?? 0) + more);
  const { first, last } = getDayRange(lines) ?? { first: '', last: '' };
  for (const some of splitIntoChunks([...new Set(lines.map(({ amount }) => amount))], chunkSize)) {
    // A line that is reopened and decided again during the read can count twice. This can make a
    // match less certain, never more certain.
    const found = await BankLineModel.aggregate<{ _id: { amount: number; day: string }; count: number }>([
      {
        $match: {
          status: { $in: [...decidedStatuses] },
          amount: { $in: some.map(toInt64) },
          day: { $gte: addDays(first, -sameWithinDays), $lte: addDays(last, sameWithinDays) },
        },
      },
      { $group: { _id: { amount: '$amount', day: '$day' }, count: { $sum: 1 } } },
    ]);
    found.forEach(({ _id: { amount, day }, count }) => add(amount, day, count));
  }
  for await (const { amount, day, status } of iterateInSlices(stored.values())) {
    if (status !== 'open') {
      add(amount, day, -1);
    }
  }
  const same = new Set<string>();
  if (decided.size === 0) {
    return same;
  }
  for await (const { amount, day } of iterateInSlices(lines)) {
    if (getDaysAround(day).some((each) => (decided.get(`${amount} ${each}`) ?? 0) > 0)) {
      same.add(`${amount} ${day}`);
    }
  }
  return same;
}

/** Kinds of matches that the operator trusts in addition to matches by our own id. */
export interface TrustedMatches {
  /**
   * Also trust lines with a deposit's `ref_id`. The client chose the `ref_id` and may have used
   * words of another payer's transfer.
   */
  byReference?: boolean | undefined;
  /** Also trust lines that match by the amount alone. */
  byAmount?: boolean | undefined;
}

/** Returns the lines whose deposits are confirmed with the statement. */
export function selectConfirmable(
  lines: readonly PlannedLine[],
  { byReference = false, byAmount = false }: TrustedMatches,
): PlannedLine[] {
  return lines.filter(
    ({ match }) =>
      match === 'named' || (byReference && match === 'referenced') || (byAmount && match === 'amount'),
  );
}

function computeFingerprint(lines: readonly PlannedLine[], { pairs, unpaired }: Corrections): string {
  const hash = createHash('sha256');
  for (const { key } of lines) {
    hash.update(key);
  }
  for (const { correction, payment } of pairs) {
    hash.update(JSON.stringify([correction.key, payment.key, payment.status]));
  }
  for (const { key } of unpaired) {
    hash.update(key);
  }
  for (const { key, match, deposits } of selectConfirmable(lines, { byReference: true, byAmount: true })) {
    hash.update(JSON.stringify([key, match, deposits[0]?._id]));
  }
  return hash.digest('hex');
}
