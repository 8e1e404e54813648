import { Binary } from 'bson';
import { compilePipeline, type CompiledPipeline } from '../aggregation/pipeline.js';
import { MongoError } from '../errors.js';
import { encode } from '../values/encode.js';
import { keysOf } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';
import { countRows } from '../store/count-rows.js';
import type { Row } from '../store/find-rows.js';
import { getDocument } from '../store/record.js';
import { collectionFor } from '../store/store.js';
import {
  aggregatedNamespace,
  createCollectionReader,
  matchCountOnlyPipeline,
  buildPrefixQuery,
} from './aggregate-query.js';
import { writeResults } from './aggregate-output.js';
import type { CommandContext, CommandResult } from './context.js';
import { batchSizeOf, openCursor, yieldToEventLoop } from './cursors.js';
import { explainCommand } from './explain.js';
import { encodeRows, readRows } from './find.js';
import { boolField, docField } from './fields.js';
import { checkCollation, scopeOf } from './query-options.js';
import { atClusterTimeOf } from './snapshot-reads.js';
import { DOCUMENT_BYTES_MAX } from './storable-document.js';

/**
 * Runs `aggregate`. The planner runs the first stages as a query. The remaining stages process the
 * documents of that query.
 */
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
    collections: createCollectionReader(context),
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
  const results: Results =
    sessions === undefined
      ? await resultsOf(context, pipeline)
      : { documents: encodeResults(pipeline.run(sessions.documents)), isAlive: null };
  if (pipeline.write !== undefined) {
    await writeResults(context, pipeline.write, collectDocuments(results.documents));
  }
  return openCursor(context, {
    namespace: aggregatedNamespace(command, database) ?? `${database}.$cmd.aggregate`,
    documents: pipeline.write === undefined ? results.documents : [],
    isAlive: pipeline.write === undefined ? results.isAlive : null,
    batchSize,
    extra: atClusterTimeOf(context.server.snapshotReads, context.reader),
  });
}

interface Results {
  documents: Iterable<Buffer | null>;
  isAlive: (() => boolean) | null;
}

/** Stages that must read all documents before they return the first result. */
const BLOCKING = new Set(['$group', '$sort', '$count', '$facet']);

/**
 * Returns the results of a pipeline. They are computed lazily unless a stage must read all
 * documents first.
 */
async function resultsOf(context: CommandContext, pipeline: CompiledPipeline): Promise<Results> {
  const { command, database, server, reader } = context;
  const namespace = aggregatedNamespace(command, database);
  if (namespace === undefined) {
    throw new MongoError(73, '{aggregate: 1} is only valid for pipelines that do not read a collection');
  }
  const collection = collectionFor(server.store, namespace, reader);
  const query = buildPrefixQuery(context, command, pipeline);
  const rest = (command['pipeline'] as unknown[]).slice(pipeline.prefix.stages);
  const counted = matchCountOnlyPipeline(rest);
  if (counted !== undefined) {
    const n = collection === undefined ? 0 : countRows(collection, reader, { ...query, ...counted.window });
    return { documents: n === 0 ? [] : [encode(counted.result(n))], isAlive: null };
  }
  const { rows, isAlive } = readRows(context, namespace, query);
  if (rest.length === 0) {
    return { documents: encodeRows(rows, null), isAlive };
  }
  const skipStages = pipeline.prefix.stages;
  if (isAlive !== null && !rest.some((stage) => keysOf(stage as Doc).some((name) => BLOCKING.has(name)))) {
    return { documents: encodeResults(pipeline.run(documentsOf(rows), { skipStages })), isAlive };
  }
  const documents: Doc[] = [];
  for (const row of rows) {
    if (row === null) {
      await yieldToEventLoop();
    } else {
      documents.push(getDocument(row.version));
    }
  }
  return {
    documents: collectDocuments(encodeResults(pipeline.run(documents, { skipStages }))),
    isAlive: null,
  };
}

function* documentsOf(rows: Iterable<Row | null>): Generator<Doc> {
  for (const row of rows) {
    if (row !== null) {
      yield getDocument(row.version);
    }
  }
}

/** Computes all results immediately. */
function collectDocuments(documents: Iterable<Buffer | null>): Buffer[] {
  return [...documents].filter((document) => document !== null);
}

/**
 * Returns the documents of `$listLocalSessions`, which reads no collection, and the stages after
 * it. Undefined if the pipeline does not begin with that stage.
 */
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

function* encodeResults(documents: Iterable<Doc>): Generator<Buffer> {
  for (const document of documents) {
    const bytes = encode(document);
    if (bytes.length > DOCUMENT_BYTES_MAX) {
      throw new MongoError(
        10334,
        `BSONObj size: ${bytes.length} is invalid. Size must be between 0 and ${DOCUMENT_BYTES_MAX}`,
      );
    }
    yield bytes;
  }
}
