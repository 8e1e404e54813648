import { businessDayOf } from '../../shared/business-time.js';
import { chunksOf } from '../../shared/chunks-of.js';
import { inSlices } from '../../shared/in-slices.js';
import { deposits, type Deposit } from '../deposit.model.js';
import { askedForWithin, candidatesMax, inTimeFor } from './find-candidates.js';
import { nameOf, namesIn } from './named-in.js';
import { unreadable, type IncomingLine } from './read-bank-statement.js';

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
  const references = lines.length === 0 ? new Map<string, Waiting[]>() : await waitingByReference(lines);
  const said: { key: string; ids: string[]; byReference: Waiting[] }[] = [];
  // A text can be said to have hundreds of names in it: of each line only those are kept that are somebody's, or may be.
  for await (const { key, day, description } of inSlices(lines)) {
    const names = [...namesIn(description)];
    const ids = names.filter((name) => ourId.test(name)).map((name) => name.toLowerCase());
    const byReference = names.flatMap((name) => references.get(name) ?? []);
    if (ids.length > 0 || byReference.length > 0) {
      said.push({ key, ids, byReference: inTimeFor(day, byReference) });
    }
  }
  const known = await depositsOf(new Set(said.flatMap(({ ids }) => ids)));
  return new Map(
    said.map(({ key, ids, byReference }) => [
      key,
      { byId: ids.flatMap((id) => known.get(id) ?? []), byReference },
    ]),
  );
}

async function depositsOf(ids: ReadonlySet<string>): Promise<Map<string, NamedDeposit>> {
  const known = new Map<string, NamedDeposit>();
  for (const some of chunksOf([...ids], atOnce)) {
    for await (const each of deposits.find({ _id: { $in: some } }).project<NamedDeposit>(projection)) {
      known.set(each._id, each);
    }
  }
  return known;
}

type Waiting = NamedDeposit & { day: string };

async function waitingByReference(lines: readonly IncomingLine[]): Promise<Map<string, Waiting[]>> {
  const byName = new Map<string, Waiting[]>();
  const waiting = deposits
    .find({ status: 'pending', createdAt: askedForWithin(lines) })
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
