import { compileFilter } from '../query/compile-filter.js';
import { keysOf } from '../values/fields.js';
import { visibleVersion } from '../store/collection.js';
import { findRows } from '../store/find-rows.js';
import { collectionFor } from '../store/store.js';
import type { CommandContext, CommandResult } from './context.js';
import { docField, namespaceOf, numberField } from './fields.js';
import { checkCollation } from './query-options.js';

/** `count`: a negative limit counts up to its absolute value. */
export function count({ command, database, server, reader }: CommandContext): CommandResult {
  const namespace = namespaceOf(database, command['count']);
  checkCollation(command);
  const filter = docField(command, 'query') ?? {};
  const matches = compileFilter(filter);
  const skip = numberField(command, 'skip', 0);
  const limit = Math.abs(numberField(command, 'limit', 0));
  const collection = collectionFor(server.store, namespace, reader);
  if (collection === undefined) {
    return { n: 0 };
  }
  if (keysOf(filter).length > 0 || (command['hint'] !== undefined && command['hint'] !== null)) {
    return {
      n: findRows(collection, reader, { filter, matches, skip, limit, hint: command['hint'] }).length,
    };
  }
  let n = 0;
  for (const record of collection.records.values()) {
    if (visibleVersion(record, reader) !== null) {
      n += 1;
    }
  }
  n = Math.max(0, n - skip);
  return { n: limit > 0 ? Math.min(n, limit) : n };
}
