import { MongoError } from '../errors.js';
import { encode } from '../values/encode.js';
import { compareValues, equalValues } from '../values/compare.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';
import { buildIndex, visibleVersion, type Collection } from '../store/collection.js';
import type { Index } from '../store/index-definition.js';
import { checkIndexSpec } from '../store/index-spec.js';
import { sameKey } from '../store/plan.js';
import {
  collectionFor,
  ensureCollection,
  appendCatalogChange,
  assertNoPendingWrites,
} from '../store/store.js';
import type { Transaction } from '../store/transaction.js';
import { runStatement } from '../transactions/run-statement.js';
import type { CommandContext, CommandResult } from './context.js';
import { batchSizeOf, openCursor } from './cursors.js';
import { docField, namespaceOf } from './fields.js';
import { formatValue } from '../store/duplicate-key.js';

/**
 * Runs `createIndexes`: builds the missing indexes in one step. If one of them fails, none is
 * built.
 */
export async function createIndexes(context: CommandContext): Promise<CommandResult> {
  const { command, database, server, transaction } = context;
  const namespace = namespaceOf(database, command['createIndexes']);
  const sent = command['indexes'];
  if (!Array.isArray(sent)) {
    throw new MongoError(40414, "BSON field 'createIndexes.indexes' is missing but a required field");
  }
  if (sent.length === 0) {
    throw new MongoError(2, 'Must specify at least one index to create');
  }
  const specs = sent.map(checkIndexSpec);
  const existed = collectionFor(server.store, namespace, transaction) !== undefined;
  const { collection, before, built } = await runStatement(context.statement, (writer) =>
    addIndexes(context, writer, { namespace, specs }),
  );
  return {
    numIndexesBefore: before,
    numIndexesAfter: collection.indexes.length,
    createdCollectionAutomatically: !existed,
    ...(built === 0 ? { note: 'all indexes already exist' } : {}),
  };
}

function addIndexes(
  { server, transaction }: CommandContext,
  writer: Transaction,
  { namespace, specs }: { namespace: string; specs: readonly Doc[] },
): { collection: Collection; before: number; built: number } {
  const collection = ensureCollection(server.store, namespace, writer);
  const before = collection.indexes.length;
  const missing = specs.filter((spec, i) => isMissing(collection, spec, specs.slice(0, i)));
  const isOwn = writer.created.includes(collection);
  if (missing.length > 0) {
    if (transaction !== null && (!isOwn || hasDocuments(collection, writer))) {
      throw new MongoError(
        263,
        `Cannot create new indexes on ${isOwn ? 'non-empty' : 'existing'} collection ${namespace} in a multi-document transaction.`,
      );
    }
    if (!isOwn) {
      assertNoPendingWrites(server.store, collection);
    }
  }
  const built = missing.map((spec) => buildIndex(collection, spec));
  for (const index of built) {
    collection.indexes.push(index);
    if (!isOwn) {
      appendCatalogChange(server.store, { type: 'index', id: collection.id, spec: index.spec });
    }
  }
  return { collection, before, built: built.length };
}

function hasDocuments({ records }: Collection, reader: Transaction): boolean {
  return [...records.values()].some((record) => visibleVersion(record, reader) !== null);
}

/**
 * False if the collection already has this index.
 * @throws MongoError 85 or 86 if the collection has a different index with the same name or the
 * same key.
 */
function isMissing(collection: Collection, spec: Doc, earlier: readonly Doc[]): boolean {
  if (isDoc(spec['key']) && equalValues(spec['key'], { _id: 1 })) {
    return false;
  }
  const known = [...collection.indexes.map((index) => index.spec), ...earlier];
  const asked = `Requested index: ${formatValue(spec)}`;
  const sameName = known.find((other) => other['name'] === spec['name']);
  if (sameName !== undefined) {
    const found = `existing index: ${formatValue(sameName)}`;
    if (!hasSameIdentity(sameName, spec)) {
      throw new MongoError(
        86,
        `An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Please refer to our documentation. ${asked}, ${found}`,
      );
    }
    if (!hasSameOptions(sameName, spec)) {
      throw new MongoError(
        85,
        `An equivalent index already exists with the same name but different options. ${asked}, ${found}`,
      );
    }
    return false;
  }
  const sameIndex = known.find((other) => hasSameIdentity(other, spec));
  if (sameIndex !== undefined) {
    throw new MongoError(85, `Index already exists with a different name: ${String(sameIndex['name'])}`);
  }
  return true;
}

