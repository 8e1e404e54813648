import { MongoError } from '../errors.js';
import { compileFilter } from '../query/compile-filter.js';
import type { Doc } from '../values/types.js';
import { formatValue } from '../store/duplicate-key.js';
import { findRows } from '../store/find-rows.js';
import { collectionFor } from '../store/store.js';
import type { Transaction } from '../store/transaction.js';
import { deleteDocument } from '../store/write.js';
import type { CommandContext, CommandResult } from './context.js';
import { docField, namespaceOf, numberField } from './fields.js';
import { getFilterOptions } from './query-options.js';
import { runStatements, statementsOf } from './statements.js';

/** Runs `delete`. Each of its statements is atomic. */
export async function deleteCommand(context: CommandContext): Promise<CommandResult> {
  const { command, database } = context;
  const namespace = namespaceOf(database, command['delete']);
  const types = { q: 'object', limit: 'number', let: 'object' } as const;
  const statements = statementsOf(command, ['delete', 'deletes'], types);
  for (const { limit } of statements) {
    if (Number(limit) !== 0 && Number(limit) !== 1) {
      throw new MongoError(9, `The limit field in delete objects must be 0 or 1. Got ${formatValue(limit)}`);
    }
    if (context.statement.retrySession !== null && Number(limit) === 0) {
      throw new MongoError(72, 'Cannot use (or request) retryable writes with limit=0');
    }
  }
  const { replies, failures } = await runStatements(context, statements, (statement) =>
    prepareDelete(context, namespace, statement),
  );
  return { n: replies.reduce((sum, [, { n }]) => sum + Number(n), 0), ...failures };
}

function prepareDelete(
  { server, command, now }: CommandContext,
  namespace: string,
  statement: Doc,
): (transaction: Transaction) => Doc {
  const filter = docField(statement, 'q') ?? {};
  const matches = compileFilter(filter, getFilterOptions(command, now));
  const limit = numberField(statement, 'limit', 0);
  return (transaction) => {
    const collection = collectionFor(server.store, namespace, transaction);
    if (collection === undefined) {
      return { n: 0 };
    }
    const rows = findRows(collection, transaction, { filter, matches, limit, hint: statement['hint'] });
    rows.forEach(({ record }) => deleteDocument(transaction, collection, record));
    return { n: rows.length };
  };
}
