import { MongoError } from '../../errors.js';
import { compareValues } from '../../values/compare.js';
import { keysOf } from '../../values/fields.js';
import { isDoc, isNumeric, typeNameOf } from '../../values/types.js';
import type { Numeric } from '../../values/types.js';
import { integerOf, millisOf } from '../coerce.js';
import { addToDate } from '../dates/arithmetic.js';
import { parseTimeUnit } from '../dates/calendar.js';
import type { TimeUnit } from '../dates/calendar.js';
import { UTC } from '../dates/zone.js';
import { add } from '../operators/arithmetic.js';

/** The half-open range of positions in a partition that the window of a position covers. */
type Bounds = (position: number) => readonly [start: number, end: number];

/** Makes the bounds for a partition of sorted documents, given each one's sort value. */
export type WindowBounds = (sortValues: readonly unknown[]) => Bounds;

export const wholePartition: WindowBounds = (sortValues) => () => [0, sortValues.length];

/** What a window needs of the stage's `sortBy`. */
export interface WindowSort {
  readonly fields: number;
  readonly ascending: boolean;
}

/** Parses `window`. Errors 9, 5339900 to 5339902, 5429413, 5429414, 5429513. */
export function parseWindow(window: unknown, sort: WindowSort): WindowBounds {
  if (!isDoc(window)) {
    throw new MongoError(9, `'window' field must be an object, but found type ${typeNameOf(window)}`);
  }
  const unknown = keysOf(window).find((key) => !['documents', 'range', 'unit'].includes(key));
  if (unknown !== undefined) {
    throw new MongoError(
      9,
      `'window' field can only contain 'documents', 'range' and 'unit', found ${unknown}`,
    );
  }
  const { documents, range, unit } = window;
  if (documents !== undefined && range !== undefined) {
    throw new MongoError(9, "Window bounds can specify either 'documents' or 'range', not both.");
  }
  if (unit !== undefined && range === undefined) {
    throw new MongoError(9, "Window bounds can only specify 'unit' with range-based bounds.");
  }
  if (range !== undefined) {
    return rangeBounds(bound2(range), unit, sort);
  }
  return documents === undefined ? wholePartition : documentBounds(bound2(documents), sort);
}

function bound2(bounds: unknown): [unknown, unknown] {
  if (!Array.isArray(bounds) || bounds.length !== 2) {
    throw new MongoError(9, 'Window bounds must be a 2-element array');
  }
  return bounds as [unknown, unknown];
}

function documentBounds([lower, upper]: [unknown, unknown], sort: WindowSort): WindowBounds {
  const [low, high] = [documentBound(lower, -Infinity), documentBound(upper, Infinity)];
  if (low > high) {
    throw new MongoError(5339900, `Lower bound must not exceed upper bound: [${low}, ${high}]`);
  }
  if ((low !== -Infinity || high !== Infinity) && sort.fields === 0) {
    throw new MongoError(5339901, 'Document-based bounds require a sortBy');
  }
  return ({ length }) =>
    (position) => [
      Math.min(length, Math.max(0, position + low)),
      Math.max(0, Math.min(length, position + high + 1)),
    ];
}

function documentBound(bound: unknown, unbounded: number): number {
  if (bound === 'unbounded') {
    return unbounded;
  }
  if (bound === 'current') {
    return 0;
  }
  const offset = integerOf(bound);
  if (offset === undefined) {
    throw new MongoError(9, "Numeric document-based bounds must be an integer, 'unbounded' or 'current'");
  }
  return offset;
}

function rangeBounds([lower, upper]: [unknown, unknown], unit: unknown, sort: WindowSort): WindowBounds {
  if (sort.fields !== 1) {
    throw new MongoError(5339902, 'Range-based bounds require sortBy a single field');
  }
  if (!sort.ascending) {
    throw new MongoError(8947400, 'Range-based bounds require an ascending sortBy');
  }
  if (unit !== undefined && typeof unit !== 'string') {
    throw new MongoError(9, "'unit' must be a string");
  }
  const timeUnit = unit === undefined ? undefined : parseTimeUnit(unit, '$setWindowFields');
  const [low, high] = [rangeBound(lower), rangeBound(upper)];
  return (values) => (position) => {
    const value = values[position];
    const start = low === undefined ? 0 : firstAt(values, shifted(value, low, timeUnit), 0);
    const end = high === undefined ? values.length : firstAt(values, shifted(value, high, timeUnit), 1);
    return [start, Math.max(start, end)];
  };
}

/** The number of a bound; undefined if it is unbounded. */
function rangeBound(bound: unknown): Numeric | undefined {
  if (bound === 'unbounded') {
    return undefined;
  }
  if (bound === 'current') {
    return 0;
  }
  if (!isNumeric(bound)) {
    throw new MongoError(9, "Range-based bounds must be a number, 'unbounded' or 'current'");
  }
  return bound;
}

function shifted(value: unknown, by: Numeric, unit: TimeUnit | undefined): unknown {
  if (value instanceof Date) {
    if (unit === undefined) {
      throw new MongoError(
        5429413,
        'Invalid range: For windows that involve date or time ranges, a unit must be provided.',
      );
    }
    const amount = integerOf(by);
    if (amount === undefined) {
      throw new MongoError(9, "With 'unit', range-based bounds must be integers");
    }
    return new Date(addToDate(millisOf(value), unit, amount, UTC));
  }
  if (unit !== undefined) {
    throw new MongoError(
      5429513,
      `Invalid range: Expected the sortBy field to be a Date, but it was ${typeNameOf(value)}`,
    );
  }
  if (!isNumeric(value)) {
    throw new MongoError(
      5429414,
      `Invalid range: Expected the sortBy field to be a number, but it was ${typeNameOf(value)}`,
    );
  }
  return add(value, by);
}

/** The first position whose value is not below (0), or is above (1) the limit. */
function firstAt(values: readonly unknown[], limit: unknown, order: 0 | 1): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const comparison = compareValues(values[middle], limit);
    if (comparison < 0 || (comparison === 0 && order === 1)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