/**
 * True if two specifications describe the same index: key, uniqueness, sparseness and partial
 * filter are equal.
 */
function hasSameIdentity(a: Doc, b: Doc): boolean {
  return (
    isDoc(b['key']) &&
    sameKey(a['key'], b['key']) &&
    isSet(a['unique']) === isSet(b['unique']) &&
    isSet(a['sparse']) === isSet(b['sparse']) &&
    compareValues(a['partialFilterExpression'], b['partialFilterExpression']) === 0
  );
}

function hasSameOptions(a: Doc, b: Doc): boolean {
  return equalValues(a['expireAfterSeconds'], b['expireAfterSeconds']);
}

function isSet(flag: unknown): boolean {
  return flag !== undefined && flag !== null && flag !== false && Number(flag) !== 0;
}

/**
 * Runs `dropIndexes`. Indexes are selected by name, by key or by a list of names. `*` selects all
 * indexes except the one on `_id`.
 */
export function dropIndexes({ command, database, server, name }: CommandContext): CommandResult {
  const namespace = namespaceOf(database, command[name]);
  const collection = collectionFor(server.store, namespace, null);
  if (collection === undefined) {
    throw new MongoError(26, `ns not found ${namespace}`);
  }
  const was = collection.indexes.length;
  const dropped = indexesToDrop(collection, command['index']);
  for (const index of dropped) {
    collection.indexes = collection.indexes.filter((other) => other !== index) as Collection['indexes'];
    appendCatalogChange(server.store, { type: 'dropIndex', id: collection.id, name: index.name });
  }
  return { nIndexesWas: was };
}

function indexesToDrop(collection: Collection, wanted: unknown): Index[] {
  if (wanted === '*') {
    return collection.indexes.slice(1);
  }
  if (Array.isArray(wanted)) {
    return wanted.map((each: unknown) => {
      if (typeof each !== 'string') {
        throw new MongoError(
          14,
          `dropIndexes: the elements of 'index' must be strings, not ${typeNameOf(each)}`,
        );
      }
      return indexToDrop(collection, each);
    });
  }
  if (typeof wanted !== 'string' && !isDoc(wanted)) {
    throw new MongoError(
      14,
      `BSON field 'dropIndexes.index' is the wrong type '${typeNameOf(wanted)}', expected types '[string, object, array]'`,
    );
  }
  return [indexToDrop(collection, wanted)];
}

function indexToDrop(collection: Collection, wanted: string | Doc): Index {
  const index = collection.indexes.find((candidate) =>
    typeof wanted === 'string' ? candidate.name === wanted : sameKey(candidate.spec['key'], wanted),
  );
  if (index === undefined) {
    throw new MongoError(
      27,
      typeof wanted === 'string'
        ? `index not found with name [${wanted}]`
        : `can't find index with key: ${formatValue(wanted)}`,
    );
  }
  if (index === collection.indexes[0]) {
    throw new MongoError(72, 'cannot drop _id index');
  }
  return index;
}

export function listIndexes(context: CommandContext): Promise<CommandResult> {
  const { command, database, server, reader } = context;
  const namespace = namespaceOf(database, command['listIndexes']);
  const collection = collectionFor(server.store, namespace, reader);
  if (collection === undefined) {
    throw new MongoError(26, `ns does not exist: ${namespace}`);
  }
  return openCursor(context, {
    namespace,
    documents: collection.indexes.map(({ spec }) => encode(spec)),
    batchSize: batchSizeOf(docField(command, 'cursor')),
  });
}
