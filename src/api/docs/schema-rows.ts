import type { Schema } from '../openapi/types.js';

export interface SchemaRow {
  /** `data.transactions[].ref_id` */
  name: string;
  type: string;
  isRequired: boolean;
  description: string;
}

/** Each field of a schema as a row, those inside of others too. Of a choice the fields of each. */
export function schemaRows(schema: Schema, prefix = ''): SchemaRow[] {
  const rows = Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
    const own = {
      name: `${prefix}${name}`,
      type: typeOf(each),
      isRequired: schema.required?.includes(name) === true,
      description: [each.description ?? '', boundsOf(each)].filter((part) => part !== '').join(' '),
    };
    return [
      own,
      ...schemaRows(each, `${prefix}${name}.`),
      ...schemaRows(each.items ?? {}, `${prefix}${name}[].`),
    ];
  });
  const choices = [...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap((each) =>
    schemaRows(each, prefix),
  );
  const items = prefix === '' && schema.items ? schemaRows(schema.items, '[].') : [];
  const all = [...rows, ...choices, ...items];
  return all.filter(({ name }, index) => all.findIndex((each) => each.name === name) === index);
}

function typeOf({ type, items, oneOf, const: only, enum: values }: Schema): string {
  if (values || only !== undefined) {
    return [values ?? only]
      .flat()
      .map((each) => JSON.stringify(each))
      .join(' | ');
  }
  const named = [type ?? oneOf?.map(typeOf) ?? 'any'].flat().join(' | ');
  return items ? `${named} of ${typeOf(items)}` : named;
}

function boundsOf({ minimum, maximum, minLength, maxLength, pattern, default: usual }: Schema): string {
  const bounds = [
    [minimum, 'at least'],
    [maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum, 'at most'],
    [minLength === 0 ? undefined : minLength, 'shortest'],
    [maxLength, 'longest'],
    [pattern, 'like'],
    [usual === undefined ? undefined : JSON.stringify(usual), 'default'],
  ]
    .filter(([value]) => value !== undefined)
    .map(([value, word]) => `${word} ${value}`)
    .join(', ');
  return bounds === '' ? '' : `(${bounds})`;
}
