import { lookUp } from '../../shared/collections.js';
import type { Schema } from '../openapi/types.js';

export interface SchemaRow {
  /** Path of the field, such as `data.transactions[].ref_id`. */
  name: string;
  isRequired: boolean;
  /** Allowed values in words, and the meaning. */
  description: string;
}

/**
 * Returns a row for each field, including nested ones. Required fields come first. A choice has the
 * fields of all alternatives.
 */
export function buildSchemaRows(schema: Schema, prefix = ''): SchemaRow[] {
  const rows = listRequiredFirst(schema).flatMap(([name, each, isRequired]) => [
    { name: `${prefix}${name}`, isRequired, description: describeSchema(each) },
    ...buildSchemaRows(each, `${prefix}${name}.`),
    ...buildSchemaRows(each.items ?? {}, `${prefix}${name}[].`),
  ]);
  const choices = [...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap((each) =>
    buildSchemaRows(each, prefix),
  );
  const items = prefix === '' && schema.items ? buildSchemaRows(schema.items, '[].') : [];
  const all = [...rows, ...choices, ...items];
  return all.filter(({ name }, index) => all.findIndex((each) => each.name === name) === index);
}

/** Describes a schema in words, such as `10 to 34 digits. The number of the account.` */
export function describeSchema(schema: Schema): string {
  const { description = '', default: usual } = schema;
  const value = usual === undefined ? '' : `, default ${JSON.stringify(usual)}`;
  return [`${describeValue(schema)}${value}`, description].filter((part) => part !== '').join('. ');
}

function listRequiredFirst({ properties = {}, required = [] }: Schema): [string, Schema, boolean][] {
  const all = Object.entries(properties).map(([name, each]): [string, Schema, boolean] => [
    name,
    each,
    required.includes(name),
  ]);
  return [...all.filter(([, , isRequired]) => isRequired), ...all.filter(([, , isRequired]) => !isRequired)];
}

function describeValue(schema: Schema): string {
  const { type, items, oneOf, allOf, const: only, enum: values, pattern } = schema;
  if (values || only !== undefined) {
    return joinWords((values ?? [only]).map((each) => JSON.stringify(each)));
  }
  const choices = [...new Set((oneOf ?? allOf)?.map(describeValue))].filter((each) => each !== '');
  if (type === undefined && choices.length > 0) {
    return joinWords(choices);
  }
  const types = [type ?? []].flat();
  const words = types.map((each) => {
    if (each === 'string') {
      return lookUp(patternDescriptions, pattern ?? '') ?? `text${describeLength(schema)}`;
    }
    if (each === 'array') {
      return `list${describeCount(schema)} of ${items ? describeValue(items) : 'anything'}`;
    }
    return `${lookUp(typeDescriptions, each) ?? each}${each === 'null' ? '' : describeRange(schema)}`;
  });
  return joinWords(words);
}

const typeDescriptions: Record<string, string> = {
  integer: 'whole number',
  boolean: 'true or false',
};

/** Descriptions of the patterns in the document. They include the lengths. */
export const patternDescriptions: Record<string, string> = {
  '^[A-Za-z0-9._-]{1,50}$': '1 to 50 letters, digits, ".", "_" or "-"',
  '^[A-Za-z0-9._:-]{1,64}$': '1 to 64 letters, digits, ".", "_", ":" or "-"',
  '^[A-Za-z0-9._:/-]{1,64}$': '1 to 64 letters, digits, ".", "_", ":", "/" or "-"',
  '^[A-Za-z0-9._-]+$': 'letters, digits, ".", "_" or "-"',
  '^\\d{5,34}$': '5 to 34 digits',
  '^\\d{1,16}$': '1 to 16 digits',
  '^\\d{4}-\\d{2}-\\d{2}$': 'a day, such as 2026-11-23',
  '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:\\d{2}))?$':
    'a day, or a time with its zone, such as 2026-11-23 or 2026-11-23T12:05:00Z',
  '^\\d{1,15}-[\\w-]{1,120}$': 'next_cursor of the previous page',
  '^([0-9a-f]{32}|[0-9a-f]{64})$': '32 or 64 lower-case hexadecimal digits',
  '^[\\u0020-\\u007e\\u00a0-\\u00ff]*$': 'Latin letters, digits and punctuation',
};

function describeLength({ minLength = 0, maxLength }: Schema): string {
  if (maxLength === undefined) {
    return minLength > 1 ? ` of at least ${minLength} characters` : '';
  }
  return minLength > 0 ? `, ${minLength} to ${maxLength} characters` : `, at most ${maxLength} characters`;
}

function describeCount({ minItems = 0, maxItems }: Schema): string {
  return maxItems === undefined ? '' : `, ${minItems} to ${maxItems} entries,`;
}

function describeRange({ minimum, maximum }: Schema): string {
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (minimum !== undefined && most !== undefined) {
    return `, ${minimum} to ${most}`;
  }
  return [
    minimum === undefined ? '' : `, at least ${minimum}`,
    most === undefined ? '' : `, at most ${most}`,
  ].join('');
}

function joinWords(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
}
