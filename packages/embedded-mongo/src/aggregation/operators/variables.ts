import { MongoError } from '../../errors.js';
import { isDoc } from '../../values/types.js';
import { arrayOrNull } from '../arguments.js';
import { integerOf, isNullish, isTrue } from '../coerce.js';
import {
  combine,
  namedArguments,
  type Expression,
  type OperatorCall,
  type OperatorCompiler,
} from '../operator.js';
import { checkVariableName, createCell, withVariables, type Cell } from '../scope.js';

/** Operators that declare variables. */
export const variableOperators: Readonly<Record<string, OperatorCompiler>> = {
  $let: compileLet,
  $map: compileMap,
  $filter: compileFilter,
  $reduce: compileReduce,
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
  return combine([...bindings.map((binding) => binding.expression), result], (root) => {
    // All values are computed before any is bound: they see the outer variables of the same names.
    const values = bindings.map(({ expression }) => expression.evaluate(root));
    bindings.forEach(({ cell }, index) => (cell.value = values[index]));
    return result.evaluate(root);
  });
}

/** The variable named by `as`, which defaults to `this`. */
function elementVariable(as: unknown): { name: string; cell: Cell } {
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
  return combine([input, each], (root) => {
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
  const parts = namedArguments(argument, call, {
    required: { input: 28648, cond: 28650 },
    optional: ['as', 'limit'],
    notObject: 28646,
    unknownKey: 28647,
  });
  const input = call.compile(parts.input);
  const { name, cell } = elementVariable(parts.as);
  const condition = call.compile(parts.cond, withVariables(call.scope, [[name, cell.expression]]));
  const limit = call.compile(parts.limit ?? null);
  return combine([input, condition, limit], (root) => {
    const list = arrayOrNull(input.evaluate(root), 28651, 'input to $filter');
    if (list === null) {
      return null;
    }
    const most = filterLimit(limit.evaluate(root));
    const kept: unknown[] = [];
    for (const element of list) {
      cell.value = element;
      if (isTrue(condition.evaluate(root)) && kept.push(element) >= most) {
        break;
      }
    }
    return kept;
  });
}

function filterLimit(limit: unknown): number {
  if (isNullish(limit)) {
    return Infinity;
  }
  const most = integerOf(limit);
  if (most === undefined) {
    throw new MongoError(327391, '$filter: limit must be represented as a 32-bit integral value');
  }
  if (most <= 0) {
    throw new MongoError(327392, `$filter: limit must be greater than 0, found: ${most}`);
  }
  return most;
}

function compileReduce(argument: unknown, call: OperatorCall): Expression {
  const parts = namedArguments(argument, call, {
    required: { input: 40077, initialValue: 40078, in: 40079 },
    notObject: 40075,
    unknownKey: 40076,
  });
  const input = call.compile(parts.input);
  const initial = call.compile(parts.initialValue);
  const [element, sum] = [createCell(), createCell()];
  const step = call.compile(
    parts.in,
    withVariables(call.scope, [
      ['this', element.expression],
      ['value', sum.expression],
    ]),
  );
  return combine([input, initial, step], (root) => {
    const list = arrayOrNull(input.evaluate(root), 40080, "'input' of $reduce");
    if (list === null) {
      return null;
    }
    let value = initial.evaluate(root);
    for (const item of list) {
      sum.value = value;
      element.value = item;
      value = step.evaluate(root);
    }
    return value;
  });
}
