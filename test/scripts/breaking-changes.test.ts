import { expect } from 'chai';
import { breakingChanges, type Json } from '../../scripts/openapi/breaking-changes.js';
import { stripDescriptions } from '../../scripts/openapi/strip-descriptions.js';
import { openApiDocument } from '../../src/api/openapi/document.js';

const item = {
  type: 'object',
  required: ['id'],
  properties: {
    id: { type: 'string' },
    price: { type: 'integer' },
    description: { type: ['string', 'null'] },
  },
};
const buy = {
  operationId: 'buy',
  summary: 'Buy',
  security: [{ apiKey: [] }],
  parameters: [{ name: 'page', in: 'query', required: false, schema: { type: 'integer', maximum: 100 } }],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['code'],
          properties: {
            code: { type: 'string', maxLength: 50 },
            kind: { enum: ['a', 'b'] },
            note: { type: 'string' },
          },
        },
      },
    },
  },
  responses: {
    200: {
      headers: { ETag: { schema: { type: 'string' } } },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Item' } } },
    },
    404: { content: { 'application/json': { schema: { type: 'object' } } } },
  },
};
const sold = {
  requestBody: {
    content: { 'application/json': { schema: { oneOf: [{ $ref: '#/components/schemas/Item' }] } } },
  },
};
const good = {
  paths: { '/items': { post: buy } },
  webhooks: { sold: { post: sold } },
  components: { schemas: { Item: item } },
};

/** Returns the breaking changes that `change` introduces in a copy of the document. */
function breaksOf(change: (document: typeof good) => void): string[] {
  const after = structuredClone(good);
  change(after);
  return breakingChanges(good, after);
}

const bodyOf = (document: typeof good) =>
  document.paths['/items'].post.requestBody.content['application/json'].schema as Json & { properties: Json };

describe('breaking changes of the OpenAPI document', () => {
  it('finds no break in an unchanged document and stores no descriptions', () => {
    expect(breaksOf(() => undefined)).to.deep.equal([]);
    const document = JSON.parse(JSON.stringify(openApiDocument())) as Json;
    expect(breakingChanges(document, document)).to.deep.equal([]);
    expect(Object.keys(document['paths'] as Json).length).to.be.greaterThan(50);
    const contract = stripDescriptions(good) as typeof good;
    expect(contract.paths['/items'].post).to.not.have.property('summary');
    expect(contract.components.schemas.Item.properties).to.have.property('description');
  });

  it('accepts additions and wider bounds', () => {
    const added = breaksOf((document) => {
      Object.assign(document.paths, { '/more': { get: buy } });
      Object.assign(document.webhooks, { refunded: { post: sold } });
      Object.assign(document.components.schemas.Item.properties, { more: { type: 'string' } });
      document.components.schemas.Item.required.push('price');
      const body = bodyOf(document);
      Object.assign(body.properties, { code: { type: 'string', maxLength: 60 }, more: { type: 'string' } });
      Object.assign(body.properties, { kind: { enum: ['a', 'b', 'c'] } });
      Object.assign(document.paths['/items'].post.responses, { 409: { content: {} } });
      document.paths['/items'].post.parameters.push({
        name: 'limit',
        in: 'query',
        required: false,
        schema: { type: 'integer', maximum: 9 },
      });
    });
    expect(added).to.deep.equal([]);
  });

  const breaks: Record<string, [change: (document: typeof good) => void, said: string]> = {
    'finds a removed call': [(each) => Object.assign(each, { paths: {} }), 'POST /items: is gone'],
    'finds a removed webhook': [(each) => Object.assign(each, { webhooks: {} }), 'webhook sold: is gone'],
    'finds a removed success': [
      ({ paths }) => Reflect.deleteProperty(paths['/items'].post.responses, '200'),
      'POST /items 200: is gone',
    ],
    'finds a removed field of an answer': [
      ({ components }) => Reflect.deleteProperty(components.schemas.Item.properties, 'price'),
      'POST /items 200.price: is gone',
    ],
    'finds a removed header of an answer': [
      ({ paths }) => Reflect.deleteProperty(paths['/items'].post.responses[200].headers, 'ETag'),
      'POST /items 200 header etag: is gone',
    ],
    'finds a header with a changed type': [
      ({ paths }) =>
        Object.assign(paths['/items'].post.responses[200].headers.ETag.schema, { type: 'integer' }),
      'POST /items 200 header etag: is integer now, was string',
    ],
    'finds a new alternative of an answer': [
      (each) =>
        Object.assign(each.components.schemas, {
          Item: { oneOf: [item, { type: 'object', properties: { power: { type: 'string' } } }] },
        }),
      'POST /items 200: alternative 2 matches no earlier alternative',
    ],
    'finds a removed field of a webhook': [
      ({ components }) => Reflect.deleteProperty(components.schemas.Item.properties, 'price'),
      'webhook sold: alternative 1 matches no earlier alternative',
    ],
    'finds a field of an answer that becomes optional': [
      ({ components }) => (components.schemas.Item.required = []),
      'POST /items 200.id: may be missing now',
    ],
    'finds a field of an answer that becomes nullable': [
      ({ components }) => Object.assign(components.schemas.Item.properties.id, { type: ['string', 'null'] }),
      'POST /items 200.id: is string,null now, was string',
    ],
    'finds a field of a body that becomes required': [
      (each) => Object.assign(bodyOf(each), { required: ['code', 'note'] }),
      'POST /items.note: is required now',
    ],
    'finds a removed field of a body': [
      (each) => Reflect.deleteProperty(bodyOf(each).properties, 'note'),
      'POST /items.note: is gone',
    ],
    'finds a lower maximum length': [
      (each) => Object.assign(bodyOf(each).properties['code'] as Json, { maxLength: 40 }),
      'POST /items.code: maxLength is 40 now, was 50',
    ],
    'finds a new pattern': [
      (each) => Object.assign(bodyOf(each).properties['code'] as Json, { pattern: '^x' }),
      'POST /items.code: its pattern is ^x now, was none',
    ],
    'finds a removed value': [
      (each) => Object.assign(bodyOf(each).properties, { kind: { enum: ['a'] } }),
      'POST /items.kind: b is refused now',
    ],
    'finds a changed type': [
      (each) => Object.assign(bodyOf(each).properties, { note: { type: 'integer' } }),
      'POST /items.note: is integer now, was string',
    ],
    'finds a removed parameter': [
      ({ paths }) => (paths['/items'].post.parameters = []),
      'POST /items query page: is gone',
    ],
    'finds a parameter that becomes required': [
      ({ paths }) => Object.assign(paths['/items'].post.parameters[0] ?? {}, { required: true }),
      'POST /items query page: is required now',
    ],
    'finds a removed authentication method': [
      ({ paths }) => (paths['/items'].post.security = []),
      'POST /items: security {"apiKey":[]} is gone',
    ],
  };
  for (const [what, [change, said]] of Object.entries(breaks)) {
    it(what, () => {
      expect(breaksOf(change)).to.include(said);
    });
  }
});
