import { MongoError } from '../../errors.js';
import { isDoc, typeNameOf } from '../../values/types.js';
import { constant } from '../operator.js';
import type { Accumulator, AccumulatorCompiler, AccumulatorPlan } from './accumulator.js';
import { parsePercentiles } from './percentile.js';
import { createExtremes, createFirstN, createLastN, nAccumulator, rankedAccumulator } from './ranked.js';
import {
  createAddToSet,
  createExtreme,
  createFirst,
  createLast,
  createMergeObjects,
  createPush,
} from './simple.js';
import { createStandardDeviation } from './standard-deviation.js';
import { createAverage, createSum } from './sum.js';

/** The accumulators of `$group`, `$bucket`, `$bucketAuto` and windows. */
export const accumulators: ReadonlyMap<string, AccumulatorCompiler> = new Map(
  Object.entries({
    $sum: ofValue(createSum),
    $avg: ofValue(createAverage),
    $min: ofValue(() => createExtreme(1)),
    $max: ofValue(() => createExtreme(-1)),
    $first: ofValue(createFirst),
    $last: ofValue(createLast),
    $push: ofValue(createPush),
    $addToSet: ofValue(createAddToSet),
    $mergeObjects: ofValue(createMergeObjects),
    $stdDevPop: ofValue(() => createStandardDeviation(false)),
    $stdDevSamp: ofValue(() => createStandardDeviation(true)),
    $count: compileCount,
    $percentile: parsePercentiles,
    $median: parsePercentiles,
    $firstN: nAccumulator(createFirstN),
    $lastN: nAccumulator(createLastN),
    $minN: nAccumulator((n) => createExtremes(n, 1)),
    $maxN: nAccumulator((n) => createExtremes(n, -1)),
    $top: rankedAccumulator({ end: 'top', many: false }),
    $topN: rankedAccumulator({ end: 'top', many: true }),
    $bottom: rankedAccumulator({ end: 'bottom', many: false }),
    $bottomN: rankedAccumulator({ end: 'bottom', many: true }),
  } satisfies Record<string, AccumulatorCompiler>),
);

/** An accumulator of one expression's values; a list of one is that one. Error 40237. */
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
