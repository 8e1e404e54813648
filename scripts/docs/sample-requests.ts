import type { DescribedOperation, OpenApiDocument, Schema } from '../../src/api/openapi/types.js';

/** A sample call, filled with the document's examples. `{{…}}` is a variable of the collection. */
export interface SampleRequest {
  operation: DescribedOperation;
  /** HTTP method in capitals. */
  method: string;
  /** Path with `{…}` placeholders. */
  path: string;
  query: { name: string; value: string }[];
  headers: { name: string; value: string }[];
  /** The variable that holds the API key of the call. */
  key: 'buyer_key' | 'seller_key' | null;
  body: unknown;
}

/**
 * Returns the calls in an order in which they can be sent. Calls that remove something that other
 * calls need come last.
 */
export function sampleRequests(document: OpenApiDocument): SampleRequest[] {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      operation,
      path,
      method: method.toUpperCase(),
      key: keyOf(operation),
      query: required(operation, 'query').map(({ name, schema }) => ({ name, value: valueOf(name, schema) })),
      headers: required(operation, 'header').map(({ name }) => ({
        name,
        value: `{{${name.replace(/^x-/, '')}}}`,
      })),
      body: bodyOf(operation),
    })),
  );
  return [...all.filter((each) => !isDestructive(each)), ...all.filter(isDestructive)];
}

const isDestructive = ({ method, path }: SampleRequest) =>
  method === 'DELETE' || path.endsWith('/api/keys/rotate');

const required = (operation: DescribedOperation, place: 'query' | 'header') =>
  operation.parameters.filter((each) => each.in === place && each.required);

function keyOf(operation: DescribedOperation): SampleRequest['key'] {
  if (!operation.security.some((each) => 'apiKey' in each)) {
    return null;
  }
  return operation.tags.includes('Seller') ? 'seller_key' : 'buyer_key';
}

function bodyOf(operation: DescribedOperation): unknown {
  const content = operation.requestBody?.content['application/json'];
  return content && (content.example ?? sampleOf(content.schema));
}

function valueOf(name: string, schema: Schema): string {
  return ['username', 'sign'].includes(name) ? `{{${name}}}` : encodeURIComponent(String(sampleOf(schema)));
}

/**
 * Returns an example value. Prefers the schema's own example, and otherwise builds the simplest
 * value that fits.
 */
function sampleOf(schema: Schema): unknown {
  const [given] = [...(schema.examples ?? []), ...(schema.default === undefined ? [] : [schema.default])];
  if (given !== undefined) {
    return given;
  }
  if (schema.enum) {
    return schema.enum[0];
  }
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          // Optional fields without an example are omitted.
          .filter(([name, each]) => schema.required?.includes(name) === true || each.examples || each.default)
          .map(([name, each]) => [name, sampleOf(each)]),
      );
    case 'array':
      return [];
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'boolean':
      return true;
    default:
      return '';
  }
}
