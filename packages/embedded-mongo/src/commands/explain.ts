import { compilePipeline } from '../aggregation/pipeline.js';
import { MongoError } from '../errors.js';
import { compileFilter } from '../query/compile-filter.js';
import { isDoc, type Doc } from '../values/types.js';
import type { Collection } from '../store/collection.js';
import { executeCount, isCountable } from '../store/count-rows.js';
import {
  executePlan,
  getIdLookupKey,
  needsInMemorySort,
  type RowQuery,
  type ScanStats,
} from '../store/find-rows.js';
import { isMultikey } from '../store/index-definition.js';
import { planQuery, type IndexPlan, type Plan } from '../store/plan.js';
import { collectionFor } from '../store/store.js';
import type { Transaction } from '../store/transaction.js';
import { createCollectionReader, buildPrefixQuery } from './aggregate-query.js';
import type { CommandContext, CommandResult } from './context.js';
import { docField, namespaceOf, numberField } from './fields.js';
import { scopeOf, sortOf } from './query-options.js';

/** The query to explain, and the pipeline stages after it. */
interface ExplainedQuery {
  namespace: string;
  query: RowQuery;
  isCount: boolean;
  projected: boolean;
  /** Pipeline stages that process the result of the query. */
  rest: readonly unknown[];
}

/**
 * Runs `explain`: returns the plan of a query in MongoDB's format. With verbosity `executionStats`
 * or higher, it also runs the query and returns how many keys and documents were examined.
 */
export function explain(context: CommandContext): CommandResult {
  const inner = docField(context.command, 'explain');
  if (inner === undefined) {
    throw new MongoError(14, "BSON field 'explain.explain' must be an object");
  }
  return explainCommand(context, inner, verbosityOf(context.command));
}

/** Explains the command `inner`. */
export function explainCommand(context: CommandContext, inner: Doc, verbosity: string): Doc {
  const explained = explainedQuery(context, inner);
  const { server, reader } = context;
  const collection = collectionFor(server.store, explained.namespace, reader);
  const query = explained.query;
  const startedAtMs = performance.now();
  const stats: ScanStats = { keysExamined: 0, docsExamined: 0 };
  const plan: Plan =
    collection === undefined
      ? { kind: 'scan', backward: false }
      : planQuery(collection, { filter: query.filter, sort: query.sort, hint: query.hint });
  const found =
    collection === undefined ? 0 : countFound(explained, collection, reader, { plan, query, stats });
  const winningPlan = collection === undefined ? { stage: 'EOF' } : planTree(plan, explained);
  const queryPlanner = {
    namespace: explained.namespace,
    indexFilterSet: false,
    parsedQuery: query.filter,
    maxIndexedOrSolutionsReached: false,
    winningPlan,
    rejectedPlans: [],
  };
  const executionStats = {
    executionSuccess: true,
    nReturned: explained.isCount ? 0 : found,
    executionTimeMillis: Math.round(performance.now() - startedAtMs),
    totalKeysExamined: stats.keysExamined,
    totalDocsExamined: stats.docsExamined,
    executionStages: withCounts(winningPlan, { nReturned: found, ...stats }),
  };
  const result = { queryPlanner, ...(verbosity === 'queryPlanner' ? {} : { executionStats }) };
  const serverInfo = { host: server.address, version: '7.0.0', gitVersion: 'embedded-mongo' };
  return explained.rest.length > 0
    ? { stages: [{ $cursor: result }, ...explained.rest], serverInfo, command: inner }
    : { explainVersion: '1', ...result, command: inner, serverInfo };
}

function countFound(
  { isCount }: ExplainedQuery,
  collection: Collection,
  reader: Transaction | null,
  run: Parameters<typeof executePlan>[2],
): number {
  return isCount ? executeCount(collection, reader, run) : executePlan(collection, reader, run).length;
}

