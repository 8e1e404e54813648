import type { Collection, Document } from 'mongodb';
import { accounts } from '../../accounts/account.model.js';
import { quotes } from '../../bills/quote.model.js';
import { asUntyped, type AnyDocument } from '../../database/typed-collection.js';
import { wallets } from '../../money/wallets/wallet.model.js';
import type { FindingLog } from './ledger-report.js';
import { readWithRetries } from './read-pages.js';
import { describeValue, rawReadOptions } from './read-document.js';
import { listSubjectKeys } from './stream-subjects.js';

/**
 * Maximum number of documents reported at each end of an index. More would be the data of another
 * program.
 */
const invalidMax = 1_000;

export interface InvalidKey {
  collection: string;
  field: string;
  document: Document;
}

/**
 * Returns a function that reports each document whose key is not a string, once. Such a document
 * belongs to no subject, and no scan finds it.
 */
export function createInvalidKeyLog(log: FindingLog): (odd: InvalidKey) => void {
  const reported = new Set<string>();
  return ({ collection, field, document }) => {
    const subject = `${collection} ${toName(document['_id'])}`;
    if (!reported.has(subject + field)) {
      reported.add(subject + field);
      log.add({ check: 'documents', subject, message: `its ${field} is ${describeValue(document[field])}` });
    }
  };
}

/**
 * Checks that all keys are strings, because scans read string keys only. Other types sort before or
 * after all strings in the same index, so both ends of the index show them. An array is indexed by
 * its elements, so a scan can find it.
 */
export async function checkKeys(onOdd: (odd: InvalidKey) => void): Promise<void> {
  const keys = [
    ...listSubjectKeys(),
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
  collection: Collection<AnyDocument>,
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
