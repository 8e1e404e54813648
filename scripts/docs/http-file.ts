import type { OpenApiDocument } from '../../src/api/openapi/types.js';
import { sampleRequests, type SampleRequest } from './sample-requests.js';

/** Builds a `.http` collection of every call, filled with the document's examples. */
export function httpFile(document: OpenApiDocument): string {
  return `${head}\n${sampleRequests(document).map(requestOf).join('\n')}`;
}

const head = `# Every call of the API, in an order that works from top to bottom. Generated from the OpenAPI document.
# The keys are in demo.json of your running copy; npm start prints its folder. A repeated ref_id never
# makes a second order: the answer shows the existing one. To make new orders, change @run. Ids are in
# the answers of earlier calls. The reseller sign differs for each call:
# docs/guides/integrate/connect-reseller-software.md shows how to compute it.
@base_url = http://127.0.0.1:3000
@buyer_key = bk_test_...
@seller_key = sk_test_...
@username = buyer
@sign = ...
@signature = sha256=...
@code = S10
@run = 1
@ref = ${refOf('createBuyerTransaction')}
@id = ...
`;

/**
 * Returns a different ref_id for each call, because a reused ref_id with other content would be
 * refused.
 */
function refOf(operationId: string): string {
  return `${operationId}-{{run}}`;
}

function requestOf({ operation, method, path, query, key, headers, body }: SampleRequest): string {
  const { operationId } = operation;
  const text = query
    .map(({ name, value }) => `${name}=${name === 'ref_id' ? refOf(operationId) : value}`)
    .join('&');
  return [
    `### ${operation.tags.join()}: ${operation.summary}`,
    `# @name ${operationId}`,
    `${method} {{base_url}}${pathOf(path)}${text === '' ? '' : `?${text}`}`,
    ...(key === null ? [] : [`Authorization: Bearer {{${key}}}`]),
    ...headers.map(({ name, value }) => `${name}: ${value}`),
    ...(body !== undefined
      ? ['Content-Type: application/json', '', JSON.stringify(replaceRefs(body, operationId), null, 2)]
      : []),
    '',
  ].join('\n');
}

/**
 * Fills the placeholders of a path. A wallet transaction can also be found by its ref_id, which is
 * known here.
 */
function pathOf(path: string): string {
  return path
    .replace(/\{(\w+)\}/g, '{{$1}}')
    .replace('/v1/transactions/{{id}}', `/v1/transactions/${refOf('createWalletTransaction')}`);
}

function replaceRefs(body: unknown, operationId: string): unknown {
  if (typeof body !== 'object' || body === null) {
    return body;
  }
  return {
    ...body,
    ...('ref_id' in body && { ref_id: refOf(operationId) }),
    ...('ref_ids' in body && { ref_ids: ['{{ref}}'] }),
  };
}
