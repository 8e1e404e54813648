import { MongoError } from '../../errors.js';
import { isDoc, typeNameOf } from '../../values/types.js';
import { isTruthy } from '../coerce.js';
import {
  combineOperands,
  constant,
  constantValue,
  namedArguments,
  namedOperands,
  operandsOf,
  unary,
  type Expression,
  type OperatorCall,
  type OperatorCompiler,
} from '../operator.js';

/** Boolean operators, conditionals and literals. */
export const logicalOperators: Readonly<Record<string, OperatorCompiler>> = {
  $and: junction(false),
  $or: junction(true),
  $not: unary((value) => !isTruthy(value)),
  $cond: compileCond,
  $ifNull: compileIfNull,
  $switch: compileSwitch,
  $literal: (argument) => constant(argument),
  $const: (argument) => constant(argument),
};

const anyNumber = { min: 0, max: Infinity };

/**
 * Compiles `$and` (`decisive` false) or `$or` (`decisive` true). The first operand with the
 * decisive value determines the result.
 */
function junction(decisive: boolean): OperatorCompiler {
  return (argument, call) => {
    const operands = operandsOf(argument, call, anyNumber);
    // As in MongoDB, a constant operand with the decisive value determines the result, and the
    // other operands are never evaluated.
    if (operands.some((o) => o.constant && isTruthy(constantValue(o)) === decisive)) {
      return constant(decisive);
    }
    return combineOperands(operands, (root) => {
      for (const operand of operands) {
        if (isTruthy(operand.evaluate(root)) === decisive) {
          return decisive;
        }
      }
      return !decisive;
    });
  };
}

function condOperands(argument: unknown, call: OperatorCall): readonly Expression[] {
  if (!isDoc(argument)) {
    return operandsOf(argument, call, { min: 3, max: 3 });
  }
  const operands = namedOperands(argument, call, {
    required: { if: 17080, then: 17081, else: 17082 },
    notObject: 16020,
    unknownKey: 17083,
  });
  return [operands.if, operands.then, operands.else];
}

function compileCond(argument: unknown, call: OperatorCall): Expression {
  const [condition, yes, no] = condOperands(argument, call) as [Expression, Expression, Expression];
  if (condition.constant) {
    return isTruthy(constantValue(condition)) ? yes : no;
  }
  return {
    evaluate: (root) => (isTruthy(condition.evaluate(root)) ? yes : no).evaluate(root),
    constant: false,
  };
}

function compileIfNull(argument: unknown, call: OperatorCall): Expression {
  const list: unknown[] = Array.isArray(argument) ? argument : [argument];
  if (list.length < 2) {
    throw new MongoError(1257300, `$ifNull needs at least two arguments, had: ${list.length}`);
  }
  const candidates = list.map((operand) => call.compile(operand));
  const last = candidates.pop() ?? constant(null);
  return combineOperands([...candidates, last], (root) => {
    for (const candidate of candidates) {
      const value = candidate.evaluate(root);
      if (value !== null && value !== undefined) {
        return value;
      }
    }
    return last.evaluate(root);
  });
}

interface Branch {
  readonly condition: Expression;
  readonly result: Expression;
}

function compileSwitch(argument: unknown, call: OperatorCall): Expression {
  const parts = namedArguments(argument, call, {
    required: {},
    optional: ['branches', 'default'],
    notObject: 40060,
    unknownKey: 40067,
  });
  const branches = compileBranches(parts.branches ?? [], call);
  if (branches.length === 0) {
    throw new MongoError(40068, '$switch requires at least one branch.');
  }
  return chosenBranch(branches, 'default' in parts ? call.compile(parts.default) : undefined);
}

function chosenBranch(branches: readonly Branch[], otherwise: Expression | undefined): Expression {
  const parts = branches.flatMap(({ condition, result }) => [condition, result]);
  return combineOperands(otherwise === undefined ? parts : [...parts, otherwise], (root) => {
    for (const { condition, result } of branches) {
      if (isTruthy(condition.evaluate(root))) {
        return result.evaluate(root);
      }
    }
    if (otherwise === undefined) {
      throw new MongoError(
        40066,
        '$switch could not find a matching branch for an input, and no default was specified.',
      );
    }
    return otherwise.evaluate(root);
  });
}

function compileBranches(value: unknown, call: OperatorCall): Branch[] {
  if (!Array.isArray(value)) {
    throw new MongoError(40061, `$switch expected an array for 'branches', found: ${typeNameOf(value)}`);
  }
  return value.map((branch: unknown) => {
    const operands = namedOperands(branch, call, {
      required: { case: 40064, then: 40065 },
      notObject: 40062,
      unknownKey: 40063,
    });
    return { condition: operands.case, result: operands.then };
  });
}
