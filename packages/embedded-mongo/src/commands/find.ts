import { MongoError } from '../errors.js';
import { compileProjection } from '../projection/compile-projection.js';
import { compileFilter } from '../query/compile-filter.js';
import { encode } from '../values/encode.js';
import { keysOf } from '../values/fields.js';
import type { Doc } from '../values/types.js';
import type { Row } from '../store/find-rows.js';
import { docOf } from '../store/record.js';
import { rowsIn } from '../store/store.js';
import type { CommandContext, CommandResult } from './context.js';
import { batchSizeOf, openCursor } from './cursors.js';
import { boolField, docField, namespaceOf, numberField } from './fields.js';
import { checkCollation, filterOptions, refuseUnsupported, scopeOf, sortOf } from './query-options.js';
import { atClusterTimeOf } from './snapshot-reads.js';

export function find(context: CommandContext): CommandResult {
  const { command, database, server, reader, now } = context;
  const namespace = namespaceOf(database, command['find']);
  checkCollation(command);
  refuseUnsupported(command, ['min', 'max', 'returnKey', 'showRecordId', 'oplogReplay']);
  refuseTailable(command);
  const filter = docField(command, 'filter') ?? {};
  const matches = compileFilter(filter, filterOptions(command, now));
  const projection = docField(command, 'projection');
  const project =
    projection === undefined || keysOf(projection).length === 0
      ? null
      : compileProjection(projection, scopeOf(command, now));
  const rows = rowsIn(server.store, namespace, reader, {
    filter,
    matches,
    sort: sortOf(command),
    skip: numberField(command, 'skip', 0),
    limit: numberField(command, 'limit', 0),
    hint: command['hint'],
  });
  return openCursor(context, {
    namespace,
    documents: encodedRows(rows, project),
    batchSize: batchSizeOf(command),
    singleBatch: boolField(command, 'singleBatch'),
    neverTimesOut: boolField(command, 'noCursorTimeout'),
    extra: atClusterTimeOf(context.server.snapshotReads, context.reader),
  });
}

/** Rows as BSON: the stored bytes, or the projection of each document, made when it is fetched. */
export function* encodedRows(rows: readonly Row[], project: ((doc: Doc) => Doc) | null): Generator<Buffer> {
  for (const { version } of rows) {
    if (project !== null) {
      yield encode(project(docOf(version)));
    } else if (version.bytes !== null) {
      yield version.bytes;
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
