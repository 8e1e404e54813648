import { businessDayNamed, businessDayOf, daysAfter } from '../../shared/business-time.js';
import { chunksOf } from '../../shared/chunks-of.js';
import { inSlices } from '../../shared/in-slices.js';
import { deposits, type Deposit } from '../deposit.model.js';
import { candidatesMax, inTimeFor, paidBeforeDays, paidWithinDays } from './find-candidates.js';
import { nameOf, namesIn } from './named-in.js';
import { daysOf, unreadable, type IncomingLine } from './read-bank-statement.js';

export type NamedDeposit = Pick<Deposit, '_id' | 'accountId' | 'refId' | 'amount' | 'status' | 'createdAt'>;

/** What the text of a line names, whatever the amounts are. */
export interface NamedByText {
  /** By our id, which nobody has by chance. */
  byId: NamedDeposit[];
  /** By the `ref_id` of their clients, of those that wait and could be paid by that day. */
  byReference: NamedDeposit[];
}

const ourId = /^[0-9A-F]{32}$/;
const atOnce = 1_000;
const projection = { accountId: 1, refId: 1, amount: 1, status: 1, createdAt: 1 } as const;

/**
 * By the key of the line. A payer who is one rupiah off names the deposit that is meant all the same: that another one has the
 * amount says nothing then.
 * @throws ValidationError where too many deposits wait.
 */
export async function namedByTexts(lines: readonly IncomingLine[]): Promise<Map<string, NamedByText>> {
  const ids = new Map<string, NamedDeposit>();
  const namesOf = new Map<string, ReadonlySet<string>>();
  for await (const { key, description } of inSlices(lines)) {
    namesOf.set(key, namesIn(description));
  }
  const wanted = new Set(
    [...namesOf.values()].flatMap((names) => [...names].filter((each) => ourId.test(each))),
  );
  for (const some of chunksOf([...wanted], atOnce)) {
    const found = deposits
      .find({ _id: { $in: some.map((each) => each.toLowerCase()) } })
      .project<NamedDeposit>(projection);
    for await (const each of found) {
      ids.set(each._id.toUpperCase(), each);
    }
  }
  const references = await waitingByReference(lines);
  const named = new Map<string, NamedByText>();
  for await (const { key, day } of inSlices(lines)) {
    const names = [...(namesOf.get(key) ?? [])];
    const byId = names.flatMap((name) => ids.get(name) ?? []);
    const byReference = inTimeFor(
      day,
      names.flatMap((name) => references.get(name) ?? []),
    );
    if (byId.length > 0 || byReference.length > 0) {
      named.set(key, { byId, byReference });
    }
  }
  return named;
}

type Waiting = NamedDeposit & { day: string };

async function waitingByReference(lines: readonly IncomingLine[]): Promise<Map<string, Waiting[]>> {
  const { first, last } = daysOf(lines) ?? { first: '', last: '' };
  const byName = new Map<string, Waiting[]>();
  if (lines.length === 0) {
    return byName;
  }
  const waiting = deposits
    .find({
      status: 'pending',
      createdAt: {
        $gte: new Date(businessDayNamed(daysAfter(first, -paidWithinDays)).startMs),
        $lte: new Date(businessDayNamed(daysAfter(last, paidBeforeDays)).endMs),
      },
    })
    .project<NamedDeposit>(projection)
    .limit(candidatesMax + 1)
    .batchSize(atOnce);
  let count = 0;
  for await (const each of waiting) {
    count += 1;
    const name = nameOf(each.refId);
    if (name !== null) {
      const others = byName.get(name) ?? [];
      others.push({ ...each, day: businessDayOf(each.createdAt).day });
      byName.set(name, others);
    }
  }
  if (count > candidatesMax) {
    throw unreadable(`more than ${candidatesMax} deposits wait. Upload fewer days at a time`);
  }
  return byName;
}
