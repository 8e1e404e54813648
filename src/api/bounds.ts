/**
 * How large input may be, told by its own schema, so that what a call costs is bounded before anything else is checked: Joi
 * looks at every item of a list, and runs every pattern over a text, also of one that is too long.
 */
import { lookUp } from '../shared/look-up.js';
import type Joi from 'joi';
import type { FieldError } from '../shared/errors.js';
import { say } from '../shared/say.js';

export type Bounds =
  | { kind: 'text'; max: number }
  | { kind: 'list'; max: number; item: Bounds }
  | { kind: 'object'; fields: Map<string, Bounds> }
  /** Costs the same whatever is sent: a number, a boolean, one of some words. */
  | { kind: 'plain' };

const known = new WeakMap<Joi.Schema, Bounds>();

/**
 * The bounds of a schema of input.
 * @throws Error for one that sets none: a text or a list without a `max`, fields that nobody named.
 */
export function boundsOf(schema: Joi.Schema): Bounds {
  const found = known.get(schema) ?? read(schema, 'input');
  known.set(schema, found);
  return found;
}

/**
 * Looks at lengths alone, and takes what the schema names: fields that nobody asked for are left behind, however many.
 * @returns The input to be checked, and what is too long; what is too long is not looked into.
 */
export function withinBounds(schema: Joi.Schema, input: unknown): { input: unknown; tooLong: FieldError[] } {
  const tooLong: FieldError[] = [];
  return { input: walk(boundsOf(schema), input, '', tooLong), tooLong };
}

function walk(bounds: Bounds, value: unknown, path: string, tooLong: FieldError[]): unknown {
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
      return value.map((each, index) => walk(bounds.item, each, `${path}.${index}`, tooLong));
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? named(bounds.fields, value, path, tooLong)
        : value;
    case 'plain':
      return value;
  }
}

/** The fields that the schema names, and none else. */
function named(fields: Map<string, Bounds>, value: object, path: string, tooLong: FieldError[]): object {
  const taken: Record<string, unknown> = {};
  for (const [name, each] of fields) {
    if (Object.hasOwn(value, name)) {
      const field = lookUp(value as Record<string, unknown>, name);
      taken[name] = walk(each, field, path === '' ? name : `${path}.${name}`, tooLong);
    }
  }
  return taken;
}

/** `schema.describe()` would say the same, but it also checks its own answer: 0.2 s of each start for all operations. */
function read(schema: Joi.Schema, name: string): Bounds {
  const terms = schema.$_terms as {
    items?: Joi.Schema[];
    keys?: { key: string; schema: Joi.Schema }[] | null;
  };
  const max = limitOf(schema, 'max') ?? limitOf(schema, 'length');
  switch (schema.type) {
    case 'string':
      if (schema.$_getFlag('only') === true) {
        return { kind: 'plain' };
      }
      return { kind: 'text', max: required(max, `${name} is text without a max`) };
    case 'array': {
      const [item, ...more] = terms.items ?? [];
      if (!item || more.length > 0) {
        throw new Error(`${name} is a list that does not say what is in it`);
      }
      return {
        kind: 'list',
        max: required(max, `${name} is a list without a max`),
        item: read(item, `${name}[]`),
      };
    }
    case 'object':
      if (schema.$_getFlag('unknown') === true) {
        throw new Error(`${name} takes fields that it does not name`);
      }
      return {
        kind: 'object',
        fields: new Map(terms.keys?.map((each) => [each.key, read(each.schema, `${name}.${each.key}`)])),
      };
    case 'number':
    case 'boolean':
      return { kind: 'plain' };
    default:
      throw new Error(`${name} has the type ${schema.type ?? 'any'}, whose size has no limit`);
  }
}

function limitOf(schema: Joi.Schema, rule: string): number | undefined {
  const limit: unknown = schema.$_getRule(rule)?.args?.['limit'];
  return typeof limit === 'number' ? limit : undefined;
}

function required(max: number | undefined, problem: string): number {
  if (max === undefined) {
    throw new Error(`${problem}: much of it would stop a process`);
  }
  return max;
}
