import type { MergePlan, OutPlan, WritePlan } from '../aggregation/write-plan.js';
import { MongoError } from '../errors.js';
import { copyDoc, keysOf, setField } from '../values/fields.js';
import { keyString } from '../values/key-string.js';
import { createCollection, visibleVersion, type Collection } from '../store/collection.js';
import { createConflictError } from '../store/conflict.js';
import { createDuplicateKeyError } from '../store/duplicate-key.js';
import { createIndex } from '../store/index-definition.js';
import { getDocument } from '../store/record.js';
import {
  collectionFor,
  ensureCollection,
  appendCatalogChange,
  buildCreateChange,
  assertNoPendingWrites,
} from '../store/store.js';
import type { Transaction } from '../store/transaction.js';
import { insertDocument, replaceDocument } from '../store/write.js';
import { runStatement } from '../transactions/run-statement.js';
import type { CommandContext } from './context.js';
import { namespaceOf } from './fields.js';
import { encodeUpdated, storableDocument, type StorableDocument } from './storable-document.js';

/**
 * Writes the results of a pipeline that ends in `$out` or `$merge`. If one write fails, none takes
 * effect.
 */
export async function writeResults(
  context: CommandContext,
  plan: WritePlan,
  results: readonly Buffer[],
): Promise<void> {
  const namespace = namespaceOf(plan.into.database ?? context.database, plan.into.collection);
  await runStatement(context.statement, (transaction) => {
    if (plan.kind === 'out') {
      writeOut(context, transaction, { plan, namespace, results });
    } else {
      writeMerge(context, transaction, { plan, namespace, results });
    }
  });
}

/** Runs `$out`: replaces the collection with a new one that has the same indexes. */
function writeOut(
  { server }: CommandContext,
  transaction: Transaction,
  { namespace, results }: { plan: OutPlan; namespace: string; results: readonly Buffer[] },
): void {
  const { store, clock } = server;
  const old = collectionFor(store, namespace, null);
  const created = store.uncommitted.get(namespace);
  if (created !== undefined) {
    throw createConflictError(transaction, created.owner);
  }
  if (old !== undefined) {
    assertNoPendingWrites(store, old);
  }
  store.lastCollectionId += 1;
  const collection = createCollection(store.lastCollectionId, namespace);
  const specs = old?.indexes.slice(1).map(({ spec }) => spec) ?? [];
  collection.indexes.push(...specs.map(createIndex));
  const now = clock.at(store.clock);
  for (const result of results) {
    const { doc, bytes } = storableDocument(result, now);
    insertDocument(transaction, collection, doc, bytes);
  }
  if (old !== undefined) {
    appendCatalogChange(store, { type: 'drop', id: old.id });
  }
  store.collections.set(namespace, collection);
  appendCatalogChange(store, buildCreateChange(collection));
  for (const spec of specs) {
    appendCatalogChange(store, { type: 'index', id: collection.id, spec });
  }
}

function writeMerge(
  { server }: CommandContext,
  transaction: Transaction,
  { plan, namespace, results }: { plan: MergePlan; namespace: string; results: readonly Buffer[] },
): void {
  const { store, clock } = server;
  const collection = ensureCollection(store, namespace, transaction);
  const now = clock.at(store.clock);
  for (const result of results) {
    mergeOne(transaction, collection, plan, storableDocument(result, now));
  }
}

function mergeOne(
  transaction: Transaction,
  collection: Collection,
  plan: MergePlan,
  { doc, bytes }: StorableDocument,
): void {
  const id = doc['_id'];
  if (id === null) {
    throw new MongoError(51132, "$merge write error: 'on' field '_id' cannot be missing, null or undefined");
  }
  const idKey = keyString(id);
  const record = collection.records.get(idKey);
  const existing = record === undefined ? null : visibleVersion(record, transaction);
  if (record === undefined || existing === null) {
    if (plan.notMatched === 'fail') {
      throw new MongoError(13113, '$merge could not find a matching document in the target collection');
    }
    if (plan.notMatched === 'insert') {
      insertDocument(transaction, collection, doc, bytes);
    }
    return;
  }
  if (plan.matched === 'fail') {
    throw createDuplicateKeyError(collection.namespace, collection.indexes[0], doc, idKey);
  }
  if (plan.matched === 'keepExisting') {
    return;
  }
  const before = getDocument(existing);
  const after = copyDoc(plan.matched === 'merge' ? before : doc);
  for (const key of keysOf(doc)) {
    setField(after, key, doc[key]);
  }
  setField(after, '_id', before['_id']);
  const encoded = encodeUpdated(after);
  if (existing.bytes?.equals(encoded) !== true) {
    replaceDocument(transaction, collection, record, { doc: after, bytes: encoded });
  }
}
