import { MongoError } from '../errors.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';
import type { CommandContext, CommandResult } from './context.js';
import { boolField, docField, namespaceOf, type FieldType } from './fields.js';
import { runStatements, statementsOf } from './statements.js';
import { prepareUpdate } from './update-matching.js';

const FIELDS: Readonly<Record<string, FieldType>> = {
  q: 'object',
  u: 'any',
  c: 'object',
  multi: 'bool',
  upsert: 'bool',
  upsertSupplied: 'bool',
  arrayFilters: 'array',
};

/** Runs `update`. Each of its statements is atomic. */
export async function update(context: CommandContext): Promise<CommandResult> {
  const { command, database } = context;
  const namespace = namespaceOf(database, command['update']);
  const statements = statementsOf(command, ['update', 'updates'], FIELDS);
  for (const statement of statements) {
    const { u } = statement;
    if (!isDoc(u) && !Array.isArray(u)) {
      throw new MongoError(9, `Update argument must be either an object or an array, not ${typeNameOf(u)}`);
    }
    if (context.statement.retrySession !== null && boolField(statement, 'multi')) {
      throw new MongoError(72, 'Cannot use (or request) retryable writes with multi=true');
    }
  }
  const { replies, failures } = await runStatements(context, statements, (statement) => {
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
    return (transaction) => {
      const { matched, modified, upserted } = apply(transaction);
      return { n: matched, nModified: modified, ...(upserted === null ? {} : { upserted: upserted.id }) };
    };
  });
  const sum = (field: string): number =>
    replies.reduce((total, [, reply]) => total + Number(reply[field]), 0);
  const upserted = replies.flatMap(([index, reply]): Doc[] =>
    'upserted' in reply ? [{ index, _id: reply['upserted'] }] : [],
  );
  return {
    n: sum('n'),
    nModified: sum('nModified'),
    ...(upserted.length > 0 ? { upserted } : {}),
    ...failures,
  };
}
