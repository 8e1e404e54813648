import { compileFilter } from '../query/compile-filter.js';
import { compileUpdate } from '../update/compile-update.js';
import { hasField, keysOf } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';
import { findRows } from '../store/find-rows.js';
import { getDocument } from '../store/record.js';
import { collectionFor, ensureCollection } from '../store/store.js';
import type { Transaction } from '../store/transaction.js';
import { insertDocument, replaceDocument } from '../store/write.js';
import type { CommandContext } from './context.js';
import { getFilterOptions, letScopeOf } from './query-options.js';
import { checkId, fillDefaults, encodeUpdated } from './storable-document.js';

/** An update, as requested by a statement of `update` or by `findAndModify`. */
export interface UpdateRequest {
  namespace: string;
  filter: Doc;
  update: unknown;
  arrayFilters: unknown;
  sort: Doc | undefined;
  hint: unknown;
  multi: boolean;
  upsert: boolean;
  /** The whole statement. Its field `c` contains the constants of a pipeline update. */
  statement: Doc;
}

export interface UpdateOutcome {
  matched: number;
  modified: number;
  /**
   * The `_id` of an inserted document. It is wrapped in an object, because an `_id` may also be
   * null.
   */
  upserted: { id: unknown } | null;
  /** The last matching document before the update. */
  before: Doc | null;
  /** The last matching document after the update, or the inserted document. */
  after: Doc | null;
}

/**
 * Compiles and checks an update before any document is read. Returns the function that applies the
 * update in a transaction. That function may run several times.
 */
export function prepareUpdate(
  context: CommandContext,
  request: UpdateRequest,
): (transaction: Transaction) => UpdateOutcome {
  const { server, command, now } = context;
  const { filter, update, arrayFilters, multi, statement, upsert } = request;
  const matches = compileFilter(filter, getFilterOptions(command, now));
  const compiled = compileUpdate({
    update,
    filter,
    arrayFilters,
    multi,
    scope: letScopeOf(statement, now, 'c') ?? letScopeOf(command, now),
    now,
    timestamp: server.clock.at(server.store.clock),
  });
  const isOperators = isDoc(update) && keysOf(update)[0]?.startsWith('$') === true;
  const isReplacement = isDoc(update) && !isOperators;
  const finish = (doc: Doc): Doc =>
    isReplacement ? fillDefaults(doc, server.clock.at(server.store.clock)) : doc;

  return (transaction) => {
    const outcome: UpdateOutcome = { matched: 0, modified: 0, upserted: null, before: null, after: null };
    const collection = collectionFor(server.store, request.namespace, transaction);
    if (collection !== undefined) {
      const limit = multi ? 0 : 1;
      const rows = findRows(collection, transaction, {
        filter,
        matches,
        sort: request.sort,
        limit,
        hint: request.hint,
      });
      for (const { record, version } of rows) {
        const before = getDocument(version);
        const updated = compiled.apply(before);
        const after = updated === before ? before : finish(updated);
        outcome.matched += 1;
        outcome.before = before;
        outcome.after = after;
        if (after === before) {
          continue;
        }
        const bytes = encodeUpdated(after);
        // Update operators return the same object if nothing changed. Replacements and pipelines
        // are compared by their bytes.
        if (isOperators || version.bytes?.equals(bytes) !== true) {
          replaceDocument(transaction, collection, record, { doc: after, bytes });
          outcome.modified += 1;
        }
      }
    }
    if (outcome.matched === 0 && upsert) {
      insertUpserted(context, transaction, request.namespace, { doc: compiled.upsert(), outcome });
    }
    return outcome;
  };
}

function insertUpserted(
  { server }: CommandContext,
  transaction: Transaction,
  namespace: string,
  { doc, outcome }: { doc: Doc; outcome: UpdateOutcome },
): void {
  const whole = fillDefaults(doc, server.clock.at(server.store.clock));
  checkId(whole['_id']);
  const bytes = encodeUpdated(whole);
  insertDocument(transaction, ensureCollection(server.store, namespace, transaction), whole, bytes);
  outcome.matched = 1;
  outcome.upserted = { id: hasField(whole, '_id') ? whole['_id'] : null };
  outcome.after = whole;
}
