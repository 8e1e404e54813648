/**
 * Derives accepted and refused values from the Joi description of each field, so that a new field
 * or bound needs no new test.
 */
import type Joi from 'joi';
import { fieldValues, samples } from './forms.js';

/** The parts of Joi's field description that are used here. */
interface SchemaDescription {
  type?: string;
  flags?: { only?: boolean; presence?: string };
  allow?: unknown[];
  rules?: { name: string; args?: { limit?: number; regex?: RegExp | string } }[];
  examples?: unknown[];
  keys?: Record<string, SchemaDescription>;
  dependencies?: { rel: string; peers: string[] }[];
}

export interface Field {
  /** The field's name, with a dotted path for a nested field: `bank_account.bank_code`. */
  name: string;
  /** Accepted values. */
  inside: unknown[];
  /**
   * Refused values. For each of them the response names the field. `undefined` means that the field
   * is left out.
   */
  outside: unknown[];
}

type Where = 'body' | 'query' | 'path';

/**
 * Returns one accepted value for each required field. If one of several fields is required, the
 * first of them has a value.
 */
export function sampleOf(schema: Joi.ObjectSchema | undefined): Record<string, unknown> {
  return schema ? (sample(describe(schema), 'whole') as Record<string, unknown>) : {};
}

export function fieldsOf(schema: Joi.ObjectSchema | undefined, where: Where): Field[] {
  return schema ? fieldsWithin(describe(schema), where, '') : [];
}

/** Returns the values with one field replaced, or removed if `value` is `undefined`. */
export function withField(
  values: Record<string, unknown>,
  name: string,
  value: unknown,
): Record<string, unknown> {
  const [first = '', ...rest] = name.split('.');
  const inner =
    rest.length === 0 ? value : withField(values[first] as Record<string, unknown>, rest.join('.'), value);
  const { [first]: _old, ...others } = values;
  return inner === undefined ? others : { ...others, [first]: inner };
}

function describe(schema: Joi.Schema): SchemaDescription {
  return schema.describe();
}

function fieldsWithin({ keys = {} }: SchemaDescription, where: Where, prefix: string): Field[] {
  return Object.entries(keys).flatMap(([key, each]) => {
    const name = prefix + key;
    return [fieldOf(name, each, where), ...fieldsWithin(each, where, `${name}.`)];
  });
}

function fieldOf(name: string, field: SchemaDescription, where: Where): Field {
  const types = where === 'body' ? wrongTypes(field) : [];
  const { inside, outside } = bounds(name, field);
  const isLeftOut = field.flags?.presence === 'required' && where !== 'path';
  // An empty path segment would match another route.
  const fits = (value: unknown) => where !== 'path' || value !== '';
  return {
    name,
    inside: [...inside, ...(field.allow ?? [])].filter(fits),
    outside: [...outside.filter(fits), ...types, ...(isLeftOut ? [undefined] : [])],
  };
}

function bounds(name: string, field: SchemaDescription): Pick<Field, 'inside' | 'outside'> {
  const own =
    field.rules?.some((rule) => ['custom', 'isoDate'].includes(rule.name)) || field.type === 'array';
  const form = fieldValues[name];
  if (own && !form) {
    throw new Error(`${name} has a custom rule: add accepted and refused values to forms.ts`);
  }
  switch (field.type) {
    case 'string':
      return form && own ? { ...form, outside: [...form.outside, ''] } : textBounds(name, field);
    case 'number':
      return numberBounds(name, field);
    case 'array':
      return arrayBounds(name, field, form ?? { inside: [], outside: [] });
    case 'object':
      return { inside: [], outside: [] };
    default:
      throw new Error(`${name} is a ${field.type ?? 'thing'}: add values on both sides of its bounds here`);
  }
}

