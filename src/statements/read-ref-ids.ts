import type { Collection, Filter } from 'mongodb';
import { untyped, type AnyStored } from '../database/typed-collection.js';
import { deposits } from '../deposits/deposit.model.js';
import type { Journal, JournalKind } from '../money/journals/journal.model.js';
import { purchases } from '../purchases/purchase.model.js';
import { settlements } from '../settlements/settlement.model.js';

interface WithRef {
  _id: string;
  accountId: string;
  refId: string | null;
}

/** Where the subjects of these kinds are; those of the others have no reference of a client. */
const sources: [Collection<AnyStored>, JournalKind[]][] = [
  [untyped(purchases), ['purchase', 'refund', 'reversal']],
  [untyped(deposits), ['deposit']],
  [untyped(settlements), ['settlement-request', 'settlement-completed', 'settlement-failed']],
];

/** The client's reference of what each journal is for, read for all of them at once. A reference never changes. */
export async function readRefIds(of: readonly Journal[]): Promise<(journal: Journal) => string | null> {
  const found = await Promise.all(
    sources.map(([collection, kinds]) =>
      readIn(
        collection,
        of.filter(({ kind }) => kinds.includes(kind)),
      ),
    ),
  );
  const byId = new Map(found.flat().map(({ _id, refId }) => [_id, refId]));
  return ({ subjectId }) => byId.get(subjectId) ?? null;
}

async function readIn(collection: Collection<AnyStored>, of: Journal[]): Promise<WithRef[]> {
  const filter: Filter<AnyStored> = {
    _id: { $in: [...new Set(of.map(({ subjectId }) => subjectId))] },
    accountId: { $in: [...new Set(of.map(({ accountId }) => accountId))] },
  };
  return of.length === 0 ? [] : collection.find<WithRef>(filter, { projection: { refId: 1 } }).toArray();
}
