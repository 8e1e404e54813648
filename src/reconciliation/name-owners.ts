import type { Collection, Document } from 'mongodb';
import { MongoServerError } from 'mongodb';
import { defineMigration } from '../database/migrate.js';
import { untyped, type AnyStored } from '../database/typed-collection.js';
import { deposits } from '../deposits/deposit.model.js';
import { sellerCredits } from '../money/credits/seller-credit.model.js';
import { journals } from '../money/journals/journal.model.js';
import { orders } from '../purchases/order.model.js';
import { purchases } from '../purchases/purchase.model.js';
import { settlements } from '../settlements/settlement.model.js';
import { logger } from '../shared/logger.js';

const atOnce = 500;
/** More than these are no slip: the ledger is looked at before anything else. */
const orphansMax = 1_000;

interface Owned {
  collection: Collection<AnyStored>;
  /** What a document without an account is for; its account is that of the purchase, deposit or settlement. */
  subjectOf: (document: Document) => unknown;
  /** The account, where the document itself tells it. */
  ownerOf?: (document: Document) => unknown;
}

/** What 0.1.0 wrote without an account. Each has an index that begins with `accountId`. */
const owned: Owned[] = [
  {
    collection: untyped(journals),
    subjectOf: ({ subjectId }) => subjectId as unknown,
    ownerOf: ({ walletId }) => walletId as unknown,
  },
  {
    collection: untyped(orders),
    subjectOf: ({ transactionId }) => transactionId as unknown,
  },
  {
    collection: untyped(sellerCredits),
    subjectOf: ({ transactionId }) => transactionId as unknown,
  },
];

/** Unique indexes of earlier releases, which do not begin with the account. */
const formerIndexes: [Collection<AnyStored>, string][] = [
  [untyped(journals), 'subject_kind_unique'],
  [untyped(journals), 'wallet_seq_unique'],
  [untyped(orders), 'transaction_n_unique'],
  [untyped(orders), 'one_open_attempt'],
];

/**
 * Gives journals, orders and seller credits of 0.1.0 their account. The former unique indexes go with the first
 * migration that finds nothing to name: until then a process of 0.1.0 may still write such documents, and what it does
 * must not be done twice.
 */
export async function nameOwners(): Promise<void> {
  let named = 0;
  for (const each of owned) {
    named += await nameIn(each);
  }
  if (named > 0) {
    logger.info('documents of 0.1.0 have got their account; migrate again once none of its processes runs', {
      named,
    });
    return;
  }
  for (const [collection, name] of formerIndexes) {
    await collection.dropIndex(name).catch((error: unknown) => {
      // IndexNotFound, NamespaceNotFound: it went before, or never was.
      if (!(error instanceof MongoServerError && (error.code === 27 || error.code === 26))) {
        throw error;
      }
    });
  }
}

/** Collections that hold documents without an account. */
export async function collectionsWithoutOwners(): Promise<string[]> {
  const found = await Promise.all(
    owned.map(async ({ collection }) =>
      (await collection.findOne({ accountId: null }, { projection: { _id: 1 } })) === null
        ? []
        : [collection.collectionName],
    ),
  );
  return found.flat();
}

async function nameIn({ collection, subjectOf, ownerOf }: Owned): Promise<number> {
  const orphans: string[] = [];
  for (let named = 0; ;) {
    const page = await collection
      .find({ accountId: null, _id: { $nin: orphans } })
      .limit(atOnce)
      .toArray();
    if (page.length === 0 || orphans.length > orphansMax) {
      return named;
    }
    const bySubject = await ownersOf(page.map(subjectOf));
    const updates = page.flatMap((document) => {
      const own: unknown = ownerOf?.(document);
      const accountId = typeof own === 'string' ? own : bySubject.get(subjectOf(document));
      if (accountId === undefined) {
        orphans.push(document._id);
        logger.error('a document belongs to nobody: see topup ledger verify', {
          collection: collection.collectionName,
          id: document._id,
        });
        return [];
      }
      return [
        { updateOne: { filter: { _id: document._id, accountId: null }, update: { $set: { accountId } } } },
      ];
    });
    if (updates.length > 0) {
      named += (await collection.bulkWrite(updates, { ordered: false })).modifiedCount;
    }
  }
}

async function ownersOf(subjects: unknown[]): Promise<Map<unknown, string>> {
  const ids = [...new Set(subjects)].filter((each) => typeof each === 'string');
  const found = await Promise.all(
    [untyped(purchases), untyped(deposits), untyped(settlements)].map((collection) =>
      collection
        .find<{ _id: string; accountId: string }>({ _id: { $in: ids } }, { projection: { accountId: 1 } })
        .toArray(),
    ),
  );
  return new Map(found.flat().map(({ _id, accountId }) => [_id, accountId]));
}

defineMigration(nameOwners);
