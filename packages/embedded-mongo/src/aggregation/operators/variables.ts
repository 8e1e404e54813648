import { MongoError } from '../../errors.js';
import { isDoc, typeNameOf } from '../../values/types.js';
import { isNullish, isTruthy } from '../coerce.js';
import {
  combineOperands,
  namedArguments,
  type Expression,
  type OperatorCall,
  type OperatorCompiler,
} from '../operator.js';
import { checkVariableName, createCell, withVariables, type VariableSlot } from '../scope.js';

/** Operators that declare variables. */
export const variableOperators: Readonly<Record<string, OperatorCompiler>> = {
  $let: compileLet,
  $map: compileMap,
  $filter: compileFilter,
};

function compileLet(argument: unknown, call: OperatorCall): Expression {
  const rules = { required: { vars: 16876, in: 16877 }, notObject: 16874, unknownKey: 16875 };
  const { vars: declared, in: body } = namedArguments(argument, call, rules);
  if (!isDoc(declared)) {
    throw new MongoError(10065, `invalid parameter: expected an object (vars)`);
  }
  const bindings = Object.entries(declared).map(([name, value]) => {
    checkVariableName(name);
    return { name, expression: call.compile(value), cell: createCell() };
  });
  const inner = withVariables(
    call.scope,
    bindings.map(({ name, cell }) => [name, cell.expression] as const),
  );
  const result = call.compile(body, inner);
  return combineOperands([...bindings.map((binding) => binding.expression), result], (root) => {
    // All values are computed before any variable is set. A value can therefore use an outer
    // variable with the same name.
    const values = bindings.map(({ expression }) => expression.evaluate(root));
    bindings.forEach(({ cell }, index) => (cell.value = values[index]));
    return result.evaluate(root);
  });
}

/**
 * Returns the name and the slot of the variable for the array elements. Without `as`, its name is
 * `this`.
 */
function elementVariable(as: unknown): { name: string; cell: VariableSlot } {
  const name = as === undefined ? 'this' : as;
  if (typeof name !== 'string') {
    throw new MongoError(10065, `invalid parameter: expected a string (as)`);
  }
  checkVariableName(name);
  return { name, cell: createCell() };
}

function compileMap(argument: unknown, call: OperatorCall): Expression {
  const parts = namedArguments(argument, call, {
    required: { input: 16880, in: 16882 },
    optional: ['as'],
    notObject: 16878,
    unknownKey: 16879,
  });
  const input = call.compile(parts.input);
  const { name, cell } = elementVariable(parts.as);
  const each = call.compile(parts.in, withVariables(call.scope, [[name, cell.expression]]));
  return combineOperands([input, each], (root) => {
    const list = arrayOrNull(input.evaluate(root), 16883, 'input to $map');
    return (
      list?.map((element) => {
        cell.value = element;
        return each.evaluate(root) ?? null;
      }) ?? null
    );
  });
}

function compileFilter(argument: unknown, call: OperatorCall): Expression {
  if (isDoc(argument) && 'limit' in argument) {
    throw new MongoError(238, "$filter with 'limit' is not supported by embedded-mongo");
  }
  const parts = namedArguments(argument, call, {
    required: { input: 28648, cond: 28650 },
    optional: ['as'],
    notObject: 28646,
    unknownKey: 28647,
  });
  const input = call.compile(parts.input);
  const { name, cell } = elementVariable(parts.as);
  const condition = call.compile(parts.cond, withVariables(call.scope, [[name, cell.expression]]));
  return combineOperands([input, condition], (root) => {
    const list = arrayOrNull(input.evaluate(root), 28651, 'input to $filter');
    return (
      list?.filter((element) => {
        cell.value = element;
        return isTruthy(condition.evaluate(root));
      }) ?? null
    );
  });
}

/**
 * Returns an array unchanged. Returns null for null and for a missing value. Throws MongoError with
 * the given code for any other type.
 */
function arrayOrNull(value: unknown, code: number, what: string): unknown[] | null {
  if (isNullish(value)) {
    return null;
  }
  if (!Array.isArray(value)) {
    throw new MongoError(code, `${what} must be an array not ${typeNameOf(value)}`);
  }
  return value as unknown[];
}
