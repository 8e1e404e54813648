import { MongoError } from '../errors.js';
import { compileProjection } from '../projection/compile-projection.js';
import { compileFilter } from '../query/compile-filter.js';
import { encode } from '../values/encode.js';
import { keysOf } from '../values/fields.js';
import type { Doc } from '../values/types.js';
import { findRows, iterateRows, type Row, type RowQuery } from '../store/find-rows.js';
import { getDocument } from '../store/record.js';
import { collectionFor } from '../store/store.js';
import type { CommandContext, CommandResult } from './context.js';
import { batchSizeOf, openCursor } from './cursors.js';
import { boolField, docField, namespaceOf, numberField } from './fields.js';
import { checkCollation, getFilterOptions, refuseUnsupported, scopeOf, sortOf } from './query-options.js';
import { atClusterTimeOf } from './snapshot-reads.js';

export function find(context: CommandContext): Promise<CommandResult> {
  const { command, database, now } = context;
  const namespace = namespaceOf(database, command['find']);
  checkCollation(command);
  refuseUnsupported(command, ['min', 'max', 'returnKey', 'showRecordId', 'oplogReplay']);
  refuseTailable(command);
  const filter = docField(command, 'filter') ?? {};
  const matches = compileFilter(filter, getFilterOptions(command, now));
  const projection = docField(command, 'projection');
  const project =
    projection === undefined || keysOf(projection).length === 0
      ? null
      : compileProjection(projection, scopeOf(command, now));
  const limit = numberField(command, 'limit', 0);
  const { rows, isAlive } = readRows(context, namespace, {
    filter,
    matches,
    sort: sortOf(command),
    skip: numberField(command, 'skip', 0),
    limit,
    hint: command['hint'],
  });
  return openCursor(context, {
    namespace,
    documents: encodeRows(rows, project),
    isAlive,
    limit,
    batchSize: batchSizeOf(command),
    singleBatch: boolField(command, 'singleBatch'),
    neverTimesOut: boolField(command, 'noCursorTimeout'),
    extra: atClusterTimeOf(context.server.snapshotReads, context.reader),
  });
}

/**
 * Returns the documents of a query. With a snapshot reader, all documents are found immediately and
 * `isAlive` is null. Otherwise they are read lazily, and `isAlive` returns whether their collection
 * and indexes still exist.
 */
export function readRows(
  { server: { store }, reader }: CommandContext,
  namespace: string,
  query: RowQuery,
): { rows: Iterable<Row | null>; isAlive: (() => boolean) | null } {
  const collection = collectionFor(store, namespace, reader);
  const isLive = reader === null || reader === store.majorityReader;
  if (collection === undefined || !isLive) {
    return { rows: collection === undefined ? [] : findRows(collection, reader, query), isAlive: null };
  }
  const { rows, indexes } = iterateRows(collection, reader, query);
  const isAlive = (): boolean =>
    store.collections.get(namespace) === collection &&
    indexes.every((index) => collection.indexes.includes(index));
  return { rows, isAlive };
}

/** Encodes documents lazily. Without a projection, it returns the stored bytes. */
export function* encodeRows(
  rows: Iterable<Row | null>,
  project: ((doc: Doc) => Doc) | null,
): Generator<Buffer | null> {
  for (const row of rows) {
    if (row === null) {
      yield null;
    } else if (project !== null) {
      yield encode(project(getDocument(row.version)));
    } else if (row.version.bytes !== null) {
      yield row.version.bytes;
    }
  }
}

function refuseTailable(command: Doc): void {
  if (boolField(command, 'tailable')) {
    throw new MongoError(2, 'tailable cursor requested on non capped collection');
  }
  if (boolField(command, 'awaitData')) {
    throw new MongoError(9, 'Cannot set awaitData without tailable');
  }
}
