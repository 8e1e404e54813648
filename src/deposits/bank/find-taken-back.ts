import { toInt64 } from '../../database/typed-collection.js';
import { addDays } from '../../shared/business-time.js';
import { splitIntoChunks } from '../../shared/collections.js';
import { BankLineModel, type BankLine, type BankLineStatus } from './bank-line.model.js';
import { sameWithinDays } from './bank-lines.js';
import { findReferred } from './find-referred.js';
import { findCorrectionWord, findTellingWords, scoreOverlap } from './correction-text.js';
import {
  pairCorrections,
  correctedWithinDays,
  type Correctable,
  type Correcting,
} from './pair-corrections.js';
import {
  getDayRange,
  type BankStatement,
  type CorrectionLine,
  type IncomingLine,
} from './read-bank-statement.js';
import { buildUnreadableError } from './statement-line.js';

/** A payment of this statement or of an earlier one. */
export interface KnownPayment extends Correctable {
  /** Line in this statement. Null for a payment of an earlier statement only. */
  line: number | null;
  status: BankLineStatus;
  depositId: string | null;
}

/** A correction of this statement, or one of an earlier statement that takes back a line of this one. */
export interface KnownCorrection extends Correcting {
  line: number | null;
  day: string;
}

/** A correction and the payment that it takes back. */
export interface TakenBack {
  correction: KnownCorrection;
  payment: KnownPayment;
}

export interface Corrections {
  /** Pairs that are not stored yet. */
  pairs: TakenBack[];
  /** Corrections of this statement without a payment. */
  unpaired: CorrectionLine[];
  /** Keys of lines of this statement that no deposit may be credited with. */
  takenBack: Set<string>;
  /** Keys of lines that may have been taken back. Only an operator decides them. */
  doubtful: Set<string>;
}

/** Maximum number of corrections in a statement. Each may concern any line of its amount. */
const correctionsMax = 1_000;
const chunkSize = 1_000;

/**
 * Finds the payments that the bank took back, in this statement and in earlier ones, and the lines of
 * this statement that take back an outgoing payment.
 * @param stored The lines of this statement that earlier statements contained, by key.
 * @throws ValidationError if the statement has more than `correctionsMax` corrections.
 */
export async function findTakenBack(
  { incoming, corrections, outgoingLines }: Pick<BankStatement, 'incoming' | 'corrections' | 'outgoingLines'>,
  stored: ReadonlyMap<string, BankLine>,
): Promise<Corrections> {
  if (corrections.length > correctionsMax) {
    throw buildUnreadableError(`it has more than ${correctionsMax} corrections. Upload fewer days at a time`);
  }
  const known = await findStoredCorrections(corrections, incoming);
  const fresh = corrections.filter(({ key }) => !known.paired.has(key));
  const here = incoming.map((line) => toKnownPayment(line, stored.get(line.key)));
  const earlier = await findEarlierPayments(fresh, new Set(incoming.map(({ key }) => key)));
  const { pairs, doubtful } = await pairCorrections<CorrectionLine | KnownCorrection, KnownPayment>(
    [...fresh, ...known.unpaired.filter(({ key }) => !fresh.some((each) => each.key === key))],
    [...here.filter(({ key }) => !isPaired(stored.get(key))), ...earlier],
  );
  const reversing = await pairCorrections(
    incoming.filter(({ description }) => findCorrectionWord(description) !== null),
    outgoingLines.flatMap(({ line, day, ...rest }) =>
      day === null ? [] : [{ ...rest, day, key: `outgoing ${line}`, isFree: true }],
    ),
  );
  const paired = new Set(pairs.map(({ correction }) => correction.key));
  for (const { key, isReversal, isUnproven } of incoming) {
    const line = stored.get(key);
    // A correction that says so openly, a doubtful amount, or a line that an operator has reopened.
    if (isReversal || isUnproven || (line?.status === 'open' && isPaired(line))) {
      doubtful.add(key);
    }
  }
  const alone = fresh.filter(({ key }) => !paired.has(key));
  const done = new Set(corrections.filter((each) => !alone.includes(each)).map(({ line }) => line));
  for (const key of [
    ...(await findTakenBackElsewhere(incoming, stored)),
    ...(await findReferred(
      outgoingLines.filter(({ line }) => !done.has(line)),
      incoming,
      'same-amount',
    )),
    ...(await findReferred(alone, incoming, 'any-amount')),
  ]) {
    doubtful.add(key);
  }
  return {
    pairs: pairs.flatMap(({ correction, line: payment }) =>
      correction.day === null ? [] : [{ correction: { ...correction, day: correction.day }, payment }],
    ),
    unpaired: alone,
    takenBack: new Set([
      ...pairs.map(({ line }) => line.key),
      ...reversing.pairs.map(({ correction }) => correction.key),
    ]),
    doubtful,
  };
}

