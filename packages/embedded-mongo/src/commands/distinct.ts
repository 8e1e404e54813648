import { MongoError } from '../errors.js';
import { compileFilter } from '../query/compile-filter.js';
import { compareValues } from '../values/compare.js';
import { keyString } from '../values/key-string.js';
import { splitPath, visitPath } from '../values/paths.js';
import { getDocument } from '../store/record.js';
import { findRowsByNamespace } from '../store/store.js';
import type { CommandContext, CommandResult } from './context.js';
import { docField, namespaceOf } from './fields.js';
import { checkCollation } from './query-options.js';
import { atClusterTimeOf } from './snapshot-reads.js';

/**
 * Runs `distinct`: returns the distinct values at a path in sorted order. Each element of an array
 * is a separate value.
 */
export function distinct(context: CommandContext): CommandResult {
  const { command, database, server, reader } = context;
  const namespace = namespaceOf(database, command['distinct']);
  checkCollation(command);
  const path = command['key'];
  if (typeof path !== 'string') {
    throw new MongoError(40414, "BSON field 'distinct.key' is missing but a required field");
  }
  const filter = docField(command, 'query') ?? {};
  const matches = compileFilter(filter);
  const found = new Map<string, unknown>();
  const rows = findRowsByNamespace(server.store, namespace, reader, {
    filter,
    matches,
    hint: command['hint'],
  });
  for (const { version } of rows) {
    const doc = getDocument(version);
    visitPath(doc, splitPath(path), true, (value, present) => {
      const values: unknown[] = !present ? [] : Array.isArray(value) ? value : [value];
      for (const each of values) {
        const key = keyString(each);
        if (!found.has(key)) {
          found.set(key, each);
        }
      }
      return false;
    });
  }
  return {
    values: [...found.values()].sort(compareValues),
    ...atClusterTimeOf(context.server.snapshotReads, context.reader),
  };
}
