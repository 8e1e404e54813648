import { compileExpression } from '../aggregation/expression.js';
import { letScope, systemScope } from '../aggregation/scope.js';
import { compileSort } from '../aggregation/sort-pattern.js';
import type { Scope } from '../aggregation/operator.js';
import { MongoError } from '../errors.js';
import { keysOf } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';
import { docField } from './fields.js';

/**
 * Returns the variables that the expressions of a command may use: the system variables, and the
 * variables of its `let`.
 */
export function scopeOf(command: Doc, now: Date): Scope {
  return letScopeOf(command, now) ?? systemScope(now);
}

/**
 * Like `scopeOf`, but returns undefined if the command has no such field, because most filters use
 * no variables.
 * @param field The field with the variables. An update statement has them in `c`.
 */
export function letScopeOf(command: Doc, now: Date, field = 'let'): Scope | undefined {
  const variables = docField(command, field);
  return variables === undefined ? undefined : letScope(systemScope(now), variables, compileExpression);
}

/** Returns the options with which `compileFilter` compiles the filter of this command. */
export function getFilterOptions(command: Doc, now: Date): { scope?: Scope } {
  const scope = letScopeOf(command, now);
  return scope === undefined ? {} : { scope };
}

/** Refuses a collation that would not compare strings by their bytes. */
export function checkCollation(doc: Doc): void {
  const collation = docField(doc, 'collation');
  if (collation !== undefined && keysOf(collation).length > 0 && collation['locale'] !== 'simple') {
    throw new MongoError(115, `embedded-mongo does not support a collation other than 'simple'`);
  }
}

/**
 * Returns the sort of a query, or undefined. An invalid sort throws even if no document matches.
 */
export function sortOf(doc: Doc, field = 'sort'): Doc | undefined {
  const sort = docField(doc, field);
  if (sort === undefined || keysOf(sort).length === 0) {
    return undefined;
  }
  const natural = sort['$natural'];
  if (natural === undefined) {
    compileSort(sort);
  } else if (keysOf(sort).length > 1 || Math.abs(Number(natural)) !== 1) {
    throw new MongoError(2, '$natural sort must be alone and 1 or -1');
  }
  return sort;
}

/**
 * Throws if a command has one of these fields, which this server does not support. A value without
 * an effect is accepted.
 */
export function refuseUnsupported(doc: Doc, fields: readonly string[]): void {
  for (const field of fields) {
    const value = doc[field];
    const asksNothing =
      value === undefined ||
      value === null ||
      value === false ||
      (isDoc(value) && keysOf(value).length === 0);
    if (!asksNothing) {
      throw new MongoError(115, `embedded-mongo does not support '${field}'`);
    }
  }
}
