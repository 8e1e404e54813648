import type { Accumulator } from '../accumulators/accumulator.js';
import { accumulators, type AccumulatorPlan } from '../accumulators/registry.js';
import { MongoError } from '../../errors.js';
import { keysOf, setField } from '../../values/fields.js';
import { isDoc, type Doc } from '../../values/types.js';
import { compileExpression } from '../expression.js';
import type { Expression, Scope } from '../operator.js';
import type { Stage, StageCall } from '../stage.js';
import { valueKey } from '../value-key.js';

/** A field that an accumulator computes for each group. */
interface OutputField {
  readonly name: string;
  readonly plan: AccumulatorPlan;
}

/**
 * Compiles `$group`.
 * @throws MongoError 15947 if the specification is not an object, 15955 if it has no `_id`, and the
 * errors of `compileAccumulator`.
 */
export function compileGroup(specification: unknown, { scope }: StageCall): Stage {
  if (!isDoc(specification)) {
    throw new MongoError(15947, "a group's fields must be specified in an object");
  }
  let id: Expression | undefined;
  const outputs: OutputField[] = [];
  for (const name of keysOf(specification)) {
    if (name === '_id') {
      id = groupKey(specification._id, scope);
    } else if (name === '$doingMerge') {
      throw new MongoError(17030, '$doingMerge should be true if present');
    } else {
      outputs.push({ name, plan: compileAccumulator(name, specification[name], scope) });
    }
  }
  if (id === undefined) {
    throw new MongoError(15955, 'a group specification must include an _id');
  }
  const by = id;
  return (input) => groupDocuments(input, by, outputs);
}

/**
 * Compiles the key of a group. A missing value becomes null if it is the whole key, or the only
 * field of an object. In an object with several fields, the field stays missing.
 */
function groupKey(expression: unknown, scope: Scope): Expression {
  const key = compileExpression(expression, scope);
  if (!isDoc(expression)) {
    return key;
  }
  const [name, ...others] = keysOf(expression);
  if (name === undefined || others.length > 0 || name.startsWith('$')) {
    return key;
  }
  const inner = compileExpression(expression[name], scope);
  return {
    evaluate: (root) => {
      const wrapped: Doc = {};
      setField(wrapped, name, inner.evaluate(root) ?? null);
      return wrapped;
    },
    constant: key.constant,
  };
}

/**
 * Compiles an accumulator such as `{$sum: '$a'}` for an output field.
 * @throws MongoError 40235 or 40236 for an invalid field name, 40234 or 40238 if the value is not
 * an object with one accumulator, 15952 if that accumulator is unknown.
 */
function compileAccumulator(name: string, specification: unknown, scope: Scope): AccumulatorPlan {
  if (name.includes('.')) {
    throw new MongoError(40235, `The field name '${name}' cannot contain '.'`);
  }
  if (name.startsWith('$')) {
    throw new MongoError(40236, `The field name '${name}' cannot be an operator name`);
  }
  const operator = isDoc(specification) ? keysOf(specification)[0] : undefined;
  if (!isDoc(specification) || operator?.startsWith('$') !== true) {
    throw new MongoError(40234, `The field '${name}' must be an accumulator object`);
  }
  if (keysOf(specification).length !== 1) {
    throw new MongoError(40238, `The field '${name}' must specify one accumulator`);
  }
  const compiler = accumulators.get(operator);
  if (compiler === undefined) {
    throw new MongoError(15952, `unknown group operator '${operator}'`);
  }
  return compiler(specification[operator], {
    name: operator,
    scope,
    compile: (expression, innerScope = scope) => compileExpression(expression, innerScope),
  });
}

interface Group {
  readonly id: unknown;
  readonly states: readonly Accumulator[];
}

function* groupDocuments(
  input: Iterable<Doc>,
  id: Expression,
  outputs: readonly OutputField[],
): Iterable<Doc> {
  const groups = new Map<unknown, Group>();
  for (const document of input) {
    const value = id.evaluate(document) ?? null;
    const key = valueKey(value);
    let group = groups.get(key);
    if (group === undefined) {
      group = { id: value, states: outputs.map(({ plan }) => plan.create()) };
      groups.set(key, group);
    }
    for (let index = 0; index < outputs.length; index++) {
      group.states[index]?.add(outputs[index]?.plan.input.evaluate(document));
    }
  }
  for (const group of groups.values()) {
    const result: Doc = { _id: group.id };
    outputs.forEach(({ name }, index) => setField(result, name, group.states[index]?.result() ?? null));
    yield result;
  }
}
