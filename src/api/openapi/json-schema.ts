import type Joi from 'joi';
import type { Schema } from './types.js';

/**
 * Converts a Joi schema to JSON Schema (2020-12). Input (`request`) allows unknown fields, because
 * they are ignored. A `response` names every field. Checks that are functions are not converted, so
 * descriptions must mention them.
 */
export function toJsonSchema(schema: Joi.Schema, direction: 'request' | 'response'): Schema {
  const found = schema['~standard'].jsonSchema[direction === 'request' ? 'input' : 'output']({
    target: 'draft-2020-12',
  });
  return completeSchema(found, schema.describe(), direction);
}

/** Parts of Joi's own description that its JSON Schema lacks. */
interface JoiDescription {
  [other: string]: unknown;
  examples?: unknown[];
  metas?: { name?: string; shown?: Schema }[];
  keys?: Record<string, JoiDescription>;
  items?: JoiDescription[];
  matches?: { schema: JoiDescription }[];
}

function completeSchema(found: Schema, described: JoiDescription, direction: 'request' | 'response'): Schema {
  const { properties, additionalProperties, enum: values, oneOf, ...rest } = found;
  const [item] = described.items ?? [];
  const { name, shown } = (described.metas ?? []).reduce((all, each) => ({ ...all, ...each }), {});
  if (shown) {
    return { ...(rest.description !== undefined && { description: rest.description }), ...shown };
  }
  if (name !== undefined && rest.type?.includes('null') === true) {
    // The named schema is the same with and without null.
    const { description, ...named } = found;
    const notNull = {
      ...named,
      type: [rest.type]
        .flat()
        .filter((type) => type !== 'null')
        .join(),
    };
    return {
      ...(description !== undefined && { description }),
      oneOf: [completeSchema(notNull, described, direction), { type: 'null' }],
    };
  }
  return {
    ...(name !== undefined && { title: name }),
    ...rest,
    // Joi omits null from the list of values, which would forbid it.
    ...(values && { enum: rest.type?.includes('null') === true ? [...new Set([...values, null])] : values }),
    ...(described.examples && { examples: described.examples }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, each]) => [
          name,
          completeSchema(each, described.keys?.[name] ?? {}, direction),
        ]),
      ),
    }),
    ...(additionalProperties !== undefined && direction === 'response' && { additionalProperties }),
    ...(oneOf && {
      oneOf: oneOf.map((each, n) => completeSchema(each, described.matches?.[n]?.schema ?? {}, direction)),
    }),
    ...(rest.items && item && { items: completeSchema(rest.items, item, direction) }),
  };
}
