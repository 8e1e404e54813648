import { Binary } from 'bson';
import { compilePipeline, type CompiledPipeline } from '../aggregation/pipeline.js';
import { MongoError } from '../errors.js';
import { encode } from '../values/encode.js';
import { keysOf } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';
import { countRows } from '../store/count-rows.js';
import { findRows } from '../store/find-rows.js';
import { docOf } from '../store/record.js';
import { collectionFor } from '../store/store.js';
import { aggregatedNamespace, collectionsFor, plainCount, prefixQuery } from './aggregate-query.js';
import { writeResults } from './aggregate-output.js';
import type { CommandContext, CommandResult } from './context.js';
import { batchSizeOf, openCursor } from './cursors.js';
import { explainCommand } from './explain.js';
import { encodedRows } from './find.js';
import { boolField, docField } from './fields.js';
import { checkCollation, scopeOf } from './query-options.js';
import { atClusterTimeOf } from './snapshot-reads.js';
import { DOCUMENT_BYTES_MAX } from './storable-document.js';

/** `aggregate`: the front of the pipeline through the planner, the rest over what that finds. */
export async function aggregate(context: CommandContext): Promise<CommandResult> {
  const { command, database, transaction } = context;
  checkCollation(command);
  if (boolField(command, 'explain')) {
    const { explain: _explain, ...inner } = command;
    return explainCommand(context, inner, 'queryPlanner');
  }
  const cursor = docField(command, 'cursor');
  if (cursor === undefined) {
    throw new MongoError(
      9,
      "The 'cursor' option is required, except for aggregate with the explain argument",
    );
  }
  const sessions = localSessions(context, command['pipeline']);
  const pipeline = compilePipeline(sessions?.rest ?? command['pipeline'], {
    scope: scopeOf(command, context.now),
    collections: collectionsFor(context),
  });
  if (pipeline.write !== undefined && transaction !== null) {
    throw new MongoError(263, `$${pipeline.write.kind} cannot be used in a transaction`);
  }
  if (pipeline.write !== undefined && docField(command, 'readConcern')?.['level'] === 'linearizable') {
    throw new MongoError(
      72,
      `$${pipeline.write.kind} cannot be used with a 'linearizable' read concern level`,
    );
  }
  const batchSize = batchSizeOf(cursor);
  if (batchSize !== undefined && batchSize < 0) {
    throw new MongoError(2, `BSON field 'cursor.batchSize' value must be >= 0, actual value '${batchSize}'`);
  }
  let documents =
    sessions === undefined ? resultsOf(context, pipeline) : encodeResults(pipeline.run(sessions.documents));
  if (pipeline.write !== undefined) {
    await writeResults(context, pipeline.write, documents);
    documents = [];
  }
  return openCursor(context, {
    namespace: aggregatedNamespace(command, database) ?? `${database}.$cmd.aggregate`,
    documents,
    batchSize,
    extra: atClusterTimeOf(context.server.snapshotReads, context.reader),
  });
}

/** The whole result, worked out now, so that it is of one moment. */
function resultsOf(context: CommandContext, pipeline: CompiledPipeline): Buffer[] {
  const { command, database, server, reader } = context;
  const namespace = aggregatedNamespace(command, database);
  if (namespace === undefined) {
    throw new MongoError(73, '{aggregate: 1} is only valid for pipelines that do not read a collection');
  }
  const collection = collectionFor(server.store, namespace, reader);
  const query = prefixQuery(context, command, pipeline);
  const rest = (command['pipeline'] as unknown[]).slice(pipeline.prefix.stages);
  const counted = plainCount(rest);
  if (counted !== undefined) {
    const n = collection === undefined ? 0 : countRows(collection, reader, { ...query, ...counted.window });
    return n === 0 ? [] : [encode(counted.result(n))];
  }
  const rows = collection === undefined ? [] : findRows(collection, reader, query);
  if (rest.length === 0) {
    return [...encodedRows(rows, null)];
  }
  const documents = rows.map(({ version }) => docOf(version));
  return encodeResults(pipeline.run(documents, { skipStages: pipeline.prefix.stages }));
}

/** `$listLocalSessions`, which reads no collection: its documents, and the pipeline after it. */
function localSessions(
  { server }: CommandContext,
  pipeline: unknown,
): { documents: Doc[]; rest: unknown[] } | undefined {
  const first: unknown = Array.isArray(pipeline) ? pipeline[0] : undefined;
  if (!Array.isArray(pipeline) || !isDoc(first) || keysOf(first).join() !== '$listLocalSessions') {
    return undefined;
  }
  const documents = [...server.sessions.byKey.values()].map(({ id, lastUsedAtMs }) => ({
    _id: { id: new Binary(id, Binary.SUBTYPE_UUID), uid: new Binary(Buffer.alloc(32)) },
    lastUse: new Date(lastUsedAtMs),
  }));
  return { documents, rest: pipeline.slice(1) as unknown[] };
}

function encodeResults(documents: Iterable<Doc>): Buffer[] {
  const results: Buffer[] = [];
  for (const document of documents) {
    const bytes = encode(document);
    if (bytes.length > DOCUMENT_BYTES_MAX) {
      throw new MongoError(
        10334,
        `BSONObj size: ${bytes.length} is invalid. Size must be between 0 and ${DOCUMENT_BYTES_MAX}`,
      );
    }
    results.push(bytes);
  }
  return results;
}
