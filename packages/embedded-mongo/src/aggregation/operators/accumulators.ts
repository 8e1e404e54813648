import type { Accumulator } from '../accumulators/accumulator.js';
import { parsePercentiles } from '../accumulators/percentile.js';
import { createExtremes } from '../accumulators/ranked.js';
import { createExtreme } from '../accumulators/simple.js';
import { createStandardDeviation } from '../accumulators/standard-deviation.js';
import { createAverage, createSum } from '../accumulators/sum.js';
import { nOfArray } from '../n-and-input.js';
import { combine } from '../operator.js';
import type { Expression, OperatorCall, OperatorCompiler } from '../operator.js';

/** Accumulators as expressions: over a list of operands, or over the one operand's array. */
export const accumulatorOperators: Readonly<Record<string, OperatorCompiler>> = {
  $sum: over(createSum),
  $avg: over(createAverage),
  $min: over(() => createExtreme(1)),
  $max: over(() => createExtreme(-1)),
  $stdDevPop: over(() => createStandardDeviation(false)),
  $stdDevSamp: over(() => createStandardDeviation(true)),
  $percentile: compilePercentiles,
  $median: compilePercentiles,
  $minN: nOfArray((list, n) => extremes(list, n, 1)),
  $maxN: nOfArray((list, n) => extremes(list, n, -1)),
};

function over(create: () => Accumulator): OperatorCompiler {
  return (argument, call) => {
    const list: unknown[] = Array.isArray(argument) ? argument : [argument];
    const operands = list.map((operand) => call.compile(operand));
    return combine(operands, (root) => {
      const accumulator = create();
      for (const value of valuesOf(operands, root)) {
        accumulator.add(value);
      }
      return accumulator.result();
    });
  };
}

function compilePercentiles(argument: unknown, call: OperatorCall): Expression {
  const { input, create } = parsePercentiles(argument, call);
  return combine([input], (root) => {
    const accumulator = create();
    for (const value of valuesOf([input], root)) {
      accumulator.add(value);
    }
    return accumulator.result();
  });
}

function valuesOf(operands: readonly Expression[], root: Parameters<Expression['evaluate']>[0]): unknown[] {
  const values = operands.map((operand) => operand.evaluate(root));
  // Only a single operand is opened: an array in a list is a value that is no number.
  return values.length === 1 && Array.isArray(values[0]) ? (values[0] as unknown[]) : values;
}

function extremes(list: readonly unknown[], n: number, sign: 1 | -1): unknown {
  const accumulator = createExtremes(n, sign);
  list.forEach((value) => accumulator.add(value));
  return accumulator.result();
}
