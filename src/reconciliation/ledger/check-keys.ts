import type { Collection, Document } from 'mongodb';
import { accounts } from '../../accounts/account.model.js';
import { quotes } from '../../bills/quote.model.js';
import { asUntyped, type AnyStored } from '../../database/typed-collection.js';
import { wallets } from '../../money/wallets/wallet.model.js';
import type { FindingLog } from './ledger-report.js';
import { readWithRetries } from './read-pages.js';
import { describeValue, rawReadOptions } from './read-document.js';
import { subjectKeys } from './stream-subjects.js';

/** What is more than this at one end is not counted: it would be no slip but another program's data. */
const invalidMax = 1_000;

export interface InvalidKey {
  collection: string;
  field: string;
  document: Document;
}

/** Says of each document once that its key is no text, so that it belongs to nothing and no walk meets it. */
export function createInvalidKeyLog(log: FindingLog): (odd: InvalidKey) => void {
  const told = new Set<string>();
  return ({ collection, field, document }) => {
    const subject = `${collection} ${toName(document['_id'])}`;
    if (!told.has(subject + field)) {
      told.add(subject + field);
      log.add({ check: 'documents', subject, message: `its ${field} is ${describeValue(document[field])}` });
    }
  };
}

/**
 * The walks read texts by rising key. Everything that is no text stands before or behind all texts in the order of the
 * same index, so that both ends of it show whether there is any. (An array stands among the texts; the walk meets it.)
 */
export async function checkKeys(onOdd: (odd: InvalidKey) => void): Promise<void> {
  const keys = [
    ...subjectKeys(),
    ...[asUntyped(accounts), asUntyped(wallets), asUntyped(quotes)].map((collection) => ({
      collection,
      field: '_id',
    })),
  ];
  for (const { collection, field } of keys) {
    for (const direction of [1, -1] as const) {
      for (const document of await readEnd(collection, field, direction)) {
        onOdd({ collection: collection.collectionName, field, document });
      }
    }
  }
}

async function readEnd(
  collection: Collection<AnyStored>,
  field: string,
  direction: 1 | -1,
): Promise<Document[]> {
  async function read(limit: number): Promise<Document[]> {
    const options = { ...rawReadOptions, projection: { [field]: 1 }, batchSize: limit + 1 };
    const found = await readWithRetries(() =>
      collection
        .find({}, options)
        .sort({ [field]: direction })
        .limit(limit)
        .toArray(),
    );
    const texts = found.findIndex((each) => typeof each[field] === 'string');
    return texts === -1 && found.length === limit && limit < invalidMax
      ? read(invalidMax)
      : found.slice(0, texts === -1 ? undefined : texts);
  }
  return read(1);
}

function toName(value: unknown): string {
  return typeof value === 'string' ? value : describeValue(value);
}
