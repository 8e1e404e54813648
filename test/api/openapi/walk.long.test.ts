import { expect } from 'chai';
import fc from 'fast-check';
import { limits } from '../../../config/limits.js';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { describedInterface } from '../../../src/api/openapi/document.js';
import type { Schema } from '../../../src/api/openapi/types.js';
import { JournalModel } from '../../../src/money/journals/journal.model.js';
import { WalletModel } from '../../../src/money/wallets/wallet.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { seededRandom } from '../../support/random.js';
import { sizes } from '../../support/sizes.js';
import { useApi, type ApiAccount, type ApiCall } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { hmacSign, pathOf } from '../support/reseller.js';
import { useSettings } from '../../support/use-settings.js';

/** Invalid values that clients send by mistake or deliberately. */
const hostile: unknown[] = [
  { $gt: '' },
  { $ne: null },
  { $where: '1' },
  JSON.parse('{"__proto__":{"admin":true}}'),
  [],
  ['a'],
  [[[]]],
  {},
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  1e308,
  Number.MIN_VALUE,
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '__proto__',
  'constructor',
  'toString',
  '$where',
  'a.b',
  '../../x',
  '💥'.repeat(30),
  '\ud800',
  '\u202e',
  'İ',
  'x'.repeat(3_000),
  "' OR 1=1 --",
  '%00',
  '1e3',
  'NaN',
];
const acceptedResellerRequest: Generated = {
  operationId: 'createResellerRequest',
  params: {},
  query: { code: 'S10', customer: '081234567890', ref_id: 'walk-1' },
  raw: undefined,
  signed: true,
};
/**
 * Operations that move money or change prices. Each must be accepted at least once and refused at
 * least once. Random calls do not guarantee that.
 */
const acceptedBodies: Record<string, object> = {
  createWalletTransaction: { product_code: 'S10', destination: '081234567890', ref_id: 'walk-2' },
  createBuyerTransaction: { code: 'S10', customer_number: '081234567890', ref_id: 'walk-3' },
  createDeposit: { amount: 50_000, ref_id: 'walk-4' },
  putOffer: { price: 10_000, status: 'active' },
};
const acceptedAndRefused = Object.entries(acceptedBodies).flatMap(([operationId, body]) =>
  [JSON.stringify(body), '[]'].map((raw): [Generated] => {
    const params: Record<string, string> = operationId === 'putOffer' ? { code: 'S10' } : {};
    return [{ operationId, params, query: {}, raw, signed: true }];
  }),
);
const hostileBodies = ['', '[]', '""', 'null', '1', '{', '{"a":', '{"__proto__":{"x":1}}', '\u0000', '"💥"'];

interface Generated {
  operationId: string;
  params: Record<string, string>;
  query: Record<string, string>;
  raw: string | undefined;
  signed: boolean;
}

const { seed } = seededRandom();
const runs = sizes.walk.requests;

