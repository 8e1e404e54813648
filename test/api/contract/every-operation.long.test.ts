import { expect } from 'chai';
import { limits } from '../../../config/limits.js';
import type { AnyOperation } from '../../../src/api/contract/operation.js';
import { operations } from '../../../src/api/operations.js';
import { OfferModel } from '../../../src/products/offer.model.js';
import { ProductModel } from '../../../src/products/product.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import type { Answer } from '../../support/api-client.js';
import { useApi, type ApiCall } from '../support/api.js';
import { expectFailure } from '../support/expect-answer.js';
import { itRefusesUnauthorizedCalls } from '../support/refusals.js';
import { fieldsOf, sampleOf, withField, type Field } from './support/probes.js';
import { useSettings } from '../../support/use-settings.js';

type Values = Record<string, unknown>;
interface Parts {
  path: Values;
  query: Values;
  body: Values;
}

describe('contract of every operation', () => {
  const sellers: string[] = [];
  // No worker runs here, so the web process must not wait for reports.
  useSettings({ REPORT_SYNC_WAIT_MS: 1 });
  after(async () => {
    // A product code is unique across all accounts. Remove the products, so that the next call can
    // use the code.
    await writeAndInvalidate([ProductModel], null, (rows) => rows.deleteMany({ sellerId: { $in: sellers } }));
    await writeAndInvalidate([OfferModel], null, (rows) => rows.deleteMany({ sellerId: { $in: sellers } }));
  });
  // Registered after the hook above, which needs this database connection.
  const api = useApi();

  for (const operation of operations) {
    describe(`${operation.method.toUpperCase()} ${operation.path} (${operation.id})`, () => {
      const good: Parts = {
        path: sampleOf(operation.params),
        query: sampleOf(operation.query),
        body: sampleOf(operation.body),
      };
      itRefusesUnauthorizedCalls(api, operation, () => ({ path: pathOf(operation, good), body: good.body }));

      /**
       * Makes the call as a new account with the maximum rate limit. It comes from an address on
       * the sample allowlist.
       */
      async function call(parts: Parts, more: Partial<ApiCall> = {}): Promise<Answer> {
        const { key, account } = await api.newAccount(operation.role, { rateLimit: limits.rateLimitMax });
        sellers.push(account._id);
        return api.call({ ...callOf(operation, parts), key, from: '203.0.113.7', ...more });
      }

      const places = [
        ['path', operation.params],
        ['query', operation.query],
        ['body', operation.body],
      ] as const;
      for (const [where, schema] of places) {
        for (const field of fieldsOf(schema, where)) {
          itChecks(where, field);
        }
      }

      function itChecks(where: keyof Parts, { name, inside, outside }: Field): void {
        const withValue = (value: unknown): Parts => ({
          ...good,
          [where]: withField(good[where], name, value),
        });

        it(`${where} ${name}: refuses ${outside.length} values with 400/01 and names it`, async () => {
          const { key } = await api.newAccount(operation.role, { rateLimit: limits.rateLimitMax });
          for (const value of outside) {
            const answer = await api.call({ ...callOf(operation, withValue(value)), key });
            expect(
              refusedFields(answer),
              `${name} = ${formatValue(value)}: ${JSON.stringify(answer.body)}`,
            ).to.include(name);
            expectFailure(answer, { status: 400, code: '01' });
          }
        });

        it(`${where} ${name}: accepts ${inside.length} values, its bounds included`, async () => {
          for (const value of inside) {
            const answer = await call(withValue(value));
            expect(
              refusedFields(answer),
              `${name} = ${formatValue(value)}: ${JSON.stringify(answer.body)}`,
            ).to.deep.equal([]);
          }
        });

        if (where === 'query') {
          it(`query ${name}: refuses a repeated parameter with 400/01 and names it`, async () => {
            const path = `${pathOf(operation, withValue(inside[0]))}&${name}=${String(inside[0])}`;
            const answer = await call(good, { path });
            expectFailure(answer, { status: 400, code: '01', field: name });
          });
        }
      }

      it('ignores unknown fields and query parameters', async () => {
        const answer = await call(
          { ...good, body: { ...good.body, no_such_field: { $gt: '' } } },
          { path: withQuery(pathOf(operation, good), 'no_such_parameter=1') },
        );
        expect(answer.status, JSON.stringify(answer.body)).to.not.be.oneOf([400, 500]);
      });
    });
  }
});

function callOf(operation: AnyOperation, parts: Parts): ApiCall {
  return {
    method: operation.method.toUpperCase() as 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: pathOf(operation, parts),
    ...(operation.method !== 'get' && { body: parts.body }),
  };
}

function pathOf({ path }: AnyOperation, parts: Parts): string {
  const filled = path.replace(/:(\w+)/g, (_match, name: string) =>
    encodeURIComponent(String(parts.path[name])),
  );
  const query = Object.entries(parts.query).map(([name, value]) => [name, String(value)] as [string, string]);
  return query.length === 0 ? filled : withQuery(filled, new URLSearchParams(query).toString());
}

function withQuery(path: string, query: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

/**
 * Returns the fields that the response reports as invalid. For a list element it returns the list.
 */
function refusedFields({ status, body }: Answer): string[] {
  const errors = status === 400 ? ((body.errors ?? []) as { field: string }[]) : [];
  return errors.map(({ field }) => field.replace(/(\.\d+)+$/, ''));
}

function formatValue(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80);
}
