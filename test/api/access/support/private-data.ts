/** What of a whole database belongs to some accounts: found by their ids, in every collection there is. */
import { BSON, type Db } from 'mongodb';

interface Stored {
  collection: string;
  document: BSON.Document;
  /** Canonical, so that two of them differ when anything in the document does. */
  text: string;
}

/** Documents by collection and id, as text. */
export type Snapshot = Map<string, string>;

const ownId = /^[0-9a-f]{32}$/;

/** Ids of the accounts whose data this is about, and of those that have dealings with them. */
export interface Parties {
  theirs: string[];
  ours: string[];
}

/**
 * Everything that names one of their ids, and everything that names what was found so (the attempts of a
 * transaction, the chunks of a report's file). Our own dealings with them name us too, and are left out.
 */
export async function snapshotOf(db: Db, parties: Parties): Promise<Snapshot> {
  return new Map(
    privateIn(await everyDocument(db), parties).map(({ collection, document, text }) => [
      `${collection} ${String(document._id)}`,
      text,
    ]),
  );
}

/**
 * The words and amounts that only their own documents have: none of them may be in an answer to us. What is on sale
 * is for all to see, and so are the words of its documents.
 */
export async function privateMarks(db: Db, parties: Parties): Promise<string[]> {
  const all = await everyDocument(db);
  const owned = new Set(privateIn(all, parties));
  const words = { theirs: new Set<string>(), others: new Set<string>() };
  for (const each of all) {
    const { collection, document } = each;
    const isPublic = ['products', 'offers'].includes(collection) && document['status'] !== 'inactive';
    addWords(document, owned.has(each) && !isPublic ? words.theirs : words.others);
  }
  return [...words.theirs].filter((word) => !words.others.has(word));
}

function privateIn(all: Stored[], { theirs, ours }: Parties): Stored[] {
  const candidates = all.filter(({ text }) => !ours.some((id) => text.includes(id)));
  const found = new Set<Stored>();
  const names = new Set(theirs);
  for (let known = -1; known < found.size;) {
    known = found.size;
    for (const each of candidates) {
      if (!found.has(each) && [...names].some((name) => each.text.includes(name))) {
        found.add(each);
        const id = String(each.document._id);
        if (ownId.test(id)) {
          names.add(id);
        }
      }
    }
  }
  return [...found];
}

async function everyDocument(db: Db): Promise<Stored[]> {
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  const read = collections.map(async ({ name }) =>
    (await db.collection(name).find({}).toArray()).map((document) => ({
      collection: name,
      document,
      text: BSON.EJSON.stringify(document, { relaxed: false }),
    })),
  );
  return (await Promise.all(read)).flat();
}

/** Numbers from 10,000, and longer texts that are no word of ours: others say nothing about whose they are. */
function addWords(value: unknown, words: Set<string>): void {
  if (typeof value === 'string' && value.length >= 8 && /[\d ]/.test(value)) {
    words.add(value);
  } else if (typeof value === 'number' && value >= 10_000) {
    words.add(String(value));
  } else if (Array.isArray(value) || (typeof value === 'object' && value?.constructor === Object)) {
    Object.values(value).forEach((each) => addWords(each, words));
  }
}
