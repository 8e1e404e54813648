import { MongoError } from '../errors.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';

/**
 * A compiled expression. `evaluate` returns `undefined` where MongoDB says "missing" (and for the
 * deprecated BSON type undefined, which expressions treat alike). `constant` expressions ignore the
 * document: they are evaluated once, while compiling, so that a failing one fails without documents.
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

/** What an operator gets to compile its arguments with. */
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

/** Joins operands into one expression; evaluated at once if all of them are constant. */
export function combine(operands: readonly Expression[], evaluate: Evaluate): Expression {
  return operands.every((operand) => operand.constant)
    ? constant(evaluate(noDocument))
    : { evaluate, constant: false };
}

/** The value of a constant expression, for operators that prepare themselves while compiling. */
export function constantValue(expression: Expression): unknown {
  return expression.evaluate(noDocument);
}

/** Compiles an operator's argument list: an array, or one operand that is no array. Error 16020 and 28667. */
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

/** An operator of one operand. */
export function unary(apply: (value: unknown, name: string) => unknown): OperatorCompiler {
  return (argument, call) => {
    const [operand] = operandsOf(argument, call, { min: 1, max: 1 }) as [Expression];
    return combine([operand], (root) => apply(operand.evaluate(root), call.name));
  };
}

/** An operator of two operands. */
export function binary(apply: (left: unknown, right: unknown, name: string) => unknown): OperatorCompiler {
  return (argument, call) => {
    const [left, right] = operandsOf(argument, call, { min: 2, max: 2 }) as [Expression, Expression];
    return combine([left, right], (root) => apply(left.evaluate(root), right.evaluate(root), call.name));
  };
}

/** An operator of a bounded or unbounded number of operands, all of them evaluated in order. */
export function nary(
  { min, max }: Arity,
  apply: (values: unknown[], name: string) => unknown,
): OperatorCompiler {
  return (argument, call) => {
    const operands = operandsOf(argument, call, { min, max });
    return combine(operands, (root) =>
      apply(
        operands.map((operand) => operand.evaluate(root)),
        call.name,
      ),
    );
  };
}

/** The arguments of an operator that takes a document, each key checked and compiled. */
export function namedOperands<Key extends string>(
  argument: unknown,
  call: OperatorCall,
  rules: NamedRules<Key>,
): Partial<Record<Key, Expression>> {
  const operands: Partial<Record<Key, Expression>> = {};
  for (const [key, value] of namedArguments(argument, call, rules)) {
    operands[key] = call.compile(value);
  }
  return operands;
}

export interface NamedRules<Key extends string> {
  readonly keys: readonly Key[];
  readonly required: Partial<Record<Key, number>>;
  readonly notObject: number;
  readonly unknownKey: number;
}

/** The arguments of an operator that takes a document, checked for unknown and absent keys. */
export function namedArguments<Key extends string>(
  argument: unknown,
  call: OperatorCall,
  rules: NamedRules<Key>,
): [Key, unknown][] {
  if (!isDoc(argument)) {
    throw new MongoError(
      rules.notObject,
      `${call.name} only supports an object as an argument, found: ${typeNameOf(argument)}`,
    );
  }
  const entries = Object.entries(argument).map(([key, value]): [Key, unknown] => {
    const known = rules.keys.find((name) => name === key);
    if (known === undefined) {
      throw new MongoError(rules.unknownKey, `Unrecognized parameter to ${call.name}: ${key}`);
    }
    return [known, value];
  });
  for (const key of rules.keys) {
    const code = rules.required[key];
    if (code !== undefined && !entries.some(([name]) => name === key)) {
      throw new MongoError(code, `Missing '${key}' parameter to ${call.name}`);
    }
  }
  return entries;
}
