import type { MergePlan, OutPlan, WritePlan } from '../aggregation/write-plan.js';
import { MongoError } from '../errors.js';
import { compileFilter } from '../query/compile-filter.js';
import { decode } from '../values/decode.js';
import type { Doc } from '../values/types.js';
import { equalValues } from '../values/compare.js';
import { createCollection, type Collection } from '../store/collection.js';
import { conflict } from '../store/conflict.js';
import { findRows } from '../store/find-rows.js';
import { duplicateKey } from '../store/duplicate-key.js';
import { createIndex, keysIn, type Index } from '../store/index-definition.js';
import { docOf } from '../store/record.js';
import {
  collectionFor,
  ensureCollection,
  logChange,
  creationOf,
  refuseWhileWritten,
} from '../store/store.js';
import type { Transaction } from '../store/transaction.js';
import { insertDocument, replaceDocument } from '../store/write.js';
import { runStatement } from '../transactions/run-statement.js';
import type { CommandContext } from './context.js';
import { namespaceOf } from './fields.js';
import { encodeUpdated, storableDocument } from './storable-document.js';

/** Writes the results of a pipeline that ends in `$out` or `$merge`: all of them, or on an error none. */
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

/** `$out`: a new collection with the indexes of the old one takes its place. */
function writeOut(
  { server }: CommandContext,
  transaction: Transaction,
  { namespace, results }: { plan: OutPlan; namespace: string; results: readonly Buffer[] },
): void {
  const { store, clock } = server;
  const old = collectionFor(store, namespace, null);
  const created = store.uncommitted.get(namespace);
  if (created !== undefined) {
    throw conflict(transaction, created.owner);
  }
  if (old !== undefined) {
    refuseWhileWritten(store, old);
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
    logChange(store, { type: 'drop', id: old.id });
  }
  store.collections.set(namespace, collection);
  logChange(store, creationOf(collection));
  for (const spec of specs) {
    logChange(store, { type: 'index', id: collection.id, spec });
  }
}

function writeMerge(
  { server }: CommandContext,
  transaction: Transaction,
  { plan, namespace, results }: { plan: MergePlan; namespace: string; results: readonly Buffer[] },
): void {
  const { store, clock } = server;
  const collection = ensureCollection(store, namespace, transaction);
  if (!collection.indexes.some((index) => identifies(index, plan.on))) {
    throw new MongoError(51183, 'Cannot find index to verify that join fields will be unique');
  }
  const now = clock.at(store.clock);
  for (const bytes of results) {
    mergeOne(transaction, collection, { plan, result: storableResult(bytes, plan), now });
  }
}

function mergeOne(
  transaction: Transaction,
  collection: Collection,
  { plan, result, now }: { plan: MergePlan; result: Doc; now: Parameters<typeof storableDocument>[1] },
): void {
  const filter = plan.key(result);
  const [row] = findRows(collection, transaction, { filter, matches: compileFilter(filter), limit: 1 });
  if (row === undefined) {
    if (plan.notMatched === 'fail') {
      throw new MongoError(
        13113,
        '$merge could not find a matching document in the target collection for at least one document in the source collection',
      );
    }
    if (plan.notMatched === 'insert') {
      const { doc, bytes } = storableDocument(result, now);
      insertDocument(transaction, collection, doc, bytes);
    }
    return;
  }
  const before = docOf(row.version);
  const merged = mergedOf(collection, { plan, before, result });
  if (merged === undefined) {
    return;
  }
  if (!equalValues(merged['_id'], before['_id'])) {
    throw new MongoError(66, "$merge failed to update the matching document: the '_id' field is immutable");
  }
  const bytes = encodeUpdated(merged);
  if (row.version.bytes?.equals(bytes) !== true) {
    replaceDocument(transaction, collection, row.record, { doc: merged, bytes });
  }
}

/** The document to store; the error of `whenMatched: 'fail'` names the key as any other duplicate does. */
function mergedOf(
  collection: Collection,
  { plan, before, result }: { plan: MergePlan; before: Doc; result: Doc },
): Doc | undefined {
  try {
    return plan.matched(before, result);
  } catch (error) {
    const index = collection.indexes.find((candidate) => identifies(candidate, plan.on));
    const key = index === undefined ? undefined : keysIn(index, result)[0];
    if (error instanceof MongoError && error.code === 11000 && index !== undefined && key !== undefined) {
      throw duplicateKey(collection.namespace, index, result, key);
    }
    throw error;
  }
}

function storableResult(bytes: Buffer, plan: MergePlan): Doc {
  return plan.prepare(decode(bytes));
}

/** True if no two documents can agree in these fields. */
function identifies(index: Index, fields: readonly string[]): boolean {
  return (
    index.unique &&
    index.partialFilter === null &&
    index.fields.length === fields.length &&
    index.fields.every(({ path }) => fields.includes(path))
  );
}
