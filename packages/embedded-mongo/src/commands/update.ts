import { MongoError } from '../errors.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';
import { remember, rememberedReply, runStatement } from '../transactions/run-statement.js';
import type { CommandContext, CommandResult } from './context.js';
import { writeError } from './error-reply.js';
import { boolField, checkFields, docField, namespaceOf } from './fields.js';
import { statementError } from './insert.js';
import { checkCollation } from './query-options.js';
import { statementIdOf } from './statement-id.js';
import { statementsOf } from './statements.js';
import { prepareUpdate } from './update-matching.js';

/** What the statements of a command have come to. */
interface Totals {
  n: number;
  nModified: number;
  upserted: Doc[];
  errors: Doc[];
  retried: number[];
}

/** `update`: each statement is one atomic step. */
export async function update(context: CommandContext): Promise<CommandResult> {
  const { command, database } = context;
  const namespace = namespaceOf(database, command['update']);
  const statements = statementsOf(command, 'update', 'updates');
  statements.forEach(checkStatement);
  if (
    context.statement.retrySession !== null &&
    statements.some((statement) => boolField(statement, 'multi'))
  ) {
    throw new MongoError(72, 'Cannot use (or request) retryable writes with multi=true');
  }
  const totals: Totals = { n: 0, nModified: 0, upserted: [], errors: [], retried: [] };
  for (const [index, statement] of statements.entries()) {
    try {
      await updateOnce(context, { namespace, statement, index, totals });
    } catch (error) {
      totals.errors.push(writeError(statementError(error), index));
      if (boolField(command, 'ordered', true) || context.transaction !== null) {
        break;
      }
    }
  }
  return {
    n: totals.n,
    nModified: totals.nModified,
    ...(totals.upserted.length > 0 ? { upserted: totals.upserted } : {}),
    ...(totals.errors.length > 0 ? { writeErrors: totals.errors } : {}),
    ...(totals.retried.length > 0 ? { retriedStmtIds: totals.retried } : {}),
  };
}

async function updateOnce(
  context: CommandContext,
  {
    namespace,
    statement,
    index,
    totals,
  }: { namespace: string; statement: Doc; index: number; totals: Totals },
): Promise<void> {
  const statementId = statementIdOf(context.command, index);
  let reply = rememberedReply(context.statement, statementId);
  if (reply !== undefined) {
    totals.retried.push(statementId);
  } else {
    checkCollation(statement);
    const apply = prepareUpdate(context, {
      namespace,
      filter: docField(statement, 'q') ?? {},
      update: statement['u'],
      arrayFilters: statement['arrayFilters'],
      sort: undefined,
      hint: statement['hint'],
      multi: boolField(statement, 'multi'),
      upsert: boolField(statement, 'upsert'),
      statement,
    });
    reply = await runStatement(context.statement, (transaction) => {
      const { matched, modified, upserted } = apply(transaction);
      const result = {
        n: matched,
        nModified: modified,
        ...(upserted === null ? {} : { upserted: upserted.id }),
      };
      remember(context.statement, transaction, statementId, result);
      return result;
    });
  }
  totals.n += Number(reply['n']);
  totals.nModified += Number(reply['nModified']);
  if ('upserted' in reply) {
    totals.upserted.push({ index, _id: reply['upserted'] });
  }
}

function checkStatement(statement: Doc): void {
  checkFields('update.updates', statement, {
    q: 'object',
    u: 'any',
    c: 'object',
    multi: 'bool',
    upsert: 'bool',
    upsertSupplied: 'bool',
    collation: 'object',
    arrayFilters: 'array',
    hint: 'objectOrString',
  });
  for (const field of ['q', 'u']) {
    if (statement[field] === undefined) {
      throw new MongoError(40414, `BSON field 'update.updates.${field}' is missing but a required field`);
    }
  }
  if (!isDoc(statement['q'])) {
    throw new MongoError(
      14,
      "BSON field 'update.updates.q' is the wrong type 'null', expected type 'object'",
    );
  }
  const { u } = statement;
  if (!isDoc(u) && !Array.isArray(u)) {
    throw new MongoError(9, `Update argument must be either an object or an array, not ${typeNameOf(u)}`);
  }
}
