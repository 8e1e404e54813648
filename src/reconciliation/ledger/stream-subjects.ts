import { auditEntries } from '../../audit/audit.model.js';
import { quotes } from '../../bills/quote.model.js';
import type { Session } from '../../database/mongo.js';
import { readWithRetries } from './read-pages.js';
import { rawReadOptions } from './read-document.js';
import * as stored from './stored-documents.js';
import type { Subject, SupportingEntry } from './subject.js';
import type { Collection, Document } from 'mongodb';
import { asUntyped, type AnyDocument } from '../../database/typed-collection.js';
import { deposits } from '../../deposits/deposit.model.js';
import { sellerCredits } from '../../money/credits/seller-credit.model.js';
import { journals } from '../../money/journals/journal.model.js';
import { orders } from '../../purchases/order.model.js';
import { purchases } from '../../purchases/purchase.model.js';
import { settlements } from '../../settlements/settlement.model.js';
import { buildBatchReader, createKeyedStream, findSmallestKey, type KeyedStream } from './keyed-stream.js';
import type { LedgerFinding } from './ledger-report.js';

/** Adds the quotes that the purchases among these subjects pay. Needs one query. */
export async function addQuotes(subjects: Subject[], session: Session | null): Promise<void> {
  const ids = subjects.flatMap(({ purchase }) => purchase?.quoteId ?? []);
  if (ids.length === 0) {
    return;
  }
  const options = { ...rawReadOptions, projection: stored.quotes.fields, ...(session && { session }) };
  const found = await readWithin(session, () => quotes.find({ _id: { $in: ids } }, options).toArray());
  const byId = new Map(found.map((each) => [each._id, each]));
  for (const subject of subjects) {
    const raw = byId.get(subject.purchase?.quoteId ?? '');
    subject.quote = raw ? stored.quotes.read(raw, subject.problems) : null;
  }
}

/**
 * For each kind of subject, the actions of a person or a notification that need an audit entry.
 * Sales and failures need none, because their attempts prove them.
 */
const supportingActions = {
  deposit: ['deposit.confirm'],
  settlement: ['settlement.completed', 'settlement.failed'],
  transaction: ['transaction.reverse'],
};

/** Adds the required audit entries to these subjects. Needs one query per kind. */
export async function addSupportingEntries(subjects: Subject[], session: Session | null): Promise<void> {
  const byId = new Map(subjects.map((each) => [each.id, each]));
  const concerned = {
    deposit: subjects.filter((each) => each.deposit),
    settlement: subjects.filter((each) => each.settlement),
    transaction: subjects.filter(({ purchase }) => purchase?.status === 'REFUNDED'),
  };
  for (const kind of ['deposit', 'settlement', 'transaction'] as const) {
    const ids = concerned[kind].map((each) => each.id);
    for (const entry of ids.length > 0 ? await readSupportingEntries(kind, ids, session) : []) {
      byId.get(entry.subjectId)?.supportingEntries.push(entry);
    }
  }
}

async function readSupportingEntries(
  kind: keyof typeof supportingActions,
  ids: string[],
  session: Session | null,
): Promise<SupportingEntry[]> {
  const filter = {
    'subject.kind': kind,
    'subject.id': { $in: ids },
    action: { $in: supportingActions[kind] },
  };
  const projection = { 'subject.id': 1, action: 1, 'after.amount': 1 };
  const options = { projection, ...(session && { session }) };
  const found = await readWithin(session, () => auditEntries.find(filter, options).toArray());
  return found.map(({ subject, action, after }) => {
    const amount = (after as { amount?: unknown } | null | undefined)?.amount;
    return { subjectId: subject.id, action, amount: typeof amount === 'number' ? amount : null };
  });
}

/** Reads with retries. Within a database transaction the caller retries the whole transaction. */
function readWithin<T>(session: Session | null, read: () => Promise<T>): Promise<T> {
  return session ? read() : readWithRetries(read);
}

interface Source {
  collection: Collection<AnyDocument>;
  /** The indexed field that orders the documents. */
  by: string;
  fields: Document;
  /** Maps a key to the id of its subject. By default the key is that id. */
  subjectOf?: (key: string) => string;
  /** Returns the keys of a subject. By default its id is the only key. */
  keysOf?: (id: string) => string[];
  filter?: Document;
}

const reversalSuffix = '-reversal';

/**
 * The collections that hold documents of a subject. A new collection needs a row here and a field
 * of `Subject`.
 */
const sources = {
  journals: defineSource(journals, { by: 'subjectId', fields: stored.journals.fields }),
  purchases: defineSource(purchases, { by: '_id', fields: stored.purchases.fields }),
  orders: defineSource(orders, { by: 'transactionId', fields: stored.orders.fields }),
  credits: defineSource(sellerCredits, {
    by: '_id',
    fields: stored.credits.fields,
    // The key is `<purchase>` or `<purchase>-reversal`. The two are adjacent in the index.
    subjectOf: (id) => (id.endsWith(reversalSuffix) ? id.slice(0, -reversalSuffix.length) : id),
    keysOf: (id) => [id, id + reversalSuffix],
  }),
  deposits: defineSource(deposits, { by: '_id', fields: stored.deposits.fields }),
  settlements: defineSource(settlements, { by: '_id', fields: stored.settlements.fields }),
  posted: defineSource(sellerCredits, {
    by: 'postingId',
    fields: stored.credits.fields,
    filter: { $type: 'string' },
  }),
};
type SourceName = keyof typeof sources;
type RawSubject = Record<SourceName, Document[]> & { id: string };

