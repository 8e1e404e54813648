import { MongoError } from '../errors.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';

/**
 * A compiled expression. `evaluate` returns `undefined` for a missing value, and also for the
 * deprecated BSON type undefined, because expressions treat both alike.
 *
 * If `constant` is true, the value does not depend on the document. Such an expression is evaluated
 * during compilation, so that its errors are reported even if there are no documents.
 */
export interface Expression {
  readonly evaluate: Evaluate;
  readonly constant: boolean;
}
export type Evaluate = (root: Doc) => unknown;

/** The variables that an expression can see; see scope.ts. */
export interface Scope {
  readonly variables: ReadonlyMap<string, Expression>;
}

/** The operator's name and functions that it needs to compile its arguments. */
export interface OperatorCall {
  readonly name: string;
  readonly scope: Scope;
  readonly compile: (expression: unknown, scope?: Scope) => Expression;
}
export type OperatorCompiler = (argument: unknown, call: OperatorCall) => Expression;

const noDocument: Doc = {};

export function constant(value: unknown): Expression {
  return { evaluate: () => value, constant: true };
}

/**
 * Combines operands into one expression. If all operands are constant, the expression is evaluated
 * immediately.
 */
export function combineOperands(operands: readonly Expression[], evaluate: Evaluate): Expression {
  return operands.every((operand) => operand.constant)
    ? constant(evaluate(noDocument))
    : { evaluate, constant: false };
}

/**
 * Returns the value of a constant expression, for operators that compute a part of their result
 * during compilation.
 */
export function constantValue(expression: Expression): unknown {
  return expression.evaluate(noDocument);
}

/**
 * Compiles the arguments of an operator: an array, or a single operand.
 * @throws MongoError 16020 or 28667 if the number of arguments is wrong.
 */
export function operandsOf(argument: unknown, call: OperatorCall, arity: Arity): Expression[] {
  const list: unknown[] = Array.isArray(argument) ? argument : [argument];
  if (list.length < arity.min || list.length > arity.max) {
    throw wrongArity(call.name, arity, list.length);
  }
  return list.map((operand) => call.compile(operand));
}

export interface Arity {
  readonly min: number;
  readonly max: number;
}

function wrongArity(name: string, { min, max }: Arity, given: number): MongoError {
  if (min === max) {
    return new MongoError(
      16020,
      `Expression ${name} takes exactly ${min} arguments. ${given} were passed in.`,
    );
  }
  return new MongoError(
    28667,
    `Expression ${name} takes at least ${min} arguments, and at most ${max}, but ${given} were passed in.`,
  );
}

/** An operator with one operand. */
export function unary(apply: (value: unknown, name: string) => unknown): OperatorCompiler {
  return (argument, call) => {
    const [operand] = operandsOf(argument, call, { min: 1, max: 1 }) as [Expression];
    return combineOperands([operand], (root) => apply(operand.evaluate(root), call.name));
  };
}

/** An operator with two operands. */
export function binary(apply: (left: unknown, right: unknown, name: string) => unknown): OperatorCompiler {
  return (argument, call) => {
    const [left, right] = operandsOf(argument, call, { min: 2, max: 2 }) as [Expression, Expression];
    return combineOperands([left, right], (root) =>
      apply(left.evaluate(root), right.evaluate(root), call.name),
    );
  };
}

/**
 * An operator with between `min` and `max` operands. All operands are evaluated, from left to
 * right.
 */
export function nary(
  { min, max }: Arity,
  apply: (values: unknown[], name: string) => unknown,
): OperatorCompiler {
  return (argument, call) => {
    const operands = operandsOf(argument, call, { min, max });
    return combineOperands(operands, (root) =>
      apply(
        operands.map((operand) => operand.evaluate(root)),
        call.name,
      ),
    );
  };
}

/** The keys of an operator that takes an object, and the error codes for invalid arguments. */
export interface NamedRules<Required extends string, Optional extends string> {
  /** The required keys. The value of each is the error code if the key is absent. */
  readonly required: Readonly<Record<Required, number>>;
  readonly optional?: readonly Optional[];
  readonly notObject: number;
  readonly unknownKey: number;
}

/**
 * Returns the arguments of an operator that takes an object. Throws if a key is unknown, or if a
 * required key is absent.
 */
export function namedArguments<Required extends string, Optional extends string = never>(
  argument: unknown,
  call: OperatorCall,
  { required, optional = [], notObject, unknownKey }: NamedRules<Required, Optional>,
): Readonly<Partial<Record<Required | Optional, unknown>>> {
  if (!isDoc(argument)) {
    const type = typeNameOf(argument);
    throw new MongoError(notObject, `${call.name} only supports an object as an argument, found: ${type}`);
  }
  const known: readonly string[] = [...Object.keys(required), ...optional];
  const unknown = Object.keys(argument).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw new MongoError(unknownKey, `Unrecognized parameter to ${call.name}: ${unknown}`);
  }
  const absent = Object.entries<number>(required).find(([key]) => !(key in argument));
  if (absent !== undefined) {
    throw new MongoError(absent[1], `Missing '${absent[0]}' parameter to ${call.name}`);
  }
  return argument as Partial<Record<Required | Optional, unknown>>;
}

/** Like `namedArguments`, but returns compiled expressions. */
export function namedOperands<Required extends string, Optional extends string = never>(
  argument: unknown,
  call: OperatorCall,
  rules: NamedRules<Required, Optional>,
): Record<Required, Expression> & Partial<Record<Optional, Expression>> {
  const compiled = Object.entries(namedArguments(argument, call, rules)).map(
    ([key, value]) => [key, call.compile(value)] as const,
  );
  return Object.fromEntries(compiled) as Record<Required, Expression> & Partial<Record<Optional, Expression>>;
}
