import { MongoError } from '../errors.js';
import { keysOf, setField } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';
import { checkFieldName, compilePath, compileRootPath, parsePath } from './field-path.js';
import { combineOperands, constant, type Expression, type OperatorCompiler, type Scope } from './operator.js';
import { expressionOperators } from './operators/registry.js';
import { findVariable } from './scope.js';

/**
 * Compiles an aggregation expression once per command. `evaluate(document)` of the compiled
 * expression returns `undefined` for a missing value.
 *
 * All checks run during compilation, and constant parts are evaluated then. Invalid expressions
 * therefore fail even if the collection has no documents.
 *
 * @param scope The variables that the expression may use, from `systemScope` or `letScope`.
 * @throws MongoError 168 for an unknown operator, 15983 if an operator is not the only field of its
 * object, 17276 for an undefined variable, and the errors of operators and paths.
 */
export function compileExpression(expression: unknown, scope: Scope): Expression {
  if (typeof expression === 'string') {
    return expression.startsWith('$') ? compileReference(expression, scope) : constant(expression);
  }
  if (Array.isArray(expression)) {
    return compileArray(expression, scope);
  }
  if (isDoc(expression)) {
    return compileObject(expression, scope);
  }
  return constant(expression);
}

function compileReference(reference: string, scope: Scope): Expression {
  if (!reference.startsWith('$$')) {
    if (reference === '$') {
      throw new MongoError(16872, "'$' by itself is not a valid FieldPath");
    }
    return pathOf(findVariable(scope, 'CURRENT'), parsePath(reference.slice(1)), scope);
  }
  const dot = reference.indexOf('.');
  const name = dot < 0 ? reference.slice(2) : reference.slice(2, dot);
  if (name === '') {
    throw new MongoError(16869, 'empty variable names are not allowed');
  }
  const variable = findVariable(scope, name);
  return dot < 0 ? variable : pathOf(variable, parsePath(reference.slice(dot + 1)), scope);
}

function pathOf(variable: Expression, parts: readonly string[], scope: Scope): Expression {
  if (variable === scope.variables.get('ROOT')) {
    return { evaluate: compileRootPath(parts), constant: false };
  }
  const path = compilePath(parts);
  return combineOperands([variable], (root) => path(variable.evaluate(root)));
}

function compileArray(elements: readonly unknown[], scope: Scope): Expression {
  const compiled = elements.map((element) => compileExpression(element, scope));
  return combineOperands(compiled, (root) => compiled.map((element) => element.evaluate(root) ?? null));
}

function compileObject(expression: Doc, scope: Scope): Expression {
  const keys = keysOf(expression);
  const [first] = keys;
  if (first?.startsWith('$') === true) {
    if (keys.length !== 1) {
      throw new MongoError(
        15983,
        `An object representing an expression must have exactly one field: ${keys.join(', ')}`,
      );
    }
    return compileOperator(first, expression[first], scope);
  }
  const fields = keys.map((name) => {
    checkFieldName(name);
    return { name, expression: compileExpression(expression[name], scope) };
  });
  return combineOperands(
    fields.map((field) => field.expression),
    (root) => {
      const document: Doc = {};
      for (const field of fields) {
        const value = field.expression.evaluate(root);
        if (value !== undefined) {
          setField(document, field.name, value);
        }
      }
      return document;
    },
  );
}

function compileOperator(name: string, argument: unknown, scope: Scope): Expression {
  const operator: OperatorCompiler | undefined = expressionOperators.get(name);
  if (operator === undefined) {
    throw new MongoError(168, `Unrecognized expression '${name}'`);
  }
  return operator(argument, {
    name,
    scope,
    compile: (inner, innerScope = scope) => compileExpression(inner, innerScope),
  });
}
