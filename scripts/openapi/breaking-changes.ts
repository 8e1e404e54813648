/**
 * Finds breaking changes between two OpenAPI documents. Only additions are allowed
 * (docs/reference/api/conventions.md#versions). A removed call, field or value, or a new
 * requirement, breaks clients. New values in responses do not.
 */
import type { Schema } from '../../src/api/openapi/types.js';

export type Json = Record<string, unknown>;

/**
 * Which side sends a value of the schema. Input must still accept all values that it accepted
 * before, and output must still contain all earlier fields.
 */
type Direction = 'sent by clients' | 'sent by us';

interface Document {
  root: Json;
  at: string;
}

/**
 * Returns one line per break with its place in the document. Returns none if clients of `before`
 * need no change.
 */
export function breakingChanges(before: Json, after: Json): string[] {
  return ['paths', 'webhooks'].flatMap((section) =>
    entriesOf(before[section]).flatMap(([path, item]) =>
      entriesOf(item).flatMap(([method, operation]) => {
        const at = section === 'paths' ? `${method.toUpperCase()} ${path}` : `webhook ${path}`;
        const now = field(field(after[section], path), method);
        return now === undefined
          ? [`${at}: is gone`]
          : operationBreaks(
              { root: before, at, operation },
              { root: after, at, operation: now },
              section === 'paths' ? 'sent by clients' : 'sent by us',
            );
      }),
    ),
  );
}

function operationBreaks(
  was: Document & { operation: unknown },
  is: Document & { operation: unknown },
  input: Direction,
): string[] {
  const output: Direction = input === 'sent by clients' ? 'sent by us' : 'sent by clients';
  const bodyOf = ({ root, operation }: typeof was) =>
    resolveReferences(root, field(operation, 'requestBody'));
  const [bodyWas, bodyIs] = [bodyOf(was), bodyOf(is)];
  return [
    ...parameterBreaks(was, is, input),
    ...(input === 'sent by clients' &&
    field(bodyIs, 'required') === true &&
    field(bodyWas, 'required') !== true
      ? [`${is.at}: a body is required now`]
      : []),
    ...contentBreaks(
      { ...was, content: field(bodyWas, 'content') },
      { ...is, content: field(bodyIs, 'content') },
      input,
    ),
    ...entriesOf(field(was.operation, 'responses')).flatMap(([status, response]) => {
      const at = `${is.at} ${status}`;
      const now = resolveReferences(is.root, field(field(is.operation, 'responses'), status));
      if (now === undefined) {
        return status.startsWith('2') ? [`${at}: is gone`] : [];
      }
      const before = resolveReferences(was.root, response);
      return [
        ...headerBreaks({ ...was, at, response: before }, { ...is, at, response: now }, output),
        ...contentBreaks(
          { ...was, at, content: field(before, 'content') },
          { ...is, at, content: field(now, 'content') },
          output,
        ),
      ];
    }),
    ...listOf(field(was.operation, 'security'))
      .map((each) => JSON.stringify(each))
      .filter((each) => !listOf(field(is.operation, 'security')).some((now) => JSON.stringify(now) === each))
      .map((each) => `${is.at}: security ${each} is gone`),
  ];
}

function parameterBreaks(
  was: Document & { operation: unknown },
  is: Document & { operation: unknown },
  direction: Direction,
): string[] {
  const parametersOf = ({ root, operation }: typeof was) =>
    listOf(field(operation, 'parameters'))
      .map((each) => resolveReferences(root, each))
      .map((each) => [`${String(field(each, 'in'))} ${String(field(each, 'name'))}`, each] as const);
  const now = new Map(parametersOf(is));
  const before = new Map(parametersOf(was));
  return [
    ...[...before].flatMap(([name, each]) => {
      const at = `${is.at} ${name}`;
      const found = now.get(name);
      return found === undefined
        ? [`${at}: is gone`]
        : schemaBreaks(
            { ...was, at, schema: field(each, 'schema') },
            { ...is, at, schema: field(found, 'schema') },
            direction,
          );
    }),
    ...(direction === 'sent by us'
      ? []
      : [...now]
          .filter(
            ([name, each]) =>
              field(each, 'required') === true && field(before.get(name), 'required') !== true,
          )
          .map(([name]) => `${is.at} ${name}: is required now`)),
  ];
}

