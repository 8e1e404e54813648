import { MongoError } from '../../errors.js';
import { isDoc, typeNameOf } from '../../values/types.js';
import {
  combineOperands,
  constant,
  type Expression,
  type OperatorCall,
  type OperatorCompiler,
} from '../operator.js';
import { refusedAccumulators, createRefusals } from '../unsupported.js';
import {
  createAddToSet,
  createMinMax,
  createFirst,
  createLast,
  createMergeObjects,
  createPush,
  type Accumulator,
} from './accumulator.js';
import { createAverage, createSum } from './sum.js';

/**
 * A compiled accumulator. `input` is the expression that is evaluated for each document. `create`
 * returns the accumulator of one group.
 */
export interface AccumulatorPlan {
  readonly input: Expression;
  readonly create: () => Accumulator;
}
type AccumulatorCompiler = (argument: unknown, call: OperatorCall) => AccumulatorPlan;

const overLists: Readonly<Record<string, () => Accumulator>> = {
  $sum: createSum,
  $avg: createAverage,
  $min: () => createMinMax(1),
  $max: () => createMinMax(-1),
};

/** The accumulators of `$group`. */
export const accumulators: ReadonlyMap<string, AccumulatorCompiler> = new Map([
  ...createRefusals(refusedAccumulators),
  ...Object.entries({
    ...overLists,
    $first: createFirst,
    $last: createLast,
    $push: createPush,
    $addToSet: createAddToSet,
    $mergeObjects: createMergeObjects,
  }).map(([name, create]) => [name, ofValue(create)] as const),
  ['$count', compileCount],
]);

/**
 * `$sum`, `$avg`, `$min` and `$max` as expressions. They take a list of operands. If there is only
 * one operand and its value is an array, they use the elements of that array.
 */
export const listOperators: Readonly<Record<string, OperatorCompiler>> = Object.fromEntries(
  Object.entries(overLists).map(([name, create]) => [name, overList(create)]),
);

/**
 * Compiles an accumulator that takes one expression. As in MongoDB, a list with one expression is
 * accepted.
 * @throws MongoError 40237 for a list of any other length.
 */
function ofValue(create: () => Accumulator): AccumulatorCompiler {
  return (argument, call) => {
    if (Array.isArray(argument) && argument.length !== 1) {
      throw new MongoError(40237, `The ${call.name} accumulator is a unary operator`);
    }
    return { input: call.compile(Array.isArray(argument) ? argument[0] : argument), create };
  };
}

function compileCount(argument: unknown): AccumulatorPlan {
  if (!isDoc(argument) || Object.keys(argument).length > 0) {
    throw new MongoError(14, `$count takes no arguments, i.e. $count:{}, but found ${typeNameOf(argument)}`);
  }
  return { input: constant(1), create: createSum };
}

function overList(create: () => Accumulator): OperatorCompiler {
  return (argument, call) => {
    const list: unknown[] = Array.isArray(argument) ? argument : [argument];
    const operands = list.map((operand) => call.compile(operand));
    return combineOperands(operands, (root) => {
      const accumulator = create();
      const values = operands.map((operand) => operand.evaluate(root));
      // Only the array of a single operand is expanded. In a list of operands, an array is a value
      // that is not a number, so `$sum` and `$avg` ignore it.
      const opened = values.length === 1 && Array.isArray(values[0]) ? (values[0] as unknown[]) : values;
      opened.forEach(accumulator.add);
      return accumulator.result();
    });
  };
}
