import { MongoError } from '../../errors.js';
import { compareValues } from '../../values/compare.js';
import { isDoc, typeNameOf } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { positiveCount } from '../n-and-input.js';
import { constant, namedArguments } from '../operator.js';
import type { Expression, OperatorCall } from '../operator.js';
import { compileSort } from '../sort-pattern.js';
import type { SortPattern } from '../sort-pattern.js';
import type { Accumulator, AccumulatorCompiler } from './accumulator.js';

/** `$firstN`, `$lastN`, `$minN` and `$maxN`: `{n, input}`. */
export function nAccumulator(create: (n: number) => Accumulator): AccumulatorCompiler {
  return (argument, call) => {
    const parts = new Map(
      namedArguments(argument, call, {
        keys: ['n', 'input'],
        required: { n: 5787906, input: 5787907 },
        notObject: 5787900,
        unknownKey: 5787901,
      }),
    );
    const count = groupCount(parts.get('n'), call);
    return { input: call.compile(parts.get('input')), create: (group) => create(count(group)) };
  };
}

/** The `n` of a group: it may use the group's `_id` as its document. */
function groupCount(n: unknown, call: OperatorCall): (group: unknown) => number {
  const expression = call.compile(n);
  if (expression.constant) {
    const count = positiveCount(expression.evaluate({}));
    return () => count;
  }
  return (group) => positiveCount(expression.evaluate(isDoc(group) ? group : {}));
}

export function createFirstN(n: number): Accumulator {
  const values: unknown[] = [];
  return {
    add: (value) => {
      if (values.length < n) {
        values.push(value ?? null);
      }
    },
    result: () => [...values],
  };
}

export function createLastN(n: number): Accumulator {
  let values: unknown[] = [];
  return {
    add: (value) => {
      values.push(value ?? null);
      if (values.length >= 2 * n + 1000) {
        values = values.slice(-n);
      }
    },
    result: () => values.slice(-n),
  };
}

/** The n least (`sign` 1) or greatest (-1) values, in that order; null and missing are ignored. */
export function createExtremes(n: number, sign: 1 | -1): Accumulator {
  const best = keepBest<unknown>(n, (left, right) => compareValues(left, right) * sign);
  return {
    add: (value) => {
      if (!isNullish(value)) {
        best.add(value);
      }
    },
    result: best.result,
  };
}

/** Keeps the n first of the order, equal ones in order of arrival, cutting only when many have come. */
function keepBest<T>(
  n: number,
  compare: (left: T, right: T) => number,
): { readonly add: (value: T) => void; readonly result: () => T[] } {
  let kept: T[] = [];
  const cut = (): T[] => (kept = kept.sort(compare).slice(0, n));
  return {
    add: (value) => {
      kept.push(value);
      if (kept.length >= 2 * n + 1000) {
        cut();
      }
    },
    result: () => [...cut()],
  };
}

interface Ranked {
  readonly key: readonly unknown[];
  readonly output: unknown;
}

/** `$top`, `$topN`, `$bottom` and `$bottomN`: by `sortBy`, the `output` of the first or last documents. */
export function rankedAccumulator({
  end,
  many,
}: {
  readonly end: 'top' | 'bottom';
  readonly many: boolean;
}): AccumulatorCompiler {
  return (argument, call) => {
    const keys = many ? (['n', 'sortBy', 'output'] as const) : (['sortBy', 'output'] as const);
    const parts = new Map<string, unknown>(
      namedArguments<'n' | 'sortBy' | 'output'>(argument, call, {
        keys,
        required: { ...(many ? { n: 5788003 } : {}), sortBy: 5788005, output: 5788004 },
        notObject: 5788001,
        unknownKey: 5788002,
      }),
    );
    const sortBy = parts.get('sortBy');
    if (!isDoc(sortBy)) {
      throw new MongoError(5788604, `expected 'sortBy' to be an object, but found ${typeNameOf(sortBy)}`);
    }
    const pattern = compileSort(sortBy);
    const count = many ? groupCount(parts.get('n'), call) : (): number => 1;
    return {
      input: rankedInput(pattern, call.compile(parts.get('output'))),
      create: (group) => createRanked({ n: count(group), end, many }, pattern),
    };
  };
}

function rankedInput(pattern: SortPattern, output: Expression): Expression {
  const evaluate = (root: Doc): Ranked => ({
    key: pattern.keyOf(root),
    output: output.evaluate(root) ?? null,
  });
  return { ...constant(null), evaluate, constant: false };
}

function createRanked(
  { n, end, many }: { readonly n: number; readonly end: 'top' | 'bottom'; readonly many: boolean },
  pattern: SortPattern,
): Accumulator {
  const sign = end === 'top' ? 1 : -1;
  let arrivals = 0;
  interface Entry extends Ranked {
    readonly order: number;
  }
  // Equal keys stay in order of arrival, from the front for $top and from the back for $bottom.
  const best = keepBest<Entry>(
    n,
    (left, right) => (pattern.compare(left.key, right.key) || left.order - right.order) * sign,
  );
  return {
    add: (value) => best.add({ ...(value as Ranked), order: arrivals++ }),
    result: () => {
      const outputs = best.result().map((entry) => entry.output);
      const ordered = end === 'top' ? outputs : outputs.reverse();
      return many ? ordered : (ordered[0] ?? null);
    },
  };
}
