import type { OpenApiDocument } from '../../src/api/openapi/types.js';
import { sampleRequests, type SampleRequest } from './sample-requests.js';

/**
 * Builds a Postman collection (format 2.1) with one folder per surface and keys as variables. The
 * collection computes the reseller sign before each call, and keeps ids and new keys from responses
 * for later calls.
 */
export function postmanCollection(document: OpenApiDocument, baseUrl: string): string {
  const requests = sampleRequests(document);
  const folders = [...new Set(requests.map(({ operation }) => operation.tags.join()))];
  const collection = {
    info: {
      name: 'Top-up and bill payment',
      description:
        'Fill in the variables. Each purchase that you send gets a new ref_id, so it is a new order.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    variable: Object.entries({ base_url: baseUrl, ...variables }).map(([key, value]) => ({ key, value })),
    event: [script('prerequest', beforeEach), script('test', afterEach)],
    item: folders.map((folder) => ({
      name: folder,
      item: requests.filter(({ operation }) => operation.tags.join() === folder).map(itemOf),
    })),
  };
  return `${JSON.stringify(collection, null, 2)}\n`;
}

const variables = {
  buyer_key: 'bk_test_...',
  seller_key: 'sk_test_...',
  username: 'buyer',
  signature: 'sha256=...',
  code: 'S10',
  id: '-',
  ref: '-',
};

const beforeEach = `
pm.variables.set('new_ref', 'postman-' + Date.now() + '-' + Math.floor(Math.random() * 1e9));
const covers = {
  '/api/reseller/request': ['code', 'customer', 'ref_id'],
  '/api/reseller/price-list': 'pricelist',
  '/api/reseller/balance': 'depo',
}[pm.request.url.getPath()];
if (covers) {
  const valueOf = (name) => pm.variables.replaceIn(decodeURIComponent(pm.request.url.query.get(name)));
  const values = [pm.variables.get('username')].concat(Array.isArray(covers) ? covers.map(valueOf) : covers);
  pm.variables.set('sign', require('crypto-js').HmacSHA256(values.join('|'), pm.variables.get('buyer_key')).toString());
}`;

const afterEach = `
const isJson = /json/.test(pm.response.headers.get('content-type') || '');
const data = (isJson && pm.response.json().data) || {};
const keep = (name, value) => value && pm.collectionVariables.set(name, value);
keep('id', data.report_id || data.settlement_id || data.transaction_id || data.id || ((data.deliveries || [])[0] || {}).id);
keep('ref', data.ref_id);
keep('code', data.name && data.code);
const rotated = /\\/api\\/(buyer|seller)\\/api\\/keys\\/rotate$/.exec(pm.request.url.getPath());
keep(rotated && rotated[1] + '_key', rotated && data.api_key);`;

function itemOf({ operation, method, path, query, key, headers, body }: SampleRequest): object {
  const json = body === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }];
  const statuses = Object.keys(operation.responses).map(Number);
  return {
    name: operation.summary,
    event: [
      script(
        'test',
        `pm.test('${operation.operationId} responds as described', () => pm.expect(pm.response.code).to.be.oneOf(${JSON.stringify(statuses)}));`,
      ),
    ],
    request: {
      method,
      description: operation.description ?? '',
      auth:
        key === null
          ? { type: 'noauth' }
          : { type: 'bearer', bearer: [{ key: 'token', value: `{{${key}}}`, type: 'string' }] },
      header: [...headers.map(({ name, value }) => ({ key: name, value })), ...json],
      url: {
        raw: `{{base_url}}${path.replace(/\{(\w+)\}/g, '{{$1}}')}`,
        host: ['{{base_url}}'],
        path: path
          .slice(1)
          .split('/')
          .map((part) => part.replace(/^\{(\w+)\}$/, '{{$1}}')),
        query: query.map(({ name, value }) => ({
          key: name,
          value: name === 'ref_id' ? '{{new_ref}}' : value,
        })),
      },
      ...(body !== undefined && {
        body: {
          mode: 'raw',
          raw: JSON.stringify(replaceRef(body), null, 2),
          options: { raw: { language: 'json' } },
        },
      }),
    },
  };
}

/** Replaces the ref_id of the example, because it would already be used after the first call. */
function replaceRef(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'ref_id' in body
    ? { ...body, ref_id: '{{new_ref}}' }
    : body;
}

function script(listen: 'prerequest' | 'test', text: string): object {
  return { listen, script: { type: 'text/javascript', exec: text.trim().split('\n') } };
}
