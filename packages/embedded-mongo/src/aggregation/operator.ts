import { MongoError } from '../errors.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';

/**
 * A compiled expression. `evaluate` returns `undefined` where MongoDB says "missing", and for the
 * deprecated BSON type undefined, which expressions treat alike.
 *
 * `constant` expressions ignore the document. They are evaluated once, while compiling, so that a
 * failing one fails even without documents.
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

/** The context in which an operator compiles its arguments. */
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

/** Joins operands into one expression. It is evaluated at once if all operands are constant. */
export function combineOperands(operands: readonly Expression[], evaluate: Evaluate): Expression {
  return operands.every((operand) => operand.constant)
    ? constant(evaluate(noDocument))
    : { evaluate, constant: false };
}

/** The value of a constant expression, for operators that precompute while compiling. */
export function constantValue(expression: Expression): unknown {
  return expression.evaluate(noDocument);
}

/** Compiles an operator's argument list: an array, or a single operand. Errors 16020 and 28667. */
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
 * An operator with a bounded or unbounded number of operands. All of them are evaluated, in order.
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

/** The keys of an operator that takes a document, and the error codes for invalid arguments. */
export interface NamedRules<Required extends string, Optional extends string> {
  /** Required keys, each with the error code for its absence. */
  readonly required: Readonly<Record<Required, number>>;
  readonly optional?: readonly Optional[];
  readonly notObject: number;
  readonly unknownKey: number;
}

/**
 * Returns the arguments of an operator that takes a document. Unknown and absent keys are errors.
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

/** Like `namedArguments`, with each argument compiled. */
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
