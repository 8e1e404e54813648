/**
 * The document as it is published: what has a name, and what stands in many places, is in `components` once, so that
 * generated clients have one type for it. In the making everything is in its place, which is easier to write and test.
 */
import { toPascalCase } from '../contract/fields.js';
import type { DescribedOperation, OpenApiDocument, Parameter, PublishedDocument, Schema } from './types.js';

/** @throws Error where two schemas have one name: a bug of ours. */
export function withComponents(document: OpenApiDocument): PublishedDocument {
  const schemas: Record<string, unknown> = {};
  const parameters = repeatedParameters(document);
  const publish = (part: unknown): unknown => {
    if (Array.isArray(part)) {
      return part.map(publish);
    }
    if (typeof part !== 'object' || part === null) {
      return part;
    }
    const parameter = parameters.get(JSON.stringify(part));
    if (parameter !== undefined) {
      return { $ref: `#/components/parameters/${parameter}` };
    }
    if (isNamed(part)) {
      const { title, ...rest } = part;
      return keep(title, publishFields(rest));
    }
    return publishFields(part);
  };
  /** Examples are data: nothing in them is a schema, whatever it looks like. */
  const publishFields = (part: object): object =>
    Object.fromEntries(
      Object.entries(part).map(([name, each]) => [
        name,
        ['example', 'examples', 'default', 'const', 'enum'].includes(name)
          ? (each as unknown)
          : publish(each),
      ]),
    );
  const keep = (name: string, schema: object) => {
    const known = schemas[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas of the OpenAPI document are called ${name}`);
    }
    schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  };
  const { components, ...rest } = document;
  const published = publishFields(rest);
  const responses = publishFields(components.responses);
  return {
    ...published,
    components: {
      ...components,
      responses,
      parameters: Object.fromEntries(
        [...parameters].map(([text, name]) => [name, JSON.parse(text) as unknown]),
      ),
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  } as PublishedDocument;
}

/** In every schema `title` is the name of a type. */
function isNamed(part: object): part is { title: string } {
  return 'title' in part && typeof part.title === 'string' && !('license' in part);
}

/** Parameters that several operations take, by how they are written: each with the name that it gets. */
function repeatedParameters(document: OpenApiDocument): Map<string, string> {
  const counts = new Map<string, number>();
  for (const parameter of listOperations(document).flatMap((each) => each.parameters)) {
    const text = JSON.stringify(parameter);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const names = new Map<string, string>();
  const often = [...counts].filter(([, count]) => count > 1).sort(([, a], [, b]) => b - a);
  for (const [text] of often) {
    const name = toPascalCase((JSON.parse(text) as Parameter).name);
    // Of several that are called alike the most usual one is shared.
    if (![...names.values()].includes(name)) {
      names.set(text, name);
    }
  }
  return names;
}

function listOperations(document: OpenApiDocument): DescribedOperation[] {
  return [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap((item) =>
    Object.values(item),
  );
}

/** A schema under a name, unless it has one of its own. */
export function addTitle(title: string, schema: Schema): Schema {
  return { title, ...schema };
}
