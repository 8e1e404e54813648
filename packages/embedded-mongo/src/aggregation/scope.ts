import { Timestamp } from 'bson';
import { MongoError } from '../errors.js';
import type { Doc } from '../values/types.js';
import { constant, type Expression, type Scope } from './operator.js';

// A scope belongs to one command. `$$NOW` and the variables of the command's `let` are constants.
// The variables of `$let`, `$map` and similar operators are slots that are set before the inner
// expression is evaluated. Evaluations never interleave, so each declaration needs only one slot.

/** Returns a scope with MongoDB's system variables. `now` is the start of the command. */
export function systemScope(now: Date): Scope {
  const root: Expression = { evaluate: (document) => document, constant: false };
  return {
    variables: new Map<string, Expression>([
      ['ROOT', root],
      ['CURRENT', root],
      ['REMOVE', constant(undefined)],
      ['NOW', constant(now)],
      ['CLUSTER_TIME', constant(new Timestamp({ t: Math.floor(now.getTime() / 1000), i: 1 }))],
      ['USER_ROLES', constant([])],
    ]),
  };
}

/** Returns a scope that also contains the given variables. */
export function withVariables(scope: Scope, added: Iterable<readonly [string, Expression]>): Scope {
  return { variables: new Map([...scope.variables, ...added]) };
}

/**
 * The value of a variable. The operator that declares the variable sets it before each evaluation
 * of the inner expression.
 */
export interface VariableSlot {
  value: unknown;
  readonly expression: Expression;
}

export function createCell(): VariableSlot {
  const cell: { value: unknown; expression: Expression } = {
    value: undefined,
    expression: { evaluate: () => cell.value, constant: false },
  };
  return cell;
}

export function findVariable(scope: Scope, name: string): Expression {
  const variable = scope.variables.get(name);
  if (variable === undefined) {
    throw new MongoError(17276, `Use of undefined variable: ${name}`);
  }
  return variable;
}

/**
 * Checks the name of a user variable.
 * @throws MongoError 16866 if the name is empty, 16867 if its first character is invalid, 16868 if
 * a later character is invalid.
 */
export function checkVariableName(name: string): void {
  if (name === '') {
    throw new MongoError(16866, 'empty variable names are not allowed');
  }
  const first = name.charCodeAt(0);
  // CURRENT is the only system variable that may be redeclared.
  if (name !== 'CURRENT' && !(/[a-z]/.test(name.charAt(0)) || first > 127)) {
    throw new MongoError(16867, `'${name}' starts with an invalid character for a user variable name`);
  }
  for (const character of name) {
    if (!/[A-Za-z0-9_]/.test(character) && character.charCodeAt(0) < 128) {
      throw new MongoError(
        16868,
        `'${name}' contains an invalid character for a variable name: '${character}'`,
      );
    }
  }
}

/**
 * Compiles the `let` of a command. Its expressions are evaluated once, so their values are
 * constant.
 * @throws MongoError 4890500 if an expression reads a document.
 */
export function letScope(
  scope: Scope,
  variables: Doc,
  compile: (expression: unknown, scope: Scope) => Expression,
): Scope {
  const added: [string, Expression][] = [];
  for (const [name, expression] of Object.entries(variables)) {
    checkVariableName(name);
    const compiled = compile(expression, scope);
    if (!compiled.constant) {
      throw new MongoError(
        4890500,
        'Command let Expression tried to access a field, but this is not allowed',
      );
    }
    added.push([name, constant(compiled.evaluate({}))]);
  }
  return withVariables(scope, added);
}
