import { BSONRegExp } from 'bson';
import { isTruthy } from '../aggregation/coerce.js';
import { compileExpression } from '../aggregation/expression.js';
import type { Scope } from '../aggregation/operator.js';
import { systemScope } from '../aggregation/scope.js';
import { MongoError } from '../errors.js';
import { keysOf } from '../values/fields.js';
import { splitPath } from '../values/paths.js';
import { isDoc, type Doc } from '../values/types.js';
import {
  containsAll,
  elementMatches,
  hasSize,
  isOperatorObject,
  type FilterCompiler,
} from './array-operators.js';
import { equalTo, implicitlyEqualTo, inList, inRange, notEqualTo, notInList } from './comparison.js';
import { hasRemainder } from './number-operators.js';
import {
  allOf,
  and,
  arrayPredicate,
  toFilter,
  not,
  valuePredicate,
  type Filter,
  type Predicate,
} from './predicate.js';
import { matchesRegex, regexTest } from './regex-operator.js';
import { hasType } from './type-operator.js';

export interface FilterOptions {
  /** Variables for `$expr`. By default only the system variables are defined. */
  readonly scope?: Scope | undefined;
  /** True for the filter of an upsert, in which `$expr` is not allowed. */
  readonly upsert?: boolean;
}

/**
 * Compiles a filter once for many documents. All checks run during compilation, so an invalid
 * filter fails even if the collection is empty.
 * @throws MongoError 2 (BadValue) in most cases, and 9, 14, 51091 or other codes where MongoDB uses
 * them.
 */
export function compileFilter(filter: Doc, options: FilterOptions = {}): Filter {
  return compile(filter, () => {
    if (options.upsert === true) {
      throw new MongoError(224, '$expr is not allowed in the query predicate for an upsert');
    }
    return options.scope ?? systemScope(new Date());
  });
}

/** Creates the scope when it is needed, because few filters contain `$expr`. */
type ScopeSource = () => Scope;

/**
 * Compiles the condition of one field: an operator object such as `{$gt: 1}`, a regex or a value.
 */
function compilePredicate(condition: unknown): Predicate {
  return isOperatorObject(condition) ? compileOperators(condition, embedded) : implicitlyEqualTo(condition);
}

/**
 * Returns a function that finds the first array element that matches the operand of `$elemMatch`.
 * The function returns -1 if none matches.
 */
export function elementPosition(condition: Doc): (value: unknown) => number {
  const predicate = elementMatches(condition, embedded);
  return (predicate.kind === 'value' ? predicate.locate : undefined) ?? (() => -1);
}

/**
 * The compiler for filters below the top level. They must not contain `$expr`, because the root
 * document is unknown to them.
 */
const embedded: FilterCompiler = {
  filter: (filter) => compile(filter, undefined),
  operators: (operators) => compileOperators(operators, embedded),
};

function compile(filter: Doc, scope: ScopeSource | undefined): Filter {
  const filters: Filter[] = [];
  for (const key of keysOf(filter)) {
    const compiled = key.startsWith('$')
      ? compileTopLevel(key, filter[key], scope)
      : toFilter(compilePredicate(filter[key]), splitPath(key));
    if (compiled !== undefined) {
      filters.push(compiled);
    }
  }
  return allOf(filters);
}

function compileTopLevel(
  operator: string,
  operand: unknown,
  scope: ScopeSource | undefined,
): Filter | undefined {
  switch (operator) {
    case '$and':
      return allOf(branches(operator, operand, scope));
    case '$or': {
      const filters = branches(operator, operand, scope);
      return (doc, details) => filters.some((filter) => filter(doc, details));
    }
    case '$nor': {
      const filters = branches(operator, operand, scope);
      return (doc) => !filters.some((filter) => filter(doc));
    }
    case '$comment':
      return undefined;
    case '$expr': {
      if (scope === undefined) {
        throw new MongoError(2, '$expr can only be applied to the top-level document');
      }
      const expression = compileExpression(operand, scope());
      return (doc) => isTruthy(expression.evaluate(doc));
    }
    case '$alwaysTrue':
      return undefined;
    case '$alwaysFalse':
      return () => false;
    case '$text':
      throw new MongoError(27, 'text index required for $text query: text search is not supported');
    case '$where':
    case '$jsonSchema':
    case '$sampleRate':
      throw new MongoError(238, `${operator} is not supported by embedded-mongo`);
    default:
      throw new MongoError(2, `unknown top level operator: ${operator}`);
  }
}

function branches(operator: string, operand: unknown, scope: ScopeSource | undefined): readonly Filter[] {
  if (!Array.isArray(operand)) {
    throw new MongoError(2, `${operator} must be an array`);
  }
  if (operand.length === 0) {
    throw new MongoError(2, '$and/$or/$nor must be a nonempty array');
  }
  return operand.map((branch: unknown) => {
    if (!isDoc(branch)) {
      throw new MongoError(2, '$or/$and/$nor entries need to be full objects');
    }
    return compile(branch, scope);
  });
}

function compileOperators(operators: Doc, compiler: FilterCompiler): Predicate {
  const predicates: Predicate[] = [];
  for (const operator of keysOf(operators)) {
    if (operator === '$options') {
      if (!Object.hasOwn(operators, '$regex')) {
        throw new MongoError(2, '$options needs a $regex');
      }
    } else {
      predicates.push(compileOperator(operator, operators, compiler));
    }
  }
  return and(predicates);
}

function compileOperator(operator: string, operators: Doc, compiler: FilterCompiler): Predicate {
  const operand = operators[operator];
  switch (operator) {
    case '$eq':
      return equalTo(operand);
    case '$ne':
      return notEqualTo(operand);
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return inRange(operator, operand);
    case '$in':
      return inList(operand);
    case '$nin':
      return notInList(operand);
    case '$exists': {
      const exists = arrayPredicate((_value, present) => present);
      return isTruthy(operand) ? exists : not(exists);
    }
    case '$not':
      return compileNot(operand, compiler);
    case '$regex':
      return matchesRegex(operators);
    case '$type':
      return hasType(operand);
    case '$size':
      return hasSize(operand);
    case '$all':
      return containsAll(operand, compiler);
    case '$elemMatch':
      return elementMatches(operand, compiler);
    case '$mod':
      return hasRemainder(operand);
    case '$bitsAllSet':
    case '$bitsAllClear':
    case '$bitsAnySet':
    case '$bitsAnyClear':
    case '$geoWithin':
    case '$geoIntersects':
    case '$near':
    case '$nearSphere':
      throw new MongoError(238, `${operator} is not supported by embedded-mongo`);
    default:
      throw new MongoError(2, `unknown operator: ${operator}`);
  }
}

function compileNot(operand: unknown, compiler: FilterCompiler): Predicate {
  if (operand instanceof BSONRegExp) {
    return not(valuePredicate(regexTest(operand)));
  }
  if (!isDoc(operand)) {
    throw new MongoError(2, '$not needs a regex or a document');
  }
  if (keysOf(operand).length === 0) {
    throw new MongoError(2, '$not cannot be empty');
  }
  return not(compiler.operators(operand));
}
