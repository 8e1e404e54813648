import type { Schema } from '../../src/api/openapi/types.js';

const known = new Set([
  ...[
    'type',
    'const',
    'enum',
    'oneOf',
    'allOf',
    'properties',
    'required',
    'additionalProperties',
    'items',
    'minItems',
  ],
  ...['maxItems', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'format', 'description'],
  ...['default', 'examples'],
]);

/**
 * What is wrong with a value by a JSON Schema, as our document uses it; empty when it fits. Strict: a keyword that
 * is not known here is an error, so that none is passed over.
 */
export function problemsOf(schema: Schema, value: unknown, at = 'answer'): string[] {
  const unknown = Object.keys(schema).find((keyword) => !known.has(keyword));
  if (unknown !== undefined) {
    throw new Error(`${at}: the schema has ${unknown}, which this checker does not know`);
  }
  if (schema.oneOf) {
    const tried = schema.oneOf.map((each) => problemsOf(each, value, at));
    const fitting = tried.filter((each) => each.length === 0).length;
    return fitting === 1 ? [] : [`${at} fits ${fitting} of ${tried.length}: ${tried.flat().join('; ')}`];
  }
  const both = schema.allOf?.flatMap((each) => problemsOf(each, value, at)) ?? [];
  if (both.length > 0) {
    return both;
  }
  if (schema.type !== undefined && ![schema.type].flat().some((type) => isOf(type, value))) {
    return [`${at} is no ${[schema.type].flat().join(' or ')}: ${JSON.stringify(value)}`];
  }
  const values = 'const' in schema ? [schema.const] : schema.enum;
  if (values && !values.includes(value)) {
    return [`${at} is none of ${JSON.stringify(values)}: ${JSON.stringify(value)}`];
  }
  if (typeof value === 'string') {
    return textProblems(schema, value, at);
  }
  if (typeof value === 'number') {
    const { minimum = -Infinity, maximum = Infinity } = schema;
    return value < minimum || value > maximum ? [`${at} is out of bounds: ${value}`] : [];
  }
  if (Array.isArray(value)) {
    const { minItems = 0, maxItems = Infinity, items } = schema;
    return [
      ...(value.length < minItems || value.length > maxItems ? [`${at} has ${value.length} items`] : []),
      ...(items ? value.flatMap((each, index) => problemsOf(items, each, `${at}[${index}]`)) : []),
    ];
  }
  return typeof value === 'object' && value !== null
    ? objectProblems(schema, value as Record<string, unknown>, at)
    : [];
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isSafeInteger(value);
    default:
      return typeof value === type;
  }
}

function textProblems(schema: Schema, value: string, at: string): string[] {
  const { minLength = 0, maxLength = Infinity, pattern, format } = schema;
  const fits =
    value.length >= minLength &&
    value.length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(value)) &&
    (format !== 'date-time' || /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(value)) &&
    (format !== 'uri' || URL.canParse(value));
  return fits
    ? []
    : [`${at} does not fit ${JSON.stringify({ pattern, format, minLength, maxLength })}: ${value}`];
}

function objectProblems(schema: Schema, value: Record<string, unknown>, at: string): string[] {
  const { properties = {}, required = [], additionalProperties = true } = schema;
  return [
    ...required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${at} lacks ${name}`),
    ...Object.entries(value).flatMap(([name, each]) => {
      const of = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (of) {
        return problemsOf(of, each, `${at}.${name}`);
      }
      return additionalProperties ? [] : [`${at} has ${name}, which the contract does not name`];
    }),
  ];
}
