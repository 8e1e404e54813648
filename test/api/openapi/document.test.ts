import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createApp } from '../../../src/app.js';
import { env, parseEnv } from '../../../config/env.js';
import { describeWebhooks } from '../../../src/api/openapi/webhooks.js';
import { describedInterface, openApiDocument } from '../../../src/api/openapi/document.js';
import type { OpenApiDocument, Schema } from '../../../src/api/openapi/types.js';
import {
  buildConfigUpdatedDeliveries,
  buildTestDelivery,
  buildWebhookDisabledDeliveries,
} from '../../../src/webhooks/account-events.js';
import { buildDepositCompletedDeliveries } from '../../../src/deposits/present-deposit.js';
import {
  buildSettlementCompletedDeliveries,
  buildSettlementFailedDeliveries,
} from '../../../src/settlements/settlement-events.js';
import { getEndpoints, defaultEndpointSettings } from '../../../src/accounts/webhook-endpoint.js';
import { getReceiverId } from '../../../src/webhooks/new-delivery.js';
import type { Delivery } from '../../../src/webhooks/deliver/delivery.model.js';
import {
  buildPurchaseDeliveries,
  type PurchaseEvent,
} from '../../../src/purchases/purchase-notifications.js';
import { expectToFitContract } from '../../support/contract.js';
import { problemsOf, problemsOfSchema } from '../../support/json-schema.js';
import { someTransaction } from '../../webhooks/support/accounts.js';

const document = describedInterface();