describe(`random walk of the OpenAPI document, ${runs} requests, ${seed}`, () => {
  const api = useApi();
  // No worker runs here: nothing but the calls moves money, and waiting for a result is pointless.
  useSettings({ RESELLER_SYNC_WAIT_MS: 0, REPORT_SYNC_WAIT_MS: 1 });
  let accounts: Record<'buyer' | 'seller', ApiAccount>;
  let code: string;

  before(async () => {
    code = (await newProduct(api))._id;
  });

  /**
   * Switches to new accounts, because the generated calls would exceed the highest rate limit of
   * one account.
   */
  async function changeAccounts(): Promise<void> {
    accounts = { buyer: await api.newBuyer(1_000_000_000), seller: await api.newAccount('seller') };
    await resetSettings();
  }

  /**
   * Resets the settings of an account. An earlier call may have set values that block later calls.
   */
  async function resetSettings(): Promise<void> {
    const ids = Object.values(accounts).map(({ account }) => account._id);
    const settings = { rateLimit: limits.rateLimitMax, ipWhitelist: [], webhookUrl: null, callbackUrl: null };
    await writeAndInvalidate([AccountModel], null, (rows) =>
      rows.updateMany({ _id: { $in: ids } }, { $set: settings }),
    );
  }

  async function readMoney(): Promise<string> {
    const ids = Object.values(accounts).map(({ account }) => account._id);
    const [wallets, journals] = await Promise.all([
      WalletModel.find({ _id: { $in: ids } })
        .sort({ _id: 1 })
        .lean(),
      JournalModel.countDocuments(),
    ]);
    return JSON.stringify([wallets.map(({ balance, held, seq }) => [balance, held, seq]), journals]);
  }

  function withProduct(values: Record<string, string>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, value === 'S10' ? code : value]),
    );
  }

  function callOf(generated: Generated): ApiCall {
    const { raw } = generated;
    // Replace the example code of the document with an existing product code.
    const params = withProduct(generated.params);
    const query = withProduct(generated.query);
    const { operation, method, path: template } = operationOf(generated.operationId);
    const path = template.replace(/\{(\w+)\}/g, (_match, name: string) => encodeParameter(params[name]));
    if (operation.tags.includes('Reseller')) {
      const { buyer } = accounts;
      const { code: product = '', customer = '', ref_id: ref = '' } = query;
      const covers = path.endsWith('request')
        ? `${product}|${customer}|${ref}`
        : path.endsWith('balance')
          ? 'depo'
          : 'pricelist';
      const signing = { username: buyer.account.username, key: buyer.key };
      const credentials = { username: signing.username, sign: hmacSign(signing, covers) };
      const name = path.split('/').at(-1) as 'request' | 'price-list' | 'balance';
      return {
        method: 'GET',
        path: pathOf(name, { ...query, ...(generated.signed && credentials) }),
      };
    }
    const { key } = operation.tags.includes('Seller') ? accounts.seller : accounts.buyer;
    const search = new URLSearchParams(query).toString();
    return {
      method: method.toUpperCase() as 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
      path: search === '' ? path : `${path}?${search}`,
      ...(generated.signed && { key }),
      ...(raw !== undefined && { raw: raw.replaceAll('"S10"', JSON.stringify(code)) }),
    };
  }

  it('causes no 5xx, matches the contract, and moves no money with refused calls', async function () {
    this.timeout(runs * 400);
    const answered = new Map<string, Set<string>>();
    let calls = 0;
    await fc.assert(
      fc.asyncProperty(requests(), async (generated) => {
        const id = generated.operationId;
        if (calls % (limits.rateLimitMax / 2) === 0) {
          await changeAccounts();
        }
        calls += 1;
        const before = await readMoney();
        // The client checks each response against the contract.
        const answer = await api.call(callOf(generated));
        expect(answer.status, JSON.stringify(answer.body)).to.be.lessThan(500);
        const words =
          answer.body.status === 'error' || answer.status >= 400 ? answer.body.code : answer.body.status;
        answered.set(id, (answered.get(id) ?? new Set()).add(String(words)));
        if (!['success', '00', '05'].includes(String(words))) {
          expect(await readMoney(), 'money before and after a refusal').to.equal(before);
        } else if (/^rotate\w+Key$/.test(id)) {
          const account = id.includes('Buyer') ? accounts.buyer : accounts.seller;
          account.key = String(answer.body.data.api_key);
        } else if (/^update\w+Config$/.test(id)) {
          await resetSettings();
        }
      }),
      {
        numRuns: runs,
        seed: Number(seed.replace('SEED=', '')),
        endOnFailure: true,
        // Random calls rarely form a valid reseller request and may miss an operation, so these
        // calls are added.
        examples: [[acceptedResellerRequest], ...acceptedAndRefused, ...buildOneRequestEach()],
      },
    );
    const all = operations().map(({ operation }) => operation.operationId);
    expect([...answered.keys()], 'called operations').to.have.members(all);
    for (const id of Object.keys(acceptedBodies)) {
      const words = [...(answered.get(id) ?? [])];
      expect(words, `results of ${id}`).to.include.members(['success', '01']);
    }
    expect([...(answered.get('createResellerRequest') ?? [])]).to.include.members(['00', '01']);
  });
});

const document = describedInterface();

function operationOf(id: string) {
  const found = operations().find(({ operation }) => operation.operationId === id);
  if (!found) {
    throw new Error(`There is no ${id}`);
  }
  return found;
}

