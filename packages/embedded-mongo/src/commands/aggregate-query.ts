import type { CompiledPipeline } from '../aggregation/pipeline.js';
import type { Collections } from '../aggregation/stage.js';
import { compileFilter } from '../query/compile-filter.js';
import { keysOf } from '../values/fields.js';
import { isDoc, isNumeric, type Doc } from '../values/types.js';
import type { RowQuery } from '../store/find-rows.js';
import { getDocument } from '../store/record.js';
import { findRowsByNamespace } from '../store/store.js';
import type { CommandContext } from './context.js';
import { namespaceOf } from './fields.js';
import { getFilterOptions } from './query-options.js';

/** Builds the query that replaces the first stages of a pipeline. */
export function buildPrefixQuery(
  { now }: CommandContext,
  command: Doc,
  pipeline: CompiledPipeline,
): RowQuery {
  const filter = pipeline.prefix.filter ?? {};
  const stages = Array.isArray(command['pipeline']) ? command['pipeline'].slice(pipeline.prefix.stages) : [];
  const { skip, limit } = windowOf(stages);
  return {
    filter,
    matches: compileFilter(filter, getFilterOptions(command, now)),
    sort: pipeline.prefix.sort,
    limit: limit === 0 ? 0 : skip + limit,
    hint: command['hint'],
  };
}

/**
 * Returns the namespace of the collection that a pipeline reads. Undefined for `{aggregate: 1}`.
 */
export function aggregatedNamespace(command: Doc, database: string): string | undefined {
  return isNumeric(command['aggregate']) ? undefined : namespaceOf(database, command['aggregate']);
}

/**
 * Returns a `$skip` and a `$limit` at the start of the stages, and the stages after them. Zero
 * means that the stage is absent.
 */
function windowOf(stages: readonly unknown[]): { skip: number; limit: number; rest: readonly Doc[] } {
  const rest = stages.filter(isDoc);
  const skip = isNumeric(rest[0]?.['$skip']) ? Number(rest.shift()?.['$skip']) : 0;
  const limit = isNumeric(rest[0]?.['$limit']) ? Number(rest.shift()?.['$limit']) : 0;
  return { skip, limit, rest };
}

/** A pipeline whose only result is a number of documents. */
interface PlainCount {
  /** The part of the query's result that is counted. A limit of zero means no limit. */
  readonly window: { readonly skip: number; readonly limit: number };
  /** Builds the result document from the number. */
  readonly result: (n: number) => Doc;
}

/**
 * Recognizes stages that only count, so that no document needs to be read: an optional `$skip`, an
 * optional `$limit`, then `$count` or `{$group: {_id: 1, n: {$sum: 1}}}`.
 */
export function matchCountOnlyPipeline(stages: readonly unknown[]): PlainCount | undefined {
  const { skip, limit, rest } = windowOf(stages);
  const result = rest.length === 1 ? countResult(rest[0]?.['$count'], rest[0]?.['$group']) : undefined;
  return result === undefined ? undefined : { window: { skip, limit }, result };
}

function countResult(name: unknown, group: unknown): PlainCount['result'] | undefined {
  if (typeof name === 'string') {
    return (n) => ({ [name]: n });
  }
  const [id, field, ...others] = isDoc(group) ? keysOf(group) : [];
  const sum = isDoc(group) ? group[field ?? ''] : undefined;
  const isCount = isDoc(sum) && keysOf(sum).length === 1 && sum['$sum'] === 1;
  if (!isDoc(group) || id !== '_id' || field === undefined || others.length > 0 || !isCount) {
    return undefined;
  }
  const { _id } = group;
  return _id === 1 || _id === null ? (n) => ({ _id, [field]: n }) : undefined;
}

/** Creates the access to other collections that `$lookup` needs. */
export function createCollectionReader({ server, database, reader }: CommandContext): Collections {
  const { store } = server;
  return {
    lookup(name, filter) {
      const rows = findRowsByNamespace(store, `${database}.${name}`, reader, {
        filter,
        matches: compileFilter(filter),
      });
      return rows.map(({ version }) => getDocument(version));
    },
  };
}
