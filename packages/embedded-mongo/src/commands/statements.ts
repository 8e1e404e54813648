import { MongoError } from '../errors.js';
import type { Transaction } from '../store/transaction.js';
import { rememberReply, findRememberedReply, runStatement } from '../transactions/run-statement.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';
import type { CommandContext } from './context.js';
import { asMongoError, writeError } from './error-reply.js';
import { boolField, checkFields, numberField, type FieldType } from './fields.js';
import { checkCollation } from './query-options.js';

const STATEMENTS_MAX = 100_000;

/**
 * Checks the number of statements.
 * @throws MongoError 16 if the batch is empty or too large.
 */
export function checkBatchSize(size: number): void {
  if (size === 0 || size > STATEMENTS_MAX) {
    throw new MongoError(
      16,
      `Write batch sizes must be between 1 and ${STATEMENTS_MAX}. Got ${size} operations.`,
    );
  }
}

/**
 * Returns the statements of an `update` or `delete`. Only the first two of their fields are
 * required.
 * @throws MongoError 40414 if a required field is missing, 40415 for an unknown field, 14 for a
 * wrong type, 16 for a wrong number of statements.
 */
export function statementsOf(
  command: Doc,
  [name, field]: readonly [name: string, field: string],
  types: Readonly<Record<string, FieldType>>,
): Doc[] {
  const where = `${name}.${field}`;
  const sent = command[field];
  if (!Array.isArray(sent)) {
    throw new MongoError(40414, `BSON field '${where}' is missing but a required field`);
  }
  checkBatchSize(sent.length);
  return sent.map((statement: unknown) => {
    if (!isDoc(statement)) {
      throw wrongType(where, statement);
    }
    checkFields(where, statement, { ...types, collation: 'object', hint: 'objectOrString' });
    for (const required of Object.keys(types).slice(0, 2)) {
      if (statement[required] === undefined) {
        throw new MongoError(40414, `BSON field '${where}.${required}' is missing but a required field`);
      }
    }
    if (!isDoc(statement['q'])) {
      throw wrongType(`${where}.q`, statement['q']);
    }
    return statement;
  });
}

function wrongType(where: string, value: unknown): MongoError {
  const type = typeNameOf(value);
  return new MongoError(14, `BSON field '${where}' is the wrong type '${type}', expected type 'object'`);
}

/** The results of the statements of a command. */
export interface StatementResults {
  /** The replies of the successful statements, each with the position of its statement. */
  readonly replies: readonly (readonly [index: number, reply: Doc])[];
  /** The reply fields `writeErrors` and `retriedStmtIds`. */
  readonly failures: Doc;
}

/**
 * Runs statements one after the other. Each is atomic, and its reply is remembered for a retry.
 * @param prepare Checks a statement and returns the function that runs it. That function may be
 * called several times.
 */
export async function runStatements(
  context: CommandContext,
  statements: readonly Doc[],
  prepare: (statement: Doc) => (transaction: Transaction) => Doc,
): Promise<StatementResults> {
  const { command, statement: setting } = context;
  const replies: [number, Doc][] = [];
  const writeErrors: Doc[] = [];
  const retriedStmtIds: number[] = [];
  for (const [index, statement] of statements.entries()) {
    try {
      const statementId = statementIdOf(command, index);
      const known = findRememberedReply(setting, statementId);
      if (known !== undefined) {
        retriedStmtIds.push(statementId);
        replies.push([index, known]);
        continue;
      }
      checkCollation(statement);
      const attempt = prepare(statement);
      const reply = await runStatement(setting, (transaction) => {
        const done = attempt(transaction);
        rememberReply(setting, transaction, statementId, done);
        return done;
      });
      replies.push([index, reply]);
    } catch (error) {
      writeErrors.push(writeError(statementError(error), index));
      if (boolField(command, 'ordered', true) || context.transaction !== null) {
        break;
      }
    }
  }
  return { replies, failures: failureFields(writeErrors, retriedStmtIds) };
}

/** Returns the reply fields for failed and repeated statements. An empty list is left out. */
export function failureFields(writeErrors: Doc[], retriedStmtIds: number[]): Doc {
  return {
    ...(writeErrors.length > 0 ? { writeErrors } : {}),
    ...(retriedStmtIds.length > 0 ? { retriedStmtIds } : {}),
  };
}

/** Returns the id by which a retry of the command recognizes a statement. */
export function statementIdOf(command: Doc, index: number): number {
  const ids = command['stmtIds'];
  if (Array.isArray(ids) && typeof ids[index] === 'number') {
    return ids[index];
  }
  return numberField(command, 'stmtId', 0) + index;
}

/**
 * Codes of errors that end the whole command: write conflicts, an aborted transaction, timeouts, a
 * step-down and a disconnected client.
 */
const COMMAND_ERRORS: ReadonlySet<number> = new Set([50, 112, 225, 251, 279, 10107, 11602]);

/** Returns the error for `writeErrors`. If the error ends the whole command, it is thrown again. */
export function statementError(error: unknown): MongoError {
  if (!(error instanceof MongoError) || COMMAND_ERRORS.has(error.code)) {
    throw error;
  }
  return asMongoError(error);
}