/** Finds removed response headers. Header names are case-insensitive. */
function headerBreaks(
  was: Document & { response: unknown },
  is: Document & { response: unknown },
  direction: Direction,
): string[] {
  const headersOf = ({ root, response }: typeof was) =>
    entriesOf(field(response, 'headers')).map(
      ([name, each]) => [name.toLowerCase(), resolveReferences(root, each)] as const,
    );
  const now = new Map(headersOf(is));
  return headersOf(was).flatMap(([name, header]) => {
    const at = `${is.at} header ${name}`;
    const found = now.get(name);
    return found === undefined
      ? [`${at}: is gone`]
      : schemaBreaks(
          { ...was, at, schema: field(header, 'schema') },
          { ...is, at, schema: field(found, 'schema') },
          direction,
        );
  });
}

function contentBreaks(
  was: Document & { content: unknown },
  is: Document & { content: unknown },
  direction: Direction,
): string[] {
  return entriesOf(was.content).flatMap(([type, each]) => {
    const now = field(is.content, type);
    return now === undefined
      ? [`${is.at}: ${type} is gone`]
      : schemaBreaks(
          { ...was, schema: field(each, 'schema') },
          { ...is, schema: field(now, 'schema') },
          direction,
        );
  });
}

type LocatedSchema = Document & { schema: unknown };

function schemaBreaks(was: LocatedSchema, is: LocatedSchema, direction: Direction): string[] {
  const [before, after] = [flattenSchema(was), flattenSchema(is)];
  if ((before.oneOf === undefined) !== (after.oneOf === undefined)) {
    return alternativeBreaks({ ...was, schema: before }, { ...is, schema: after }, direction);
  }
  const [given, taken] = direction === 'sent by clients' ? [before, after] : [after, before];
  const types = (schema: Schema) => (schema.type === undefined ? null : [schema.type].flat());
  const fits = (type: string) =>
    types(taken)?.some((each) => each === type || (each === 'number' && type === 'integer')) !== false;
  return [
    ...((types(taken) === null ? [] : (types(given) ?? ['anything'])).every(fits)
      ? []
      : [`${is.at}: is ${String(after.type)} now, was ${String(before.type)}`]),
    ...(direction === 'sent by clients' ? boundBreaks(before, after, is.at) : []),
    ...propertyBreaks({ ...was, schema: before }, { ...is, schema: after }, direction),
    ...(before.items
      ? schemaBreaks(
          { ...was, schema: before.items },
          { ...is, at: `${is.at}[]`, schema: after.items ?? {} },
          direction,
        )
      : []),
    ...alternativeBreaks({ ...was, schema: before }, { ...is, schema: after }, direction),
  ];
}

function propertyBreaks(
  was: Document & { schema: Schema },
  is: Document & { schema: Schema },
  direction: Direction,
): string[] {
  const { properties: before = {}, required: requiredBefore = [] } = was.schema;
  const { properties: after = {}, required: requiredAfter = [] } = is.schema;
  const [more, fewer] =
    direction === 'sent by clients' ? [requiredAfter, requiredBefore] : [requiredBefore, requiredAfter];
  return [
    ...Object.entries(before).flatMap(([name, schema]) => {
      const at = `${is.at}.${name}`;
      const now = after[name];
      return now === undefined
        ? [`${at}: is gone`]
        : schemaBreaks({ ...was, at, schema }, { ...is, at, schema: now }, direction);
    }),
    ...more
      .filter((name) => !fewer.includes(name) && (direction === 'sent by clients' || name in after))
      .map((name) =>
        direction === 'sent by clients'
          ? `${is.at}.${name}: is required now`
          : `${is.at}.${name}: may be missing now`,
      ),
  ];
}

