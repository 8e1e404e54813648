import { type IncomingLine, buildUnreadableError } from './read-bank-statement.js';
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

/** Names that are shorter, have no digit, or digits alone as dates and amounts have, stand in texts by chance. */
const nameMin = 6;
const digitsMin = 10;
/** Words of a text that one name can be written in. */
const wordsMax = 8;

/** A reference as it is looked for: banks write in capitals, and leave out what is neither letter nor digit. Null: it is none that can be found. */
export function buildSearchName(reference: string): string | null {
  const name = normalizeReference(reference);
  const isByChance = !/\d/.test(name) || name.length < (/^\d+$/.test(name) ? digitsMin : nameMin);
  return isByChance ? null : name;
}

/** All names that a line's text can be said to have in it: its words, and several in a row. Where it was cut its last word may be half of one. */
export function findNames({
  description,
  isWhole,
}: Pick<IncomingLine, 'description' | 'isWhole'>): Set<string> {
  const words = (isWhole ? description : description.replace(/\S+$/, ''))
    .split(/[^A-Za-z0-9]+/)
    .filter((each) => each !== '');
  const names = new Set<string>();
  words.forEach((_, start) => {
    let name = '';
    for (const word of words.slice(start, start + wordsMax)) {
      name += word.toUpperCase();
      names.add(name);
    }
  });
  return names;
}

function normalizeReference(text: string): string {
  return text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
}

/** What the text of a line names. References are of deposits that could be paid by that day. */
export interface LineNames {
  /** By our id, which nobody has by chance, whatever their amounts are. */
  byId: DatedDeposit[];
  /** By the `ref_id` of their clients, of the amount of the line, some of them; first those that wait. */
  fitting: DatedDeposit[];
  /** By their `ref_id`, whatever their amounts are: some of those that wait. */
  waiting: DatedDeposit[];
}

export interface StatementNames {
  /** By the key of the line; none of a line that names nothing. */
  byLine: ReadonlyMap<string, LineNames>;
  /** Some line has its id or its reference, whatever the amount of the line is. */
  isNamed: (deposit: Pick<Deposit, '_id' | 'refId'>) => boolean;
}

const ourId = /^[0-9A-F]{32}$/;
const atOnce = 1_000;
/** Two are as many as hundreds. */
const alikeMax = 2;

/**
 * A payer who is one rupiah off names the deposit that is meant all the same: that another one has the amount says nothing then.
 * @param byAmount What `findCandidates` has found for these lines.
 * @throws ValidationError where too many deposits wait.
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
  const said: ({ key: string; ids: string[] } & Omit<LineNames, 'byId'>)[] = [];
  const namesSaid = new Set<string>();
  // A text can be said to have hundreds of names in it: of each line only those are kept that are somebody's, or may be.
  for await (const line of iterateInSlices(lines)) {
    const { key, day, amount } = line;
    const names = [...findNames(line)];
    const ids = names.filter((name) => ourId.test(name)).map((name) => name.toLowerCase());
    const fitting = names.flatMap((name) => ofAmounts.get(`${amount} ${name}`) ?? []);
    const theirs = names.filter((name) => ofAll.has(name));
    theirs.forEach((name) => namesSaid.add(name));
    if (ids.length + fitting.length + theirs.length > 0) {
      const waiting = theirs.flatMap((name) => ofAll.get(name) ?? []);
      said.push({ key, ids, fitting: pickShown(day, fitting), waiting: pickShown(day, waiting) });
    }
  }
  const known = await findDepositsById(new Set(said.flatMap(({ ids }) => ids)));
  return {
    byLine: new Map(
      said.map(({ key, ids, ...rest }) => [key, { byId: ids.flatMap((id) => known.get(id) ?? []), ...rest }]),
    ),
    isNamed: ({ _id, refId }) => known.has(_id) || namesSaid.has(buildSearchName(refId) ?? ''),
  };
}

async function findDepositsById(ids: ReadonlySet<string>): Promise<Map<string, DatedDeposit>> {
  const known = new Map<string, DatedDeposit>();
  for (const some of splitIntoChunks([...ids], atOnce)) {
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
  // A deposit that is decided never waits again, so each is seen once.
  const waiting = deposits
    .find({ status: 'pending', createdAt: getRequestPeriod(lines) })
    .project<UndatedDeposit>(undatedFields)
    .limit(candidatesMax + 1)
    .batchSize(atOnce);
  let count = 0;
  for await (const each of waiting) {
    count += 1;
    addDeposit(byName, withDay(each));
  }
  if (count > candidatesMax) {
    throw buildUnreadableError(`more than ${candidatesMax} deposits wait. Upload fewer days at a time`);
  }
  return byName;
}

/**
 * Of one name, day and status two are kept, which decide as much as more of them: a client can make a thousand deposits whose
 * references differ in a dash, and they would be held against every line that has that name.
 */
function addDeposit(named: DepositsByName, deposit: DatedDeposit, before = ''): void {
  const name = buildSearchName(deposit.refId);
  if (name === null) {
    return;
  }
  const others = named.get(before + name) ?? [];
  const alike = others.filter(({ day, status }) => day === deposit.day && status === deposit.status);
  if (alike.length < alikeMax) {
    others.push(deposit);
    named.set(before + name, others);
  }
}

/** Of those that a line of this day can be the payment of; first those that wait. */
function pickShown(day: string, all: readonly DatedDeposit[]): DatedDeposit[] {
  const inTime = filterInTime(day, all);
  const waiting = inTime.filter(({ status }) => status === 'pending');
  return [...new Set([...waiting, ...inTime])].slice(0, shownMax);
}