/** Number of subjects whose quotes and audit entries are read together. */
const chunkSize = 100;

/**
 * Streams all subjects by ascending id, a hundred at a time. It merges all collections in the order
 * of their indexes, so memory stays constant. Writes continue during the scan, so read suspected
 * errors again with `readSubjects` before you report them.
 * @param onOdd Receives documents whose key is not a string. They belong to no subject.
 */
export async function* streamSubjects(
  onOdd: (finding: { collection: string; field: string; document: Document }) => void,
): AsyncGenerator<Subject[], void> {
  const streams = Object.fromEntries(
    Object.entries(sources).map(([name, each]) => [name, openStream(each, onOdd)]),
  ) as Record<SourceName, KeyedStream>;
  const all = Object.values(streams);
  let chunk: RawSubject[] = [];
  for (let id = await findSmallestKey(all); id !== null; id = await findSmallestKey(all)) {
    chunk.push({
      id,
      journals: streams.journals.take(id),
      purchases: streams.purchases.take(id),
      orders: streams.orders.take(id),
      credits: streams.credits.take(id),
      deposits: streams.deposits.take(id),
      settlements: streams.settlements.take(id),
      posted: streams.posted.take(id),
    });
    if (chunk.length === chunkSize) {
      yield await decodeSubjects(chunk, null);
      chunk = [];
    }
  }
  yield await decodeSubjects(chunk, null);
}

/** Returns the collections and fields whose order the verification relies on. */
export function listSubjectKeys(): { collection: Collection<AnyDocument>; field: string }[] {
  const rows = Object.values(sources).filter((each) => each.filter === undefined);
  return rows.map(({ collection, by }) => ({ collection, field: by }));
}

/** Reads these subjects in the given order, at the snapshot of the caller's transaction. */
export async function readSubjects(session: Session, ids: string[]): Promise<Subject[]> {
  const raws = new Map(ids.map((id) => [id, { id, ...buildEmptySources() }]));
  // Sequential, because a session allows one operation at a time.
  for (const [name, each] of Object.entries(sources) as [SourceName, Source][]) {
    const { by, keysOf = (id) => [id], subjectOf = (key) => key } = each;
    const found = await each.collection
      .find(
        { [by]: { $in: ids.flatMap(keysOf), ...each.filter } },
        { ...rawReadOptions, session, projection: each.fields },
      )
      .toArray();
    for (const document of found) {
      raws.get(subjectOf(String(document[by])))?.[name].push(document);
    }
  }
  return decodeSubjects([...raws.values()], session);
}

function buildEmptySources(): Record<SourceName, Document[]> {
  return { journals: [], purchases: [], orders: [], credits: [], deposits: [], settlements: [], posted: [] };
}

function defineSource<T extends Document>(
  collection: Collection<T>,
  rest: Omit<Source, 'collection'>,
): Source {
  return { ...rest, collection: asUntyped(collection) };
}

function openStream(
  { collection, by, fields, filter, subjectOf = (key) => key }: Source,
  onOdd: (finding: { collection: string; field: string; document: Document }) => void,
): KeyedStream {
  const keyOf = (document: Document) => {
    const key: unknown = document[by];
    return typeof key === 'string' ? subjectOf(key) : null;
  };
  return createKeyedStream({
    readBatch: buildBatchReader(collection, by, { fields, ...(filter && { filter }) }),
    keyOf,
    positionOf: (document) => keyOf(document) ?? '',
    onOdd: (document) => onOdd({ collection: collection.collectionName, field: by, document }),
  });
}

async function decodeSubjects(raws: RawSubject[], session: Session | null): Promise<Subject[]> {
  const subjects = raws.map(decodeSubject);
  await addQuotes(subjects, session);
  await addSupportingEntries(subjects, session);
  return subjects;
}

function decodeSubject(raw: RawSubject): Subject {
  const problems: LedgerFinding[] = [];
  const [purchase] = raw.purchases;
  const [deposit] = raw.deposits;
  const [settlement] = raw.settlements;
  return {
    id: raw.id,
    journals: raw.journals.map((each) => stored.journals.read(each, problems)),
    purchase: purchase ? stored.purchases.read(purchase, problems) : null,
    orders: raw.orders.map((each) => stored.orders.read(each, problems)).sort((a, b) => a.n - b.n),
    credits: raw.credits.map((each) => stored.credits.read(each, problems)),
    quote: null,
    deposit: deposit ? stored.deposits.read(deposit, problems) : null,
    settlement: settlement ? stored.settlements.read(settlement, problems) : null,
    // Findings about the fields of these credits are reported with their transaction.
    posted: raw.posted.map((each) => stored.credits.read(each, [])),
    supportingEntries: [],
    problems,
  };
}
