import type { Timestamp } from 'bson';
import type { Scope } from '../aggregation/operator.js';
import { compileUpdatePipeline } from '../aggregation/pipeline.js';
import { systemScope } from '../aggregation/scope.js';
import { MongoError } from '../errors.js';
import { compileFilter } from '../query/compile-filter.js';
import type { MatchDetails } from '../query/predicate.js';
import { equalValues } from '../values/compare.js';
import { docOf, getField, hasField, keysOf } from '../values/fields.js';
import { hasIdenticalBytes } from '../values/identical.js';
import { isDoc, type Doc } from '../values/types.js';
import { applyTree, type ApplyOptions } from './apply-tree.js';
import { compileArrayFilters } from './array-filters.js';
import { parseModifiers } from './parse-modifiers.js';
import { buildUpsertDocument } from './upsert-base.js';

export interface UpdateRequest {
  /** An object with update operators, a replacement document or a pipeline. */
  readonly update: unknown;
  readonly filter: Doc;
  readonly arrayFilters?: unknown;
  readonly multi?: boolean;
  /** The variables of the command's `let`, or the constants `c` of a pipeline update. */
  readonly scope?: Scope | undefined;
  readonly now: Date;
  readonly timestamp: Timestamp;
}

export interface CompiledUpdate {
  /** Returns an updated copy of a matching document. Returns the same object if nothing changes. */
  readonly apply: (doc: Doc) => Doc;
  /**
   * Returns the document to insert if no document matches. It has an `_id` only if the filter or
   * the update sets one.
   */
  readonly upsert: () => Doc;
}

/**
 * Checks and compiles an update before any document is read.
 * @throws MongoError with the codes that MongoDB uses for an invalid update.
 */
export function compileUpdate(request: UpdateRequest): CompiledUpdate {
  const { update } = request;
  if (Array.isArray(update)) {
    return compilePipelineUpdate(update, request);
  }
  if (!isDoc(update)) {
    throw new MongoError(9, 'Update argument must be either an object or an array');
  }
  return keysOf(update)[0]?.startsWith('$') === true
    ? compileModifiers(update, request)
    : compileReplacement(update, request);
}

function compileModifiers(update: Doc, request: UpdateRequest): CompiledUpdate {
  const { filter, scope, now, timestamp } = request;
  const options = scope === undefined ? {} : { scope };
  const filters = compileArrayFilters(arrayFiltersOf(request), options);
  const { tree, isPositional } = parseModifiers(update, filters);
  const locate = isPositional ? compileFilter(filter, options) : undefined;
  const run = (doc: Doc, position: number | undefined, insert: boolean): Doc => {
    const applied: ApplyOptions = { filters, position, insert, now, timestamp };
    return checkUpdated(applyTree(tree, doc, applied), doc);
  };
  return {
    apply: (doc) => {
      const details: MatchDetails = { position: undefined };
      locate?.(doc, details);
      return run(doc, details.position, false);
    },
    upsert: () => run(buildUpsertDocument(filter), undefined, true),
  };
}

function compileReplacement(replacement: Doc, request: UpdateRequest): CompiledUpdate {
  if (request.multi === true) {
    throw new MongoError(9, 'multi update is not supported for replacement-style update');
  }
  if (arrayFiltersOf(request).length > 0) {
    throw new MongoError(9, 'Cannot specify arrayFilters and no update operators');
  }
  const replace = (doc: Doc): Doc => {
    if (!hasField(doc, '_id')) {
      return checkNames(replacement, []);
    }
    const rest = keysOf(replacement).filter((key) => key !== '_id');
    const id = hasField(replacement, '_id') ? getField(replacement, '_id') : getField(doc, '_id');
    const result = docOf([['_id', id], ...rest.map((key) => [key, replacement[key]] as const)]);
    return hasIdenticalBytes(result, doc) ? doc : checkNames(checkId(result, doc), []);
  };
  return {
    apply: replace,
    upsert: () => {
      const base = buildUpsertDocument(request.filter);
      return replace(hasField(base, '_id') ? { _id: getField(base, '_id') } : {});
    },
  };
}

function compilePipelineUpdate(pipeline: readonly unknown[], request: UpdateRequest): CompiledUpdate {
  if (arrayFiltersOf(request).length > 0) {
    throw new MongoError(9, 'arrayFilters may not be specified for pipeline-style updates');
  }
  const transform = compileUpdatePipeline(pipeline, request.scope ?? systemScope(request.now));
  const run = (doc: Doc): Doc => {
    const result = transform(doc);
    const complete =
      hasField(doc, '_id') && !hasField(result, '_id')
        ? docOf([['_id', getField(doc, '_id')], ...keysOf(result).map((key) => [key, result[key]] as const)])
        : result;
    // Field names are not checked, because a pipeline with `$setField` may create fields that begin
    // with a dollar sign.
    return hasIdenticalBytes(complete, doc) ? doc : checkId(complete, doc);
  };
  return { apply: run, upsert: () => run(buildUpsertDocument(request.filter)) };
}

function arrayFiltersOf({ arrayFilters }: UpdateRequest): readonly unknown[] {
  if (arrayFilters === undefined) {
    return [];
  }
  if (!Array.isArray(arrayFilters)) {
    throw new MongoError(14, 'arrayFilters must be an array');
  }
  return arrayFilters;
}

/**
 * Checks the `_id` and the field names of an updated document. The names of existing fields are not
 * checked.
 */
function checkUpdated(after: Doc, before: Doc): Doc {
  return after === before ? before : checkNames(checkId(after, before), Object.keys(before));
}

/** @throws MongoError 66 if the `_id` has changed. */
function checkId(after: Doc, before: Doc): Doc {
  if (
    hasField(before, '_id') &&
    !(hasField(after, '_id') && equalValues(getField(after, '_id'), getField(before, '_id')))
  ) {
    throw new MongoError(66, "Performing an update on the path '_id' would modify the immutable field '_id'");
  }
  return after;
}

/** @throws MongoError 52 if a new top-level field begins with a dollar sign. */
function checkNames(after: Doc, known: readonly string[]): Doc {
  for (const key of Object.keys(after)) {
    if (key.startsWith('$') && !known.includes(key)) {
      throw new MongoError(
        52,
        `The dollar ($) prefixed field '${key}' in '${key}' is not valid for storage.`,
      );
    }
  }
  return after;
}
