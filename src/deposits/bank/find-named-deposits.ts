import type { IncomingLine } from './read-bank-statement.js';
import { buildUnreadableError } from './statement-line.js';
import { splitIntoChunks, iterateInSlices } from '../../shared/collections.js';
import { deposits, type Deposit } from '../deposit.model.js';
import {
  getRequestPeriod,
  candidatesMax,
  withDay,
  filterInTime,
  undatedFields,
  type Candidate,
  type DatedDeposit,
  type UndatedDeposit,
} from './find-candidates.js';
import { shownMax } from './line-match.js';

/**
 * Minimum length of a reference. Shorter references, short numbers and references without a digit
 * can occur in a text by chance.
 */
const nameLengthMin = 6;
const numberLengthMin = 10;
/** Maximum number of words of a text that one reference can span. */
const wordsMax = 8;

/**
 * Normalizes a reference for searching, because banks write capitals and drop other characters.
 * Returns null if the reference could occur in a text by chance.
 */
export function buildSearchName(reference: string): string | null {
  const name = normalizeReference(reference);
  const isByChance = !/\d/.test(name) || name.length < (/^\d+$/.test(name) ? numberLengthMin : nameLengthMin);
  return isByChance ? null : name;
}

/** Length of the beginning by which most words of a text are excluded. */
const beginningLength = 4;

/**
 * Returns all possible references in a line's text: single words and sequences of words. The last
 * word of a truncated text is skipped, because it may be incomplete.
 * @param mayBegin False for a beginning that no reference has. Saves most of the work.
 */
export function findNames(
  { description, isWhole }: Pick<IncomingLine, 'description' | 'isWhole'>,
  mayBegin: (beginning: string) => boolean = () => true,
): Set<string> {
  const words = (isWhole ? description : description.replace(/\S+$/, ''))
    .split(/[^A-Za-z0-9]+/)
    .filter((each) => each !== '')
    .map((each) => each.toUpperCase());
  const names = new Set<string>();
  words.forEach((first, start) => {
    const beginning =
      first.length < beginningLength ? words.slice(start, start + beginningLength).join('') : first;
    if (!mayBegin(beginning.slice(0, beginningLength))) {
      return;
    }
    let name = '';
    for (const word of words.slice(start, start + wordsMax)) {
      name += word;
      names.add(name);
    }
  });
  return names;
}

function normalizeReference(text: string): string {
  return text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
}

/**
 * The deposits that a line's text names. A `ref_id` counts only for deposits that the line may pay
 * by its day.
 */
export interface LineNames {
  /** Deposits of any amount that are named by id. An id cannot occur by chance. */
  byId: DatedDeposit[];
  /**
   * Deposits with the line's amount that are named by `ref_id`, pending ones first. At most
   * `shownMax`.
   */
  fitting: DatedDeposit[];
  /** Pending deposits of any amount that are named by `ref_id`. At most `shownMax`. */
  waiting: DatedDeposit[];
}

export interface StatementNames {
  /** The named deposits by the key of the line. Lines that name no deposit are absent. */
  byLine: ReadonlyMap<string, LineNames>;
  /** True if any line names the deposit by id or `ref_id`, whatever its amount. */
  isNamed: (deposit: Pick<Deposit, '_id' | 'refId'>) => boolean;
}

const depositIdPattern = /^[0-9A-F]{32}$/;
const idBeginningPattern = /^[0-9A-F]{4}$/;
const chunkSize = 1_000;
/**
 * Maximum number of deposits kept per name, day and status. Two are enough to make a match
 * ambiguous.
 */
const depositsPerNameMax = 2;

/**
 * Finds the deposits that the lines name. If a payer is one rupiah off, the text still names the
 * right deposit, even if the amount matches another one.
 * @param byAmount The result of `findCandidates` for these lines.
 * @throws ValidationError if more than `candidatesMax` deposits are pending.
 */
