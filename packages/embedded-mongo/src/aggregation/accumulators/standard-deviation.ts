import { asDouble, toDouble } from '../../values/numbers.js';
import { isNumeric } from '../../values/types.js';
import type { Accumulator } from './accumulator.js';

/** `$stdDevPop` and `$stdDevSamp` by Welford's recurrence, in doubles as in MongoDB. */
export function createStandardDeviation(isSample: boolean): Accumulator {
  let [count, mean, squares] = [0, 0, 0];
  return {
    add: (value) => {
      if (!isNumeric(value)) {
        return;
      }
      const number = toDouble(value);
      count++;
      const delta = number - mean;
      mean += delta / count;
      squares += delta * (number - mean);
    },
    result: () => {
      const divisor = isSample ? count - 1 : count;
      return divisor <= 0 ? null : asDouble(Math.sqrt(squares / divisor));
    },
  };
}
