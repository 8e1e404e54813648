import { MongoError } from '../../errors.js';
import { typeNameOf } from '../../values/types.js';
import { compareValues } from '../../values/compare.js';
import { binary, type OperatorCompiler } from '../operator.js';

const compileComparison = (test: (order: number) => unknown): OperatorCompiler =>
  binary((left, right) => test(compareValues(left, right)));

/** Comparison in the total order of all types. */
export const comparisonOperators: Readonly<Record<string, OperatorCompiler>> = {
  $eq: compileComparison((order) => order === 0),
  $ne: compileComparison((order) => order !== 0),
  $gt: compileComparison((order) => order > 0),
  $gte: compileComparison((order) => order >= 0),
  $lt: compileComparison((order) => order < 0),
  $lte: compileComparison((order) => order <= 0),
  $cmp: compileComparison((order) => Math.sign(order)),
  $in: binary((value, list) => {
    if (!Array.isArray(list)) {
      throw new MongoError(40081, `$in requires an array as a second argument, found: ${typeNameOf(list)}`);
    }
    return list.some((element) => compareValues(value, element) === 0);
  }),
};
