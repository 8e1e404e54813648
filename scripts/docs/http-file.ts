import type { DescribedOperation, OpenApiDocument, Schema } from '../../src/api/openapi/types.js';

/** A collection of every call, as editors run it (`.http`): one request each, filled with the document's examples. */
export function httpFile(document: OpenApiDocument): string {
  const requests = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => requestOf(method, path, operation)),
  );
  return `${head}\n${requests.join('\n')}`;
}

const head = `# Every call of the interface. Made from the OpenAPI document by: npm run docs:http
# Keys are in the file demo.json of your running copy (npm start prints where). The reseller sign is different for
# each call: docs/integration.md shows how it is made.
@base_url = http://127.0.0.1:3000
@buyer_key = bk_test_...
@seller_key = sk_test_...
@username = buyer
@sign = ...
@signature = sha256=...
@code = S10
@ref = order-20240301-0001
@id = order-20240301-0001
`;

function requestOf(method: string, path: string, operation: DescribedOperation): string {
  const query = operation.parameters
    .filter((each) => each.in === 'query' && each.required)
    .map(({ name, schema }) => `${name}=${valueOf(name, schema)}`);
  const isSeller = operation.tags.includes('Seller');
  const headers = operation.parameters.filter((each) => each.in === 'header' && each.required);
  const content = operation.requestBody?.content['application/json'];
  const body = content && (content.example ?? sampleOf(content.schema));
  return [
    `### ${operation.tags.join()}: ${operation.summary}`,
    `# @name ${operation.operationId}`,
    `${method.toUpperCase()} {{base_url}}${path.replace(/\{(\w+)\}/g, '{{$1}}')}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    ...(operation.security.some((each) => 'apiKey' in each)
      ? [`Authorization: Bearer {{${isSeller ? 'seller_key' : 'buyer_key'}}}`]
      : []),
    ...headers.map(({ name }) => `${name}: {{${name.replace(/^x-/, '')}}}`),
    ...(body !== undefined ? ['Content-Type: application/json', '', JSON.stringify(body, null, 2)] : []),
    '',
  ].join('\n');
}

function valueOf(name: string, schema: Schema): string {
  return ['username', 'sign'].includes(name) ? `{{${name}}}` : encodeURIComponent(String(sampleOf(schema)));
}

/** An example of a value: the one that the schema gives, or the plainest that fits. */
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
          // What is optional and has no example is left out.
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