describe('OpenAPI document', () => {
  let server: Server;
  let url: string;

  before(async () => {
    server = createServer(createApp());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());

  it('is served at /openapi.json with a cache time of five minutes', async () => {
    const response = await fetch(`${url}/openapi.json`);
    expect(response.status).to.equal(200);
    expect(response.headers.get('cache-control')).to.equal('public, max-age=300');
    expect(response.headers.get('content-type')).to.match(/^application\/json/);
    expect(await response.json()).to.deep.equal(JSON.parse(JSON.stringify(openApiDocument())));
  });

  it('names every type, and its references resolve to the operations', () => {
    const published = JSON.parse(JSON.stringify(openApiDocument())) as Record<string, unknown>;
    expect(withoutTitles(resolveReferences(published, published['paths']))).to.deep.equal(
      withoutTitles(JSON.parse(JSON.stringify(document.paths))),
    );
    expect(withoutTitles(resolveReferences(published, published['webhooks']))).to.deep.equal(
      withoutTitles(JSON.parse(JSON.stringify(document.webhooks))),
    );
    expect(openApiDocument().components.schemas).to.include.all.keys(
      'Transaction',
      'WalletTransaction',
      'Product',
      'Deposit',
      'Bill',
      'Failure',
      'TransactionSuccessEvent',
    );
    // Every request, response and webhook body is a reference or a choice of references.
    const { paths, webhooks } = openApiDocument();
    const bodies = [
      ...JSON.stringify({ paths, webhooks }).matchAll(/"application\/json":\{"schema":\{"([^"]+)"/g),
    ];
    expect(bodies.length).to.be.greaterThan(80);
    expect(new Set(bodies.map(([, first]) => first))).to.deep.equal(new Set(['$ref', 'oneOf', 'type']));
    const unnamed = bodies.filter(([, first]) => first === 'type').length;
    expect(unnamed, 'bodies with an inline schema (files and acknowledgements)').to.be.lessThan(4);
    expect(openApiDocument().servers).to.deep.equal([{ url: `http://127.0.0.1:${env.PORT}` }]);
  });

  it('lists the addresses of webhooks only if they are set', () => {
    expect(document.tags.find(({ name }) => name === 'Webhooks')?.description).to.equal(describeWebhooks([]));
    expect(describeWebhooks([])).to.equal('Requests that we send to your server.');
    expect(describeWebhooks(['203.0.113.7', '2001:db8::/48'])).to.include('203.0.113.7, 2001:db8::/48');
    const read = (value: string) => parseEnv({ ...process.env, OUTGOING_ADDRESSES: value });
    expect(read('203.0.113.7, 198.51.100.0/28').OUTGOING_ADDRESSES).to.deep.equal([
      '203.0.113.7',
      '198.51.100.0/28',
    ]);
    for (const wrong of ['shop.example', '203.0.113.7/40', '203.0.113.7,', '203.0.113.300']) {
      expect(() => read(wrong), wrong).to.throw('"OUTGOING_ADDRESSES" must be addresses or networks');
    }
  });

  it('has a page per call at /docs/reference that loads only from this service', async () => {
    const page = await fetch(`${url}/docs/reference/createBuyerTransaction`);
    expect(page.status).to.equal(200);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).to.include("default-src 'none'").and.include("script-src 'self';");
    expect(policy).to.not.match(/https?:|unsafe/);
    const html = await page.text();
    const files = [...html.matchAll(/<(?:script|link)[^>]+(?:src|href)="(\/[^"]+)"/g)].map(([, file]) =>
      String(file),
    );
    expect(files).to.have.members(['/docs/style.css', '/docs/search.js', '/docs/try-it.js']);
    for (const file of files) {
      expect((await fetch(`${url}${file}`)).status, file).to.equal(200);
    }
    expect((await fetch(`${url}/docs/nowhere`)).status).to.equal(404);
    expect((await fetch(`${url}/docs/reference/nothing`)).status).to.equal(404);
    expect((await fetch(`${url}/docs`, { method: 'POST' })).status).to.equal(405);
  });

  it('lists every call with a unique operation name', () => {
    const calls = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(calls).to.include.members([
      'post /v1/auth/login',
      'get /v1/wallet/balance',
      'get /v1/products',
      'post /v1/transactions',
      'get /v1/transactions/{id}',
      ...['balance', 'price-list', 'deposit', 'transaction', 'inquiry', 'payment', 'transactions'].map(
        (name) => `post /api/buyer/${name}`,
      ),
      'get /api/buyer/api/config',
      'post /api/buyer/api/config',
      'get /api/seller/products',
      'post /api/seller/products',
      'put /api/seller/products/{code}',
      'post /api/seller/settlement/request',
      'post /api/seller/transactions',
      'post /api/seller/api/config',
      'get /api/reseller/request',
      'get /api/reseller/price-list',
      'get /api/reseller/balance',
      'post /api/reseller/callback',
      ...['buyer', 'seller'].flatMap((role) => [
        `post /api/${role}/reports`,
        `get /api/${role}/reports/{id}`,
        `get /api/${role}/reports/{id}/download`,
      ]),
    ]);
    const ids = operationsOf(document).map((each) => each.operationId);
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('its references, path parameters, schemas and examples are valid', () => {
    for (const [, reference] of JSON.stringify(document).matchAll(
      /"\$ref":"#\/components\/responses\/(\w+)"/g,
    )) {
      expect(document.components.responses).to.have.property(String(reference));
    }
    for (const [path, item] of Object.entries(document.paths)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters } of Object.values(item)) {
        expect(parameters.filter((each) => each.in === 'path').map((each) => each.name)).to.deep.equal(
          inPath,
        );
      }
    }
    let examples = 0;
    for (const schema of schemasIn(document)) {
      expect(problemsOfSchema(schema)).to.deep.equal([]);
      for (const example of schema.examples ?? []) {
        expect(problemsOf(schema, example)).to.deep.equal([]);
        examples += 1;
      }
    }
    expect(examples).to.be.greaterThan(50);
  });

  it('describes every webhook exactly as the service sends it', () => {
    const receiver = {
      _id: 'a',
      webhookUrl: 'https://shop.example/w',
      webhookSecretSealed: '',
      previousWebhookSecret: null,
      webhookEndpoints: [
        {
          ...defaultEndpointSettings,
          id: 'b',
          url: 'https://shop.example/b',
          secretSealed: '',
          previousSecret: null,
        },
      ],
      callbackUrl: 'https://shop.example/c',
    };
    const events: PurchaseEvent[] = ['pending', 'success', 'failed', 'reversed'];
    const settlement = {
      _id: 's',
      refId: null,
      amount: 100_000,
      fee: 2_500,
      netAmount: 97_500,
      bankAccount: { bankCode: '014', accountNumber: '1234567890', accountName: 'PT Pulsa Jaya' },
    };
    const deposit = {
      _id: 'd',
      accountId: 'a',
      refId: 'r',
      amount: 1,
      balanceBefore: 0,
      balanceAfter: 1,
      status: 'completed' as const,
      completedAt: new Date(),
      createdAt: new Date(),
    };
    const rows: Delivery[] = [
      ...(['wallet', 'reseller', 'buyer'] as const).flatMap((surface) =>
        events.flatMap((event) =>
          buildPurchaseDeliveries({
            buyer: receiver,
            seller: receiver,
            event,
            purchase: someTransaction({ surface }),
          }),
        ),
      ),
      ...buildSettlementCompletedDeliveries(receiver, settlement, new Date()),
      ...buildSettlementFailedDeliveries(receiver, settlement, 'wrong account'),
      ...buildDepositCompletedDeliveries(receiver, deposit),
      ...buildConfigUpdatedDeliveries(receiver, ['webhook_url']),
      ...getEndpoints(receiver).map((endpoint) => buildTestDelivery(receiver, endpoint)),
      ...buildWebhookDisabledDeliveries(receiver, {
        receiverId: getReceiverId('a', receiver.webhookUrl),
        because: 'gone',
        at: new Date(),
      }),
    ];
    for (const { event, body } of rows) {
      const schema = document.webhooks[event]?.['post']?.requestBody?.content['application/json']?.schema;
      expect(problemsOf(schema ?? {}, JSON.parse(body)), event).to.deep.equal([]);
    }
    expect(new Set(rows.map((each) => each.event))).to.deep.equal(new Set(Object.keys(document.webhooks)));
  });
});

