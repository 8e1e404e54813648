import { compileFilter } from '../query/compile-filter.js';
import { countRows } from '../store/count-rows.js';
import { collectionFor } from '../store/store.js';
import type { CommandContext, CommandResult } from './context.js';
import { docField, namespaceOf, numberField } from './fields.js';
import { checkCollation } from './query-options.js';

/** Runs `count`. As in MongoDB, a negative limit counts as its absolute value. */
export function count({ command, database, server, reader }: CommandContext): CommandResult {
  const namespace = namespaceOf(database, command['count']);
  checkCollation(command);
  const filter = docField(command, 'query') ?? {};
  const query = {
    filter,
    matches: compileFilter(filter),
    skip: numberField(command, 'skip', 0),
    limit: Math.abs(numberField(command, 'limit', 0)),
    hint: command['hint'],
  };
  const collection = collectionFor(server.store, namespace, reader);
  return { n: collection === undefined ? 0 : countRows(collection, reader, query) };
}
