/** Finds an account's documents in every collection by the account's id. */
import { BSON, type Db } from 'mongodb';

interface StoredDocument {
  collection: string;
  document: BSON.Document;
  /** The document as canonical EJSON. Two texts are equal only if the documents are equal. */
  text: string;
}

/** The documents as EJSON text, by collection and id. */
export type Snapshot = Map<string, string>;

const ownId = /^[0-9a-f]{32}$/;

/** Ids of the accounts whose data is private, and of the accounts that trade with them. */
export interface Parties {
  theirs: string[];
  ours: string[];
}

/**
 * Returns every document that contains an id of the other side, directly or through another such
 * document (for example attempts or report chunks). Documents that also contain an id of our side
 * are left out.
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
 * Returns the words and amounts that occur only in private documents of the other side. None of
 * them may appear in a response to our side. Products and offers on sale are public.
 */
export async function listPrivateWords(db: Db, parties: Parties): Promise<string[]> {
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

function privateIn(all: StoredDocument[], { theirs, ours }: Parties): StoredDocument[] {
  const candidates = all.filter(({ text }) => !ours.some((id) => text.includes(id)));
  const found = new Set<StoredDocument>();
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

async function everyDocument(db: Db): Promise<StoredDocument[]> {
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

/**
 * Adds numbers of at least 10,000, and texts of at least 8 characters that contain a digit or a
 * space.
 */
function addWords(value: unknown, words: Set<string>): void {
  if (typeof value === 'string' && value.length >= 8 && /[\d ]/.test(value)) {
    words.add(value);
  } else if (typeof value === 'number' && value >= 10_000) {
    words.add(String(value));
  } else if (Array.isArray(value) || (typeof value === 'object' && value?.constructor === Object)) {
    Object.values(value).forEach((each) => addWords(each, words));
  }
}