describe('contract check of the tests', () => {
  const good = {
    method: 'GET',
    path: '/v1/wallet/balance',
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: { status: 'success', code: '00', data: { balance: 5, currency: 'IDR' } },
  };

  it('accepts a matching response', () => {
    expect(() => expectToFitContract(good)).to.not.throw();
  });

  for (const [what, wrong] of Object.entries({
    'an unknown field': { body: { ...good.body, data: { ...good.body.data, extra: 1 } } },
    'a missing field': { body: { ...good.body, data: { balance: 5 } } },
    'a wrong type': { body: { ...good.body, data: { ...good.body.data, balance: '5' } } },
    'a code of a failure in a success': { body: { ...good.body, code: '07' } },
    'an undocumented status': { status: 201 },
    'an undocumented 404': { status: 404 },
    'a success on an unknown path': { path: '/v1/elsewhere' },
    'a content type other than JSON': { headers: { 'content-type': 'text/html' } },
    'a server error': { status: 500 },
  })) {
    it(`refuses ${what}`, () => {
      expect(() => expectToFitContract({ ...good, ...wrong })).to.throw(/against the contract/);
    });
  }
});

describe('contract of reports', () => {
  const item = {
    ref_id: 'r',
    transaction_id: 't',
    customer_number: '0812',
    code: 'S10',
    product_name: 'S',
    price: 10_500,
    status: 'success',
    sn: null,
    timestamp: '2024-03-01T05:06:07.000Z',
    message: null,
  };
  const figures = {
    total_transactions: 1,
    success_transactions: 1,
    failed_transactions: 0,
    total_amount: 10_500,
    success_amount: 10_500,
  };
  const head = {
    report_id: 'i',
    type: 'transaction',
    period: { start_date: '2024-03-01', end_date: '2024-03-02' },
    summary: figures,
    filename: 'f',
    rows: 1,
    size: 9,
    download_url: 'http://127.0.0.1/x',
    expires_at: '2024-03-01T05:06:07.000Z',
  };
  const json = { ...head, format: 'json', transactions: [item], truncated: false };
  const csv = { ...head, format: 'csv' };
  const check = (data: object, status = 200) =>
    expectToFitContract({
      method: 'POST',
      path: '/api/buyer/reports',
      status,
      headers: { 'content-type': 'application/json' },
      body: { status: 'success', code: status === 200 ? '00' : '05', data },
    });
  const unfinished = {
    report_id: 'i',
    type: 'transaction',
    format: 'csv',
    period: head.period,
    status: 'pending',
  };

  it('accepts a matching response', () => {
    check(json);
    check(csv);
    check({ ...json, type: 'deposit', summary: { ...figures, average_amount: 1 }, transactions: [] });
    check(unfinished, 202);
  });

  const { sn: _sn, ...withoutSn } = item;
  for (const [what, wrong] of Object.entries({
    'an item with an extra field': { ...json, transactions: [{ ...item, accountId: 'a' }] },
    'an item without a field': { ...json, transactions: [withoutSn] },
    'an amount as text': { ...json, transactions: [{ ...item, price: '10500' }] },
    'a fraction of a rupiah': { ...json, transactions: [{ ...item, price: 0.5 }] },
    'an item of another type': { ...json, type: 'deposit', summary: { ...figures, average_amount: 1 } },
    'a summary of another type': { ...json, summary: { ...figures, average_amount: 1 } },
    'an empty summary': { ...json, summary: {} },
    'products in a buyer report': { ...json, products: [] },
    'csv with items': { ...csv, transactions: [item] },
    'json without items': { ...csv, format: 'json' },
    'a report type of another role': { ...csv, type: 'sales' },
    'an unfinished report with status 200': unfinished,
  })) {
    it(`refuses ${what}`, () => {
      expect(() => check(wrong)).to.throw(/against the contract/);
    });
  }

  it('describes the download token, which replaces the key', () => {
    for (const role of ['buyer', 'seller']) {
      const operation = document.paths[`/api/${role}/reports/{id}/download`]?.['get'];
      expect(operation?.parameters.map(({ name, in: place }) => [name, place])).to.deep.equal([
        ['id', 'path'],
        ['token', 'query'],
        ['Accept-Language', 'header'],
      ]);
      expect(operation?.security).to.deep.equal([{ apiKey: [] }, { downloadToken: [] }]);
    }
  });
});

