import type { Expression, OperatorCall } from '../operator.js';

/** What one group (or one expression evaluation) gathers; `undefined` is a missing value. */
export interface Accumulator {
  add: (value: unknown) => void;
  result: () => unknown;
}

/** A compiled accumulator: what it takes from each document, and how a new group begins. */
export interface AccumulatorPlan {
  readonly input: Expression;
  /** `group` is the group's `_id`, which `n` of `$firstN`, ... may depend on. */
  readonly create: (group: unknown) => Accumulator;
}

export type AccumulatorCompiler = (argument: unknown, call: OperatorCall) => AccumulatorPlan;
