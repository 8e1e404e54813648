/**
 * Size limits of input, derived from its schema. They bound the cost of validation: Joi checks
 * every item of a list and runs every pattern, even on text that is too long.
 */
import { lookUp } from '../../shared/collections.js';
import type Joi from 'joi';
import type { FieldError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';

export type InputLimits =
  | { kind: 'text'; max: number }
  | { kind: 'list'; max: number; item: InputLimits }
  | { kind: 'object'; fields: Map<string, InputLimits> }
  /** The cost does not depend on the value: a number, a boolean or an enumerated word. */
  | { kind: 'plain' };

const limitsBySchema = new WeakMap<Joi.Schema, InputLimits>();

/**
 * Returns the limits of an input schema.
 * @throws Error if a text or a list has no `max`, or if an object accepts unknown fields.
 */
export function getInputLimits(schema: Joi.Schema): InputLimits {
  const found = limitsBySchema.get(schema) ?? readLimits(schema, 'input');
  limitsBySchema.set(schema, found);
  return found;
}

/**
 * Checks only lengths, and drops fields that the schema does not name.
 * @returns The input to validate, and an error for each value that is too long. The content of such
 * values is not checked.
 */
export function applyInputLimits(
  schema: Joi.Schema,
  input: unknown,
): { input: unknown; tooLong: FieldError[] } {
  const tooLong: FieldError[] = [];
  return { input: limitValue(getInputLimits(schema), input, '', tooLong), tooLong };
}

function limitValue(bounds: InputLimits, value: unknown, path: string, tooLong: FieldError[]): unknown {
  switch (bounds.kind) {
    case 'text':
      if (typeof value === 'string' && value.length > bounds.max) {
        tooLong.push({
          field: path,
          reason: 'too_long',
          message: say('tooManyCharacters', { field: path, max: bounds.max }),
        });
        return undefined;
      }
      return value;
    case 'list':
      if (!Array.isArray(value)) {
        return value;
      }
      if (value.length > bounds.max) {
        tooLong.push({
          field: path,
          reason: 'too_many',
          message: say('tooManyEntries', { field: path, max: bounds.max }),
        });
        return undefined;
      }
      return value.map((each, index) => limitValue(bounds.item, each, `${path}.${index}`, tooLong));
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? limitFields(bounds.fields, value, path, tooLong)
        : value;
    case 'plain':
      return value;
  }
}

/** Copies only the fields that the schema names. */
function limitFields(
  fields: Map<string, InputLimits>,
  value: object,
  path: string,
  tooLong: FieldError[],
): object {
  const taken: Record<string, unknown> = {};
  for (const [name, each] of fields) {
    if (Object.hasOwn(value, name)) {
      const field = lookUp(value as Record<string, unknown>, name);
      taken[name] = limitValue(each, field, path === '' ? name : `${path}.${name}`, tooLong);
    }
  }
  return taken;
}

/**
 * Does not use `schema.describe()`, which validates its own output. For all operations together,
 * that would add 0.2 s to each start.
 */
function readLimits(schema: Joi.Schema, name: string): InputLimits {
  const terms = schema.$_terms as {
    items?: Joi.Schema[];
    keys?: { key: string; schema: Joi.Schema }[] | null;
  };
  const max = getLimit(schema, 'max') ?? getLimit(schema, 'length');
  switch (schema.type) {
    case 'string':
      if (schema.$_getFlag('only') === true) {
        return { kind: 'plain' };
      }
      return { kind: 'text', max: requireMax(max, `${name} is text without a max`) };
    case 'array': {
      const [item, ...more] = terms.items ?? [];
      if (!item || more.length > 0) {
        throw new Error(`${name} is a list that must have exactly one item schema`);
      }
      return {
        kind: 'list',
        max: requireMax(max, `${name} is a list without a max`),
        item: readLimits(item, `${name}[]`),
      };
    }
    case 'object':
      if (schema.$_getFlag('unknown') === true) {
        throw new Error(`${name} accepts unknown fields`);
      }
      return {
        kind: 'object',
        fields: new Map(
          terms.keys?.map((each) => [each.key, readLimits(each.schema, `${name}.${each.key}`)]),
        ),
      };
    case 'number':
    case 'boolean':
      return { kind: 'plain' };
    default:
      throw new Error(`${name} has the type ${schema.type ?? 'any'}, whose size has no limit`);
  }
}

function getLimit(schema: Joi.Schema, rule: string): number | undefined {
  const limit: unknown = schema.$_getRule(rule)?.args?.['limit'];
  return typeof limit === 'number' ? limit : undefined;
}

function requireMax(max: number | undefined, problem: string): number {
  if (max === undefined) {
    throw new Error(`${problem}: unlimited input could block the process`);
  }
  return max;
}