function textBounds(name: string, field: SchemaDescription): Pick<Field, 'inside' | 'outside'> {
  if (field.flags?.only) {
    return { inside: [], outside: ['no-such-value', String(field.allow?.[0]).toUpperCase() + ' ', ''] };
  }
  const [min, max] = lengthsOf(name, field);
  const good = String(sample(field, name));
  const ofLength = (length: number) => good.slice(0, length).padEnd(length, good.at(-1));
  const patterns = (field.rules ?? []).filter((rule) => rule.name === 'pattern');
  const isEmptyFine = field.allow?.includes('') ?? false;
  return {
    inside: [good, ofLength(max), ...(hasRule(field, 'uri') ? [] : [ofLength(min)])],
    outside: [
      ofLength(max + 1),
      ...(isEmptyFine ? [] : ['']),
      ...(min > 1 ? [ofLength(min - 1)] : []),
      ...(patterns.length > 0 ? [`${good}\u0000`, `${good}\n`] : []),
      ...(hasRule(field, 'uri') ? ['shop.example', 'ftp://shop.example/hook', 'https://'] : []),
    ],
  };
}

/**
 * Returns the length limits from `min` and `max`, or from a pattern that is one character class
 * with `{min,max}`.
 */
function lengthsOf(name: string, field: SchemaDescription): [min: number, max: number] {
  for (const { args } of (field.rules ?? []).filter((rule) => rule.name === 'pattern')) {
    const often = /^\/\^(?:\[[^\]]+\]|\\d)\{(\d+),(\d+)\}\$\/$/.exec(String(args?.regex));
    if (often) {
      return [Number(often[1]), Number(often[2])];
    }
  }
  const max = limitOf(field, 'max');
  if (max === undefined) {
    throw new Error(`${name} has no maximum length`);
  }
  return [limitOf(field, 'min') ?? 1, max];
}

function numberBounds(name: string, field: SchemaDescription): Pick<Field, 'inside' | 'outside'> {
  const [min, max] = [limitOf(field, 'min'), limitOf(field, 'max')];
  if (min === undefined || max === undefined || !hasRule(field, 'integer')) {
    throw new Error(`${name} is no integer with a minimum and a maximum`);
  }
  return { inside: [min, max], outside: [min - 1, max + 1, min + 0.5, -0.5] };
}

function arrayBounds(name: string, field: SchemaDescription, form: Pick<Field, 'inside' | 'outside'>) {
  const max = limitOf(field, 'max');
  const [item] = sample(field, name) as unknown[];
  const min = limitOf(field, 'min') ?? 0;
  if (max === undefined) {
    throw new Error(`${name} has no maximum length`);
  }
  const ofLength = (length: number) => Array.from({ length }, () => item);
  return {
    inside: [ofLength(min), ofLength(max), ...form.inside],
    outside: [
      ...(min > 0 ? [ofLength(min - 1)] : []),
      ofLength(max + 1),
      [1],
      [null],
      [[item]],
      ...form.outside,
    ],
  };
}

/**
 * Returns values of other types. The service never converts them
 * (docs/reference/api/conventions.md#input).
 */
function wrongTypes(field: SchemaDescription): unknown[] {
  const { type = '', allow = [] } = field;
  const values: Record<string, unknown> = {
    string: 'text',
    number: 1,
    boolean: true,
    array: ['a'],
    object: { $gt: '' },
  };
  const others = Object.entries(values).filter(([name]) => name !== type);
  return [
    ...others.map(([, value]) => value),
    // JSON encodes Infinity as null, so it counts as a null value.
    ...(allow.includes(null) ? [] : [null, ...(type === 'number' ? [Infinity] : [])]),
    ...(type === 'number' ? ['1', ''] : []),
  ];
}

function sample(field: SchemaDescription, name: string): unknown {
  if (field.type === 'object') {
    const chosen = (field.dependencies ?? [])
      .filter(({ rel }) => rel === 'or')
      .map(({ peers: [first] }) => first);
    const required = Object.entries(field.keys ?? {}).filter(
      ([key, each]) => each.flags?.presence === 'required' || chosen.includes(key),
    );
    return Object.fromEntries(required.map(([key, each]) => [key, sample(each, key)]));
  }
  const own =
    samples[name] ??
    field.examples?.[0] ??
    (field.flags?.only ? field.allow?.[0] : fieldValues[name]?.inside[0]);
  // Free text, such as an id.
  return own ?? (field.type === 'number' ? limitOf(field, 'min') : 'a1');
}

function hasRule(field: SchemaDescription, name: string): boolean {
  return field.rules?.some((rule) => rule.name === name) ?? false;
}

function limitOf(field: SchemaDescription, name: string): number | undefined {
  return field.rules?.find((rule) => rule.name === name)?.args?.limit;
}
