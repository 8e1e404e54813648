import { MongoError } from '../../errors.js';
import { asDouble, toDouble } from '../../values/numbers.js';
import { isNumeric, typeNameOf } from '../../values/types.js';
import { constantValue, namedArguments } from '../operator.js';
import type { Expression, OperatorCall } from '../operator.js';
import type { Accumulator } from './accumulator.js';

/** What `$percentile` and `$median` ask for. */
export interface Percentiles {
  readonly input: Expression;
  readonly create: () => Accumulator;
}

/** Parses `{input, p, method}` of `$percentile`, or `{input, method}` of `$median`. Errors 2, 40414 and 40415. */
export function parsePercentiles(argument: unknown, call: OperatorCall): Percentiles {
  const isMedian = call.name === '$median';
  const parts = new Map<string, unknown>(
    namedArguments<'input' | 'p' | 'method'>(argument, call, {
      keys: isMedian ? ['input', 'method'] : ['input', 'p', 'method'],
      required: { input: 40414, method: 40414, ...(isMedian ? {} : { p: 40414 }) },
      notObject: isMedian ? 7436100 : 7429703,
      unknownKey: 40415,
    }),
  );
  const method = parts.get('method');
  if (method !== 'approximate') {
    throw new MongoError(2, "Currently only 'approximate' can be used as percentile 'method'.");
  }
  const fractions = isMedian ? [0.5] : parseFractions(parts.get('p'), call);
  return {
    input: call.compile(parts.get('input')),
    create: () => createPercentiles(fractions, isMedian),
  };
}

function parseFractions(p: unknown, call: OperatorCall): number[] {
  const compiled = call.compile(p);
  const list = compiled.constant ? constantValue(compiled) : undefined;
  if (!Array.isArray(list) || list.length === 0) {
    throw new MongoError(7750301, "The $percentile 'p' field must be a non-empty array of numbers");
  }
  return list.map((fraction: unknown) => {
    const value = isNumeric(fraction) ? toDouble(fraction) : Number.NaN;
    if (!(value >= 0 && value <= 1)) {
      throw new MongoError(
        7750303,
        `The $percentile 'p' field must hold numbers from 0.0 to 1.0, found ${typeNameOf(fraction)}`,
      );
    }
    return value;
  });
}

/** The values at given ranks, exactly (which the method 'approximate' may be); null without numbers. */
function createPercentiles(fractions: readonly number[], isMedian: boolean): Accumulator {
  const numbers: number[] = [];
  return {
    add: (value) => {
      if (isNumeric(value) && !Number.isNaN(toDouble(value))) {
        numbers.push(toDouble(value));
      }
    },
    result: () => {
      const sorted = Float64Array.from(numbers).sort();
      const found = fractions.map((fraction) => {
        const value = sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)];
        return value === undefined ? null : asDouble(value);
      });
      return isMedian ? found[0] : found;
    },
  };
}
