/** Errors name the fields that the caller sent, on every surface. */
import { expect } from 'chai';
import type Joi from 'joi';
import { operations, resellerOperations, walletOperations } from '../../src/api/operations.js';
import type { AnyOperation } from '../../src/api/contract/operation.js';
import type { CustomerNumberRule } from '../../src/products/product.model.js';
import { callerFields } from '../../src/shared/caller-fields.js';
import { uniqueRef } from '../support/api-client.js';
import { useSettings } from '../support/use-settings.js';
import { useApi, type ApiAccount } from './support/api.js';
import { newProduct } from './support/catalogue.js';
import { hmacSign } from './support/reseller.js';

const rules: CustomerNumberRule[] = [
  { kind: 'phone', prefixes: ['0812'] },
  { kind: 'pln' },
  { kind: 'game' },
  { kind: 'bill' },
  { kind: 'any' },
];
const badNumbers = ['0812', '081712345678', '!', 'x', 'a b', '1'.repeat(60)];
const badTexts = [undefined, '', '5', ' ', 'x y', '../x', 'x'.repeat(300), '\u0000'];
const badValues = [...badTexts, null, 5, true, {}, []];

function listKeys(schema: Joi.Schema | undefined): string[] {
  return schema === undefined ? [] : Object.keys((schema.describe().keys as object | undefined) ?? {});
}
const listFields = ({ body, params, query }: AnyOperation) => [body, params, query].flatMap(listKeys);
const everyField = new Set(operations.flatMap(listFields).concat('destination', 'customer', 'code'));

/** Fails if the answer names a field that the operation does not declare. */
function expectOwnFields(answer: { body: unknown }, declared: string[], what: string): void {
  const { message = '', errors = [] } = answer.body as {
    message?: string;
    errors?: { field: string; message: string }[];
  };
  for (const { field } of errors) {
    expect(declared, `${what}: ${JSON.stringify(answer.body)}`).to.include(field.split(/[.[]/)[0]);
  }
  const foreign = [...everyField].filter((field) => !declared.includes(field));
  for (const text of [message, ...errors.map((each) => each.message)]) {
    // A word such as "code" is a field's name only at the start of a reason.
    const named = foreign.filter((field) =>
      new RegExp(field.includes('_') ? `\\b${field}\\b` : `(?:^|; |\\()${field}\\b(?! product)`).test(text),
    );
    expect(named, `${what}: ${text}`).to.deep.equal([]);
  }
}

describe('errors name the fields of their surface', () => {
  const api = useApi();
  // No worker fulfils purchases here.
  useSettings({ RESELLER_SYNC_WAIT_MS: 0 });
  let buyer: ApiAccount;
  before(async () => {
    buyer = await api.newBuyer(1_000_000);
    await api.call({ path: '/api/buyer/api/config', key: buyer.key, body: { rate_limit: 1_000 } });
  });

  const order = (code: string, customer: string) => ({ code, customer, ref_id: uniqueRef() });
  const callReseller = (path: string, query: Record<string, string>, covers: string) => {
    const sign = hmacSign({ username: buyer.account.username, key: buyer.key }, covers);
    const search = new URLSearchParams({ username: buyer.account.username, sign, ...query });
    return api.call({ path: `${path}?${search.toString()}` });
  };

  for (const rule of rules) {
    for (const language of ['en', 'id']) {
      it(`a number that does not fit the rule ${rule.kind}, in ${language}`, async () => {
        const { _id } = await newProduct(api, { customerNumber: rule });
        const headers = { 'accept-language': language };
        for (const number of badNumbers) {
          const wallet = await api.call({
            path: '/v1/transactions',
            key: buyer.key,
            headers,
            body: { product_code: _id, destination: number, ref_id: uniqueRef() },
          });
          expectOwnFields(wallet, ['product_code', 'destination', 'ref_id'], number);
          if (wallet.status === 422) {
            expect(wallet.body.errors[0].field).to.equal(callerFields.wallet.customerNumber);
            expect(wallet.body.message).to.include('destination');
          }
          const { code, customer, ref_id } = order(_id, number);
          const reseller = await callReseller(
            '/api/reseller/request',
            { code, customer, ref_id },
            `${code}|${customer}|${ref_id}`,
          );
          expectOwnFields(reseller, ['code', 'customer', 'ref_id'], number);
          if (reseller.body.status === '04') {
            expect(reseller.body.message).to.include('customer ').and.not.include('customer_number');
          }
          const own = await api.call({
            path: '/api/buyer/transaction',
            key: buyer.key,
            headers,
            body: { code: _id, customer_number: number, ref_id: uniqueRef() },
          });
          expectOwnFields(own, ['code', 'customer_number', 'ref_id'], number);
        }
      });
    }
  }

  it('a postpaid product', async () => {
    const { _id } = await newProduct(api, { category: 'pascabayar', customerNumber: { kind: 'bill' } });
    const body = { product_code: _id, destination: '123456789012', ref_id: uniqueRef() };
    const wallet = await api.call({ path: '/v1/transactions', key: buyer.key, body });
    expect(wallet.body.errors[0].field).to.equal('product_code');
  });

  for (const operation of walletOperations) {
    it(`bad values in ${operation.method} ${operation.path}`, async () => {
      const good: Record<string, unknown> = {
        product_code: 'S10',
        destination: '081234561230',
        ref_id: uniqueRef(),
        id: 'x',
      };
      const declared = listFields(operation);
      for (const field of declared) {
        const isQuery = listKeys(operation.query).includes(field);
        for (const bad of isQuery ? badTexts : badValues) {
          const sent = { ...good, [field]: bad };
          const path = operation.path.replace(':id', encodeURIComponent(String(sent['id'])));
          const search =
            typeof bad === 'string' && isQuery ? `?${new URLSearchParams({ [field]: bad }).toString()}` : '';
          const answer = await api.call({
            method: operation.method === 'get' ? 'GET' : 'POST',
            path: path + search,
            key: buyer.key,
            ...(operation.body && { body: sent }),
          });
          expectOwnFields(answer, declared, `${field}=${JSON.stringify(bad)}`);
        }
      }
    });
  }

  for (const operation of resellerOperations) {
    it(`bad values in get ${operation.path}`, async () => {
      const declared = listKeys(operation.query);
      for (const field of declared) {
        for (const bad of badTexts) {
          const { code, customer, ref_id } = order('S10', '081234561230');
          const query: Record<string, string> = { code, customer, ref_id };
          const kept = Object.entries(query).filter(([name]) => declared.includes(name) && name !== field);
          const sent = Object.fromEntries(bad === undefined ? kept : [...kept, [field, bad]]) as Record<
            string,
            string
          >;
          const covers = operation.signed(sent).hmacCovers;
          const answer = await callReseller(operation.path, sent, covers);
          expect(answer.body.status, `${field}: ${JSON.stringify(answer.body)}`).not.to.equal('07');
          expectOwnFields(answer, [...declared, 'username', 'sign'], `${field}=${JSON.stringify(bad)}`);
        }
      }
    });
  }
});
