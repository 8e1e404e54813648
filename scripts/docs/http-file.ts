import type { OpenApiDocument } from '../../src/api/openapi/types.js';
import { sampleRequests, type SampleRequest } from './sample-requests.js';

/** A collection of every call, as editors run it (`.http`): one request each, filled with the document's examples. */
export function httpFile(document: OpenApiDocument): string {
  return `${head}\n${sampleRequests(document).map(requestOf).join('\n')}`;
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

function requestOf({ operation, method, path, query, key, headers, body }: SampleRequest): string {
  const text = query.map(({ name, value }) => `${name}=${value}`).join('&');
  return [
    `### ${operation.tags.join()}: ${operation.summary}`,
    `# @name ${operation.operationId}`,
    `${method} {{base_url}}${path.replace(/\{(\w+)\}/g, '{{$1}}')}${text === '' ? '' : `?${text}`}`,
    ...(key === null ? [] : [`Authorization: Bearer {{${key}}}`]),
    ...headers.map(({ name, value }) => `${name}: ${value}`),
    ...(body !== undefined ? ['Content-Type: application/json', '', JSON.stringify(body, null, 2)] : []),
    '',
  ].join('\n');
}
