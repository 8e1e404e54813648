import { BSONRegExp } from 'bson';
import { keysOf } from '../../values/fields.js';
import { isDoc } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { compileExpression } from '../expression.js';
import type { Expression, Scope } from '../operator.js';

interface Equality {
  readonly path: string;
  readonly value: Expression;
}

/**
 * A filter that keeps at least what a pipeline's first `$match` keeps, so that an index can find it: the
 * plain conditions, and `{$expr: {$eq: ['$path', <expression of variables>]}}` with the variables' present
 * values. The pipeline itself still decides. Undefined if its first stage says nothing of use.
 */
export function lookupFilter(stages: readonly unknown[], scope: Scope): ((document: Doc) => Doc) | undefined {
  const first = stages[0];
  const match = isDoc(first) ? first.$match : undefined;
  if (!isDoc(match)) {
    return undefined;
  }
  const conditions = keysOf(match).filter((key) => !key.startsWith('$'));
  const equalities = equalitiesOf(match.$expr, scope);
  if (conditions.length === 0 && equalities.length === 0) {
    return undefined;
  }
  const plain = conditions.map((key): Doc => ({ [key]: match[key] }));
  return (document) => ({ $and: [...plain, ...equalityFilters(equalities, document)] });
}

function equalityFilters(equalities: readonly Equality[], document: Doc): Doc[] {
  const filters: Doc[] = [{}];
  for (const { path, value } of equalities) {
    const wanted = value.evaluate(document);
    // Filters treat null, arrays and regexes in ways of their own: these are left to the pipeline.
    if (!isNullish(wanted) && !Array.isArray(wanted) && !(wanted instanceof BSONRegExp)) {
      filters.push({ [path]: { $eq: wanted } });
    }
  }
  return filters;
}

function equalitiesOf(expression: unknown, scope: Scope): Equality[] {
  if (!isDoc(expression) || keysOf(expression).length !== 1) {
    return [];
  }
  if (Array.isArray(expression.$and)) {
    return expression.$and.flatMap((part) => equalitiesOf(part, scope));
  }
  const pair: unknown = expression.$eq;
  if (!Array.isArray(pair) || pair.length !== 2) {
    return [];
  }
  const [left, right] = pair as [unknown, unknown];
  return equalityOf(left, right, scope) ?? equalityOf(right, left, scope) ?? [];
}

function equalityOf(field: unknown, value: unknown, scope: Scope): Equality[] | undefined {
  const isPath = typeof field === 'string' && /^\$[^$]/.test(field);
  const isVariable = typeof value === 'string' && /^\$\$[a-z]/.test(value);
  return isPath && isVariable
    ? [{ path: field.slice(1), value: compileExpression(value, scope) }]
    : undefined;
}