function operationsOf(document: OpenApiDocument) {
  return [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap((item) =>
    Object.values(item),
  );
}

function schemasIn(part: unknown): Schema[] {
  if (typeof part !== 'object' || part === null) {
    return [];
  }
  const own = 'examples' in part && Array.isArray(part.examples) ? [part as Schema] : [];
  return [...own, ...Object.values(part).flatMap(schemasIn)];
}

/** Returns the part with all references to schemas and parameters resolved. */
function resolveReferences(root: Record<string, unknown>, part: unknown): unknown {
  if (Array.isArray(part)) {
    return part.map((each) => resolveReferences(root, each));
  }
  if (typeof part !== 'object' || part === null) {
    return part;
  }
  const found = /^#\/components\/(schemas|parameters)\/(\w+)$/.exec('$ref' in part ? String(part.$ref) : '');
  if (found) {
    const [, kind = '', name = ''] = found;
    const components = root['components'] as Record<string, Record<string, unknown>>;
    expect(components[kind], name).to.have.property(name);
    return resolveReferences(root, components[kind]?.[name]);
  }
  return Object.fromEntries(
    Object.entries(part).map(([name, each]) => [name, resolveReferences(root, each)]),
  );
}

function withoutTitles(part: unknown): unknown {
  return JSON.parse(
    JSON.stringify(part, (name, each: unknown) => (name === 'title' ? undefined : each)),
  ) as unknown;
}