export async function findNamedDeposits(
  lines: readonly IncomingLine[],
  byAmount: ReadonlyMap<number, Candidate[]>,
): Promise<StatementNames> {
  const ofAmounts: DepositsByName = new Map();
  for await (const each of iterateInSlices([...byAmount.values()].flat())) {
    addDeposit(ofAmounts, each, `${each.amount} `);
  }
  const ofAll = lines.length === 0 ? new Map<string, never>() : await findWaitingByReference(lines);
  const beginnings = new Set(
    [...ofAmounts.keys()].map((key) => getBeginning(key.slice(key.indexOf(' ') + 1))),
  );
  for (const name of ofAll.keys()) {
    beginnings.add(getBeginning(name));
  }
  const mayBegin = (beginning: string) => beginnings.has(beginning) || idBeginningPattern.test(beginning);
  const matches: ({ key: string; ids: string[] } & Omit<LineNames, 'byId'>)[] = [];
  const namesSaid = new Set<string>();
  // A text can yield hundreds of names, so only names that may match are kept.
  for await (const line of iterateInSlices(lines)) {
    const { key, day, amount } = line;
    const names = [...findNames(line, mayBegin)];
    const ids = names.filter((name) => depositIdPattern.test(name)).map((name) => name.toLowerCase());
    const fitting = names.flatMap((name) => ofAmounts.get(`${amount} ${name}`) ?? []);
    const theirs = names.filter((name) => ofAll.has(name));
    theirs.forEach((name) => namesSaid.add(name));
    if (ids.length + fitting.length + theirs.length > 0) {
      const waiting = theirs.flatMap((name) => ofAll.get(name) ?? []);
      matches.push({ key, ids, fitting: pickShown(day, fitting), waiting: pickShown(day, waiting) });
    }
  }
  const known = await findDepositsById(new Set(matches.flatMap(({ ids }) => ids)));
  return {
    byLine: new Map(
      matches.map(({ key, ids, ...rest }) => [
        key,
        { byId: ids.flatMap((id) => known.get(id) ?? []), ...rest },
      ]),
    ),
    isNamed: ({ _id, refId }) => known.has(_id) || namesSaid.has(buildSearchName(refId) ?? ''),
  };
}

function getBeginning(name: string): string {
  return name.slice(0, beginningLength);
}

async function findDepositsById(ids: ReadonlySet<string>): Promise<Map<string, DatedDeposit>> {
  const known = new Map<string, DatedDeposit>();
  for (const some of splitIntoChunks([...ids], chunkSize)) {
    const found = deposits.find({ _id: { $in: some } }).project<UndatedDeposit>(undatedFields);
    for await (const each of found) {
      known.set(each._id, withDay(each));
    }
  }
  return known;
}

type DepositsByName = Map<string, DatedDeposit[]>;

async function findWaitingByReference(lines: readonly IncomingLine[]): Promise<DepositsByName> {
  const byName: DepositsByName = new Map();
  // A credited or rejected deposit never becomes pending again, so each deposit is read once.
  const waiting = deposits
    .find({ status: 'pending', createdAt: getRequestPeriod(lines) })
    .project<UndatedDeposit>(undatedFields)
    .limit(candidatesMax + 1)
    .batchSize(chunkSize);
  let count = 0;
  for await (const each of waiting) {
    count += 1;
    addDeposit(byName, withDay(each));
  }
  if (count > candidatesMax) {
    throw buildUnreadableError(
      `more than ${candidatesMax} deposits are pending. Upload fewer days at a time`,
    );
  }
  return byName;
}

/**
 * Adds a deposit to its name, at most two per day and status. Two deposits already make a match
 * ambiguous, and a client could create a thousand references that differ only in a dash.
 */
function addDeposit(named: DepositsByName, deposit: DatedDeposit, before = ''): void {
  const name = buildSearchName(deposit.refId);
  if (name === null) {
    return;
  }
  const others = named.get(before + name) ?? [];
  const alike = others.filter(({ day, status }) => day === deposit.day && status === deposit.status);
  if (alike.length < depositsPerNameMax) {
    others.push(deposit);
    named.set(before + name, others);
  }
}

/** Returns deposits that a line of this day may pay, pending ones first. */
function pickShown(day: string, all: readonly DatedDeposit[]): DatedDeposit[] {
  const inTime = filterInTime(day, all);
  const waiting = inTime.filter(({ status }) => status === 'pending');
  return [...new Set([...waiting, ...inTime])].slice(0, shownMax);
}
