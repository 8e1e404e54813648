import { accumulators } from '../accumulators/registry.js';
import type { AccumulatorPlan } from '../accumulators/accumulator.js';
import { MongoError } from '../../errors.js';
import { keysOf } from '../../values/fields.js';
import { isDoc, typeNameOf } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import { integerOf, isNullish } from '../coerce.js';
import { compileExpression } from '../expression.js';
import { constantValue, namedArguments } from '../operator.js';
import type { OperatorCall, Scope } from '../operator.js';
import type { SortPattern } from '../sort-pattern.js';
import { parseWindow, wholePartition } from './window-bounds.js';
import type { WindowBounds, WindowSort } from './window-bounds.js';

/** A partition in its order; `keys` are the sort keys, `sortValues` those of the first sort field. */
export interface Partition {
  readonly documents: readonly Doc[];
  readonly keys: readonly (readonly unknown[])[];
  readonly sortValues: readonly unknown[];
}

/** A window function: a value for each document of a partition. */
export type WindowFunction = (partition: Partition) => readonly unknown[];

export interface WindowContext {
  readonly scope: Scope;
  readonly sort: WindowSort;
  readonly pattern: SortPattern | undefined;
}

/** Compiles `{$sum: '$a', window: {...}}`. Errors 9 and those of accumulators and windows. */
export function compileWindowFunction(specification: unknown, context: WindowContext): WindowFunction {
  if (!isDoc(specification)) {
    throw new MongoError(
      9,
      `The window function must be an object, but is of type ${typeNameOf(specification)}`,
    );
  }
  const operators = keysOf(specification).filter((key) => key !== 'window');
  const [name] = operators;
  if (name === undefined || operators.length !== 1) {
    throw new MongoError(9, 'Expected exactly one window function with an optional window');
  }
  const argument = specification[name];
  const { window } = specification;
  const special = specialFunctions.get(name);
  if (special !== undefined) {
    if (window !== undefined) {
      throw new MongoError(
        name === '$shift' || name === '$locf' ? 9 : 5371601,
        `${name} does not accept a 'window' field`,
      );
    }
    return special(argument, { name, context });
  }
  const compiler = accumulators.get(name);
  if (compiler === undefined) {
    throw known.has(name)
      ? new MongoError(238, `The window function ${name} is not supported by embedded-mongo`)
      : new MongoError(9, `Unrecognized window function, ${name}`);
  }
  const bounds = window === undefined ? wholePartition : parseWindow(window, context.sort);
  return overWindow(compiler(argument, operatorCall(name, context.scope)), bounds);
}

const known = new Set([
  '$covariancePop',
  '$covarianceSamp',
  '$derivative',
  '$expMovingAvg',
  '$integral',
  '$linearFill',
  '$minMaxScaler',
]);

function operatorCall(name: string, scope: Scope): OperatorCall {
  return { name, scope, compile: (expression, inner = scope) => compileExpression(expression, inner) };
}

/** A growing window goes on with its accumulator; any other is gathered anew. */
function overWindow(plan: AccumulatorPlan, windowBounds: WindowBounds): WindowFunction {
  return ({ documents, sortValues }) => {
    const bounds = windowBounds(sortValues);
    const inputs = documents.map((document) => plan.input.evaluate(document));
    let accumulator = plan.create(null);
    let [from, to] = [0, 0];
    let result: unknown = accumulator.result();
    return documents.map((_document, position) => {
      const [start, end] = bounds(position);
      if (start !== from || end < to) {
        accumulator = plan.create(null);
        [from, to] = [start, start];
        result = accumulator.result();
      }
      if (to < end) {
        for (; to < end; to++) {
          accumulator.add(inputs[to]);
        }
        result = accumulator.result();
      }
      return result;
    });
  };
}

interface SpecialCall {
  readonly name: string;
  readonly context: WindowContext;
}

const specialFunctions: ReadonlyMap<string, (argument: unknown, call: SpecialCall) => WindowFunction> =
  new Map([
    ['$rank', rank],
    ['$denseRank', rank],
    ['$documentNumber', rank],
    ['$shift', shift],
    ['$locf', lastObserved],
  ]);

function rank(argument: unknown, { name, context }: SpecialCall): WindowFunction {
  if (!isDoc(argument) || keysOf(argument).length > 0) {
    throw new MongoError(5371603, `${name} must be specified with '{}' as the value`);
  }
  const { pattern, sort } = context;
  if (pattern === undefined || sort.fields !== 1) {
    throw new MongoError(
      5371602,
      `${name} must be specified with a top level sortBy expression with exactly one element`,
    );
  }
  return ({ keys }) => {
    let [position, distinct, current] = [0, 0, 0];
    return keys.map((key, index) => {
      position++;
      const previous = keys[index - 1];
      if (previous === undefined || pattern.compare(previous, key) !== 0) {
        distinct++;
        current = position;
      }
      return name === '$documentNumber' ? position : name === '$rank' ? current : distinct;
    });
  };
}

function shift(argument: unknown, { name, context }: SpecialCall): WindowFunction {
  if (context.pattern === undefined) {
    throw new MongoError(9, '$shift requires a sortBy');
  }
  const call = operatorCall(name, context.scope);
  const parts = new Map(
    namedArguments(argument, call, {
      keys: ['output', 'by', 'default'],
      required: { output: 9, by: 9 },
      notObject: 9,
      unknownKey: 9,
    }),
  );
  const by = integerOf(parts.get('by'));
  if (by === undefined) {
    throw new MongoError(9, "'$shift:by' field must be an integer");
  }
  const fallback = call.compile(parts.has('default') ? parts.get('default') : null);
  if (!fallback.constant) {
    throw new MongoError(9, "'$shift:default' expression must yield a constant value.");
  }
  const output = call.compile(parts.get('output'));
  const otherwise = constantValue(fallback);
  return ({ documents }) =>
    documents.map((_document, position) => {
      const other = documents[position + by];
      return other === undefined ? otherwise : output.evaluate(other);
    });
}

function lastObserved(argument: unknown, { name, context }: SpecialCall): WindowFunction {
  const input = operatorCall(name, context.scope).compile(argument);
  return ({ documents }) => {
    let last: unknown = null;
    return documents.map((document) => {
      const value = input.evaluate(document);
      if (!isNullish(value)) {
        last = value;
      }
      return last;
    });
  };
}
