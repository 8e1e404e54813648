import { MongoError } from '../errors.js';
import { compileFilter } from '../query/compile-filter.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';
import { show } from '../store/duplicate-key.js';
import { findRows } from '../store/find-rows.js';
import { collectionFor } from '../store/store.js';
import { deleteDocument } from '../store/write.js';
import { remember, rememberedReply, runStatement } from '../transactions/run-statement.js';
import type { CommandContext, CommandResult } from './context.js';
import { writeError } from './error-reply.js';
import { boolField, checkFields, docField, namespaceOf, numberField } from './fields.js';
import { statementError } from './insert.js';
import { checkCollation, filterOptions } from './query-options.js';
import { statementIdOf } from './statement-id.js';
import { statementsOf } from './statements.js';

/** `delete`: each statement is one atomic step. */
export async function deleteCommand(context: CommandContext): Promise<CommandResult> {
  const { command, database } = context;
  const namespace = namespaceOf(database, command['delete']);
  const statements = statementsOf(command, 'delete', 'deletes');
  statements.forEach(checkStatement);
  if (
    context.statement.retrySession !== null &&
    statements.some((statement) => numberField(statement, 'limit', 0) === 0)
  ) {
    throw new MongoError(72, 'Cannot use (or request) retryable writes with limit=0');
  }
  let n = 0;
  const errors: Doc[] = [];
  const retried: number[] = [];
  for (const [index, statement] of statements.entries()) {
    try {
      const statementId = statementIdOf(command, index);
      const known = rememberedReply(context.statement, statementId);
      if (known !== undefined) {
        retried.push(statementId);
      }
      n +=
        known === undefined
          ? await deleteMatching(context, { namespace, statement, statementId })
          : Number(known['n']);
    } catch (error) {
      errors.push(writeError(statementError(error), index));
      if (boolField(command, 'ordered', true) || context.transaction !== null) {
        break;
      }
    }
  }
  return {
    n,
    ...(errors.length > 0 ? { writeErrors: errors } : {}),
    ...(retried.length > 0 ? { retriedStmtIds: retried } : {}),
  };
}

function deleteMatching(
  context: CommandContext,
  { namespace, statement, statementId }: { namespace: string; statement: Doc; statementId: number },
): Promise<number> {
  const { server, command, now } = context;
  checkCollation(statement);
  const filter = docField(statement, 'q') ?? {};
  const matches = compileFilter(filter, filterOptions(command, now));
  const limit = numberField(statement, 'limit', 0);
  return runStatement(context.statement, (transaction) => {
    const collection = collectionFor(server.store, namespace, transaction);
    const rows =
      collection === undefined
        ? []
        : findRows(collection, transaction, { filter, matches, limit, hint: statement['hint'] });
    for (const { record } of rows) {
      if (collection !== undefined) {
        deleteDocument(transaction, collection, record);
      }
    }
    remember(context.statement, transaction, statementId, { n: rows.length });
    return rows.length;
  });
}

function checkStatement(statement: Doc): void {
  const limit = statement['limit'];
  if (limit === undefined) {
    throw new MongoError(40414, "BSON field 'delete.deletes.limit' is missing but a required field");
  }
  checkFields('delete.deletes', statement, {
    q: 'object',
    limit: 'number',
    collation: 'object',
    hint: 'objectOrString',
    let: 'object',
  });
  if (!isDoc(statement['q'])) {
    throw statement['q'] === undefined
      ? new MongoError(40414, "BSON field 'delete.deletes.q' is missing but a required field")
      : new MongoError(
          14,
          `BSON field 'delete.deletes.q' is the wrong type '${typeNameOf(statement['q'])}', expected type 'object'`,
        );
  }
  if (Number(limit) !== 0 && Number(limit) !== 1) {
    throw new MongoError(9, `The limit field in delete objects must be 0 or 1. Got ${show(limit)}`);
  }
}
