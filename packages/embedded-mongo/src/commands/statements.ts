import { MongoError } from '../errors.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';

const STATEMENTS_MAX = 100_000;

/** The statements of an `update` or `delete`. Throws MongoError 40414, 14 or 16. */
export function statementsOf(command: Doc, name: string, field: string): Doc[] {
  const sent = command[field];
  if (!Array.isArray(sent)) {
    throw new MongoError(40414, `BSON field '${name}.${field}' is missing but a required field`);
  }
  if (sent.length === 0 || sent.length > STATEMENTS_MAX) {
    throw new MongoError(
      16,
      `Write batch sizes must be between 1 and ${STATEMENTS_MAX}. Got ${sent.length} operations.`,
    );
  }
  return sent.map((statement: unknown, i) => {
    if (!isDoc(statement)) {
      throw new MongoError(
        14,
        `BSON field '${name}.${field}.${i}' is the wrong type '${typeNameOf(statement)}', expected type 'object'`,
      );
    }
    return statement;
  });
}