/** Finds new restrictions. Input must accept every value that it accepted before. */
function boundBreaks(before: Schema, after: Schema, at: string): string[] {
  const valuesOf = ({ enum: values, const: one }: Schema) => values ?? (one === undefined ? null : [one]);
  const [known, possible] = [valuesOf(before), valuesOf(after)];
  const refused =
    possible === null ? [] : (known ?? ['any other value']).filter((each) => !possible.includes(each));
  const upper = (['maxLength', 'maximum', 'maxItems'] as const).filter(
    (bound) => (after[bound] ?? Infinity) < (before[bound] ?? Infinity),
  );
  const lower = (['minLength', 'minimum', 'minItems'] as const).filter(
    (bound) => (after[bound] ?? -Infinity) > (before[bound] ?? -Infinity),
  );
  return [
    ...(refused.length > 0 ? [`${at}: ${refused.map(String).join(', ')} is refused now`] : []),
    ...[...upper, ...lower].map(
      (bound) => `${at}: ${bound} is ${String(after[bound])} now, was ${String(before[bound])}`,
    ),
    ...(after.pattern !== undefined && after.pattern !== before.pattern
      ? [`${at}: its pattern is ${after.pattern} now, was ${before.pattern ?? 'none'}`]
      : []),
  ];
}

/** Compares alternatives. Each value that is possible now must fit an earlier alternative. */
function alternativeBreaks(
  was: Document & { schema: Schema },
  is: Document & { schema: Schema },
  direction: Direction,
): string[] {
  const before = was.schema.oneOf ?? [was.schema];
  const after = is.schema.oneOf ?? [is.schema];
  if (!was.schema.oneOf && !is.schema.oneOf) {
    return [];
  }
  const [given, known] = direction === 'sent by clients' ? [before, after] : [after, before];
  const suits = (one: Schema, other: Schema) =>
    schemaBreaks(
      { ...was, schema: direction === 'sent by clients' ? one : other },
      { ...is, schema: direction === 'sent by clients' ? other : one },
      direction,
    ).length === 0;
  return given.flatMap((one, n) =>
    known.some((other) => suits(one, other))
      ? []
      : [`${is.at}: alternative ${n + 1} matches no earlier alternative`],
  );
}

/** Returns the schema with references resolved and `allOf` merged. */
function flattenSchema({ root, schema }: LocatedSchema): Schema {
  const { allOf = [], ...rest } = (resolveReferences(root, schema) ?? {}) as Schema;
  return allOf
    .map((part) => flattenSchema({ root, at: '', schema: part }))
    .reduce<Schema>(
      (whole, part) => ({
        ...whole,
        ...part,
        properties: mergeSchemas(whole.properties, part.properties),
        required: [...(whole.required ?? []), ...(part.required ?? [])],
      }),
      rest,
    );
}

function mergeSchemas(
  one: Record<string, Schema> = {},
  other: Record<string, Schema> = {},
): Record<string, Schema> {
  const all = { ...one };
  for (const [name, schema] of Object.entries(other)) {
    all[name] = { ...all[name], ...schema };
  }
  return all;
}

/**
 * Follows references within the document.
 * @throws Error if a reference has no target.
 */
function resolveReferences(root: Json, part: unknown): unknown {
  const reference = field(part, '$ref');
  if (typeof reference !== 'string') {
    return part;
  }
  const found = reference.replace(/^#\//, '').split('/').reduce<unknown>(field, root);
  if (found === undefined) {
    throw new Error(`${reference} does not exist`);
  }
  return resolveReferences(root, found);
}

function field(part: unknown, name: string): unknown {
  return typeof part === 'object' && part !== null && Object.hasOwn(part, name)
    ? (part as Json)[name]
    : undefined;
}

function entriesOf(part: unknown): [string, unknown][] {
  return typeof part === 'object' && part !== null ? Object.entries(part) : [];
}

function listOf(part: unknown): unknown[] {
  return Array.isArray(part) ? part : [];
}