function isPaired(line: BankLine | undefined): boolean {
  return typeof line?.counterpartId === 'string';
}

function toKnownPayment(
  { key, day, amount, description, line }: Omit<IncomingLine, 'line' | 'isWhole'> & { line: number | null },
  stored: BankLine | undefined,
): KnownPayment {
  const { status = 'open', depositId = null } = stored ?? {};
  return { key, day, amount, description, line, status, depositId, isFree: status !== 'used' };
}

/** Finds corrections of earlier statements: paired ones by key, and unpaired ones of these amounts. */
async function findStoredCorrections(
  corrections: readonly CorrectionLine[],
  incoming: readonly IncomingLine[],
): Promise<{ paired: Set<string>; unpaired: KnownCorrection[] }> {
  const paired = new Set<string>();
  for (const some of splitIntoChunks(corrections, chunkSize)) {
    const found = await BankLineModel.find({ key: { $in: some.map(({ key }) => key) } }).lean<BankLine[]>();
    found.filter(isPaired).forEach(({ key }) => paired.add(key));
  }
  const unpaired = await findNear(incoming, ['correction']);
  return {
    paired,
    unpaired: unpaired.map(({ key, day, amount, description }) => ({
      key,
      day,
      amount,
      description,
      line: null,
    })),
  };
}

/** Finds the payments of earlier statements that these corrections may take back. */
async function findEarlierPayments(
  corrections: readonly CorrectionLine[],
  here: ReadonlySet<string>,
): Promise<KnownPayment[]> {
  const dated = corrections.flatMap(({ amount, day }) => (day === null ? [] : [{ amount, day }]));
  const found = await findNear(dated, ['open', 'used', 'set-aside']);
  return found
    .filter(({ key }) => !here.has(key))
    .map((each) => toKnownPayment({ ...each, line: null }, each));
}

/** Finds unpaired lines of these amounts, whose days are near. */
async function findNear(
  lines: readonly { amount: number; day: string }[],
  statuses: BankLineStatus[],
): Promise<BankLine[]> {
  const range = getDayRange(lines);
  const found: BankLine[] = [];
  for (const some of splitIntoChunks([...new Set(lines.map(({ amount }) => amount))], chunkSize)) {
    found.push(
      ...(await BankLineModel.find({
        status: { $in: statuses },
        amount: { $in: some.map(toInt64) },
        day: {
          $gte: addDays(range?.first ?? '', -correctedWithinDays),
          $lte: addDays(range?.last ?? '', correctedWithinDays),
        },
        counterpartId: null,
      }).lean<BankLine[]>()),
    );
  }
  return found;
}

/**
 * Finds lines that may be a payment of another export that the bank took back: equal amount, at most a
 * day apart, and a text that shares a reference or a name.
 */
async function findTakenBackElsewhere(
  incoming: readonly IncomingLine[],
  stored: ReadonlyMap<string, BankLine>,
): Promise<string[]> {
  const fresh = incoming.filter(({ key }) => (stored.get(key)?.status ?? 'open') === 'open');
  const range = getDayRange(fresh);
  const keys = new Set(incoming.map(({ key }) => key));
  const found: BankLine[] = [];
  for (const some of splitIntoChunks([...new Set(fresh.map(({ amount }) => amount))], chunkSize)) {
    found.push(
      ...(await BankLineModel.find({
        status: 'taken-back',
        amount: { $in: some.map(toInt64) },
        day: {
          $gte: addDays(range?.first ?? '', -sameWithinDays),
          $lte: addDays(range?.last ?? '', sameWithinDays),
        },
      }).lean<BankLine[]>()),
    );
  }
  const elsewhere = found.filter(({ key }) => !keys.has(key));
  const isSame = (line: IncomingLine, { amount, day, description }: BankLine) =>
    amount === line.amount &&
    Math.abs(Date.parse(day) - Date.parse(line.day)) <= sameWithinDays * 86_400_000 &&
    scoreOverlap(findTellingWords(line.description), findTellingWords(description)) > 0;
  return elsewhere.length === 0
    ? []
    : fresh.filter((line) => elsewhere.some((each) => isSame(line, each))).map(({ key }) => key);
}
