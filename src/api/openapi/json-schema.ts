import type Joi from 'joi';
import type { Schema } from './types.js';

/**
 * JSON Schema (2020-12) of a Joi schema. Of input (`request`) unknown fields are ignored, so they are allowed there;
 * of answers (`response`) every field is named. What only a function checks is left to descriptions.
 */
export function toJsonSchema(schema: Joi.Schema, direction: 'request' | 'response'): Schema {
  const found = schema['~standard'].jsonSchema[direction === 'request' ? 'input' : 'output']({
    target: 'draft-2020-12',
  });
  return completeSchema(found, schema.describe(), direction);
}

/** What Joi tells of a schema, as far as its JSON Schema lacks it. */
interface Described {
  [other: string]: unknown;
  examples?: unknown[];
  metas?: { name?: string; shown?: Schema }[];
  keys?: Record<string, Described>;
  items?: Described[];
  matches?: { schema: Described }[];
}

function completeSchema(found: Schema, described: Described, direction: 'request' | 'response'): Schema {
  const { properties, additionalProperties, enum: values, oneOf, ...rest } = found;
  const [item] = described.items ?? [];
  const { name, shown } = (described.metas ?? []).reduce((all, each) => ({ ...all, ...each }), {});
  if (shown) {
    return { ...(rest.description !== undefined && { description: rest.description }), ...shown };
  }
  return {
    ...(name !== undefined && { title: name }),
    ...rest,
    // Joi leaves null out of the list of values, which would forbid it.
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