function explainedQuery(context: CommandContext, inner: Doc): ExplainedQuery {
  const { database, now } = context;
  const [name = ''] = Object.keys(inner);
  const namespace = namespaceOf(database, inner[name]);
  const scope = scopeOf(inner, now);
  const make = (filter: Doc, from: Doc, options: Partial<RowQuery> = {}): RowQuery => ({
    filter,
    matches: compileFilter(filter, { scope }),
    hint: from['hint'],
    ...options,
  });
  const plain = { namespace, isCount: false, projected: false, rest: [] };
  switch (name) {
    case 'find': {
      const window = { skip: numberField(inner, 'skip', 0), limit: numberField(inner, 'limit', 0) };
      const query = make(docField(inner, 'filter') ?? {}, inner, { sort: sortOf(inner), ...window });
      return { ...plain, query, projected: docField(inner, 'projection') !== undefined };
    }
    case 'aggregate': {
      const pipeline = compilePipeline(inner['pipeline'], {
        scope,
        collections: createCollectionReader(context),
      });
      const rest = (inner['pipeline'] as unknown[]).slice(pipeline.prefix.stages);
      return { ...plain, query: buildPrefixQuery(context, inner, pipeline), rest };
    }
    case 'count':
      return { ...plain, query: make(docField(inner, 'query') ?? {}, inner), isCount: true };
    case 'distinct':
      return { ...plain, query: make(docField(inner, 'query') ?? {}, inner) };
    case 'findAndModify':
    case 'findandmodify':
    case 'update':
    case 'delete':
      throw new MongoError(
        238,
        `explain of '${name}' is not supported by embedded-mongo: explain its filter by find`,
      );
    default:
      throw new MongoError(59, `Explain failed due to unknown command: ${name}`);
  }
}

function planTree(plan: Plan, { query, isCount, projected }: ExplainedQuery): Doc {
  if (isCount && isCountable(plan, query)) {
    return { stage: 'COUNT', inputStage: { ...indexStage(plan), stage: 'COUNT_SCAN' } };
  }
  let tree: Doc = getIdLookupKey(query) === undefined ? accessTree(plan, query.filter) : { stage: 'IDHACK' };
  if (needsInMemorySort(plan, query.sort)) {
    tree = { stage: 'SORT', sortPattern: query.sort, type: 'simple', inputStage: tree };
  }
  if ((query.skip ?? 0) > 0) {
    tree = { stage: 'SKIP', skipAmount: query.skip, inputStage: tree };
  }
  if ((query.limit ?? 0) > 0 && !isCount) {
    tree = { stage: 'LIMIT', limitAmount: query.limit, inputStage: tree };
  }
  if (projected) {
    tree = { stage: 'PROJECTION_DEFAULT', inputStage: tree };
  }
  return isCount ? { stage: 'COUNT', inputStage: tree } : tree;
}

function accessTree(plan: Plan, filter: Doc): Doc {
  switch (plan.kind) {
    case 'scan':
      return { stage: 'COLLSCAN', filter, direction: plan.backward ? 'backward' : 'forward' };
    case 'index':
      return { stage: 'FETCH', filter, inputStage: indexStage(plan) };
    case 'union':
      return {
        stage: 'FETCH',
        filter,
        inputStage: { stage: 'OR', inputStages: plan.branches.map(indexStage) },
      };
  }
}

function indexStage({ index, bounds, backward }: IndexPlan): Doc {
  return {
    stage: 'IXSCAN',
    keyPattern: index.spec['key'],
    indexName: index.name,
    isMultiKey: isMultikey(index),
    isUnique: index.unique,
    isSparse: index.sparse,
    isPartial: index.partialFilter !== null,
    indexVersion: 2,
    direction: backward ? 'backward' : 'forward',
    indexBounds: Object.fromEntries(
      index.fields.map(({ path }) => [path, bounds.shown[path]?.() ?? ['[MinKey, MaxKey]']]),
    ),
  };
}

function withCounts(
  stage: Doc,
  counts: { nReturned: number; keysExamined: number; docsExamined: number },
): Doc {
  const { inputStage, ...own } = stage;
  const name = own['stage'];
  return {
    ...own,
    nReturned: counts.nReturned,
    ...(name === 'IXSCAN' || name === 'COUNT_SCAN' ? { keysExamined: counts.keysExamined } : {}),
    ...(name === 'FETCH' || name === 'COLLSCAN' || name === 'IDHACK'
      ? { docsExamined: counts.docsExamined }
      : {}),
    ...(isDoc(inputStage) ? { inputStage: withCounts(inputStage, counts) } : {}),
  };
}

function verbosityOf({ verbosity }: Doc): string {
  return typeof verbosity === 'string' ? verbosity : 'allPlansExecution';
}