/** Returns one call for each operation, because random generation may miss some. */
function buildOneRequestEach(): [Generated][] {
  return operations().map(({ operation: { operationId, parameters } }) => {
    const names = parameters.filter(({ in: place }) => place === 'path').map(({ name }) => name);
    const params = Object.fromEntries(names.map((name) => [name, 'no-such']));
    return [{ operationId, params, query: {}, raw: undefined, signed: true }];
  });
}

function operations() {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** Generates calls of any operation. Most values are valid, and some are hostile. */
function requests(): fc.Arbitrary<Generated> {
  return fc.constantFrom(...operations()).chain(({ method, operation }) => {
    const parameters = (where: 'path' | 'query') => {
      const chosen = operation.parameters.filter(
        ({ in: place, name }) => place === where && !['username', 'sign'].includes(name),
      );
      return fc.record(
        Object.fromEntries(chosen.map(({ name, schema }) => [name, valueOf(schema).map(asText)])),
        { requiredKeys: where === 'path' ? chosen.map(({ name }) => name) : [] },
      );
    };
    const body = operation.requestBody?.content['application/json']?.schema;
    return fc.record({
      operationId: fc.constant(operation.operationId),
      params: parameters('path'),
      query: parameters('query'),
      raw: rawBody(method, body),
      signed: fc.integer({ min: 0, max: 19 }).map((n) => n > 0),
    });
  });
}

function rawBody(method: string, body: Schema | undefined): fc.Arbitrary<string | undefined> {
  if (method === 'get') {
    return fc.constant(undefined);
  }
  return fc.oneof(
    { weight: 12, arbitrary: (body ? objectOf(body) : fc.constant({})).map((each) => JSON.stringify(each)) },
    { weight: 1, arbitrary: fc.constantFrom(...hostileBodies) },
    { weight: 1, arbitrary: fc.json() },
  );
}

function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 10, arbitrary: goodValue(schema) },
    { weight: 1, arbitrary: fc.constantFrom(...hostile) },
    { weight: 1, arbitrary: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()) },
  );
}

function goodValue(schema: Schema): fc.Arbitrary<unknown> {
  const { enum: values, examples, pattern, minimum, maximum } = schema;
  if (values) {
    return fc.constantFrom(...values);
  }
  switch ([schema.type].flat()[0]) {
    case 'object':
      return objectOf(schema);
    case 'array':
      return fc.array(valueOf(schema.items ?? {}), { maxLength: 3 });
    case 'integer':
    case 'number':
      return fc.oneof(
        fc.constantFrom(...(examples ?? [minimum ?? 0])),
        fc.constantFrom(minimum ?? 0, maximum ?? 1, (minimum ?? 0) - 1, (maximum ?? 1) + 1),
        fc.integer({ min: minimum ?? 0, max: maximum ?? 1_000 }),
      );
    case 'boolean':
      return fc.boolean();
    default:
      return examples && !refPatterns.includes(pattern ?? '')
        ? fc.constantFrom(...examples)
        : fc.stringMatching(/^[A-Za-z0-9._:-]{1,64}$/);
  }
}

/**
 * The patterns of references. Generated references must be unknown, so the document's examples are
 * not used.
 */
const refPatterns = ['^[A-Za-z0-9._:-]{1,64}$', '^[A-Za-z0-9._:/-]{1,64}$'];

function objectOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(properties).map(([name, each]) => [name, valueOf(each)] as const);
  return fc
    .record({
      known: fc.record(Object.fromEntries(fields), { requiredKeys: [] }),
      all: fc.record(Object.fromEntries(fields)),
      whole: fc.integer({ min: 0, max: 4 }),
    })
    .map(({ known, all, whole }) => {
      const optionalOut = Object.entries(all).filter(
        ([name]) => required.includes(name) || Object.hasOwn(known, name),
      );
      return whole > 0 ? Object.fromEntries(optionalOut) : known;
    });
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Encodes every byte as %xx, so that dots and slashes do not change the path. An empty value
 * becomes a dash.
 */
function encodeParameter(value = ''): string {
  return Buffer.from(value === '' || /^\.\.?$/.test(value) ? '-' : value)
    .toString('hex')
    .replace(/../g, '%$&');
}
