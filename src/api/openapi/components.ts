/**
 * Publishes the OpenAPI document: named schemas and repeated parameters move to `components`, so
 * that generated clients have one type for each. The document is built with everything inline,
 * which is easier to write and test.
 */
import { toPascalCase } from '../contract/fields.js';
import type { DocumentParts, PublishedDocument, Schema } from './types.js';

/**
 * Returns the published document.
 * @throws Error if different schemas have one name, which is a bug.
 */
export function extractComponents<Document extends DocumentParts>(
  document: Document,
): PublishedDocument<Document> {
  const schemas: Record<string, unknown> = {};
  const parameters = findRepeatedParameters(document);
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
  /** Examples are data and contain no schemas. */
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
  const { paths, webhooks = {}, components } = document;
  return {
    ...document,
    paths: publishFields(paths),
    webhooks: publishFields(webhooks),
    components: {
      ...components,
      responses: publishFields(components.responses),
      parameters: Object.fromEntries(
        [...parameters].map(([text, name]) => [name, JSON.parse(text) as unknown]),
      ),
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  } as PublishedDocument<Document>;
}

/** In a schema `title` is the name of its type. */
function isNamed(part: object): part is { title: string } {
  return 'title' in part && typeof part.title === 'string';
}

/** Returns the names of parameters that several operations take, by the JSON of the parameter. */
function findRepeatedParameters({ paths, webhooks = {} }: DocumentParts): Map<string, string> {
  const operations = [...Object.values(paths), ...Object.values(webhooks)].flatMap((item) =>
    Object.values(item),
  );
  const counts = new Map<string, number>();
  for (const parameter of operations.flatMap(({ parameters }) => parameters)) {
    const text = JSON.stringify(parameter);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const names = new Map<string, string>();
  const often = [...counts].filter(([, count]) => count > 1).sort(([, a], [, b]) => b - a);
  for (const [text] of often) {
    const name = toPascalCase((JSON.parse(text) as { name: string }).name);
    // Of several parameters with the same name, the most frequent one is shared.
    if (![...names.values()].includes(name)) {
      names.set(text, name);
    }
  }
  return names;
}

/** Names a schema unless it has a name already. */
export function addTitle(title: string, schema: Schema): Schema {
  return { title, ...schema };
}
