import { expect } from 'chai';
import { resellerOperations } from '../../../src/api/operations.js';
import type { Answer } from '../../support/api-client.js';
import { useApi } from '../support/api.js';
import { expectReseller } from '../support/expect-answer.js';
import { itRefusesUnsigned } from '../support/reseller-refusals.js';
import { hmacSign, pathOf } from '../support/reseller.js';
import { fieldsOf, sampleOf, withField } from './support/probes.js';
import { useSettings } from '../../support/use-settings.js';

describe('contract of every reseller operation', () => {
  const api = useApi();
  useSettings({ RESELLER_SYNC_WAIT_MS: 1 });

  for (const operation of resellerOperations) {
    describe(`GET ${operation.path} (${operation.id})`, () => {
      const name = operation.path.split('/').at(-1) as Parameters<typeof pathOf>[0];
      const good = sampleOf(operation.query) as Record<string, string>;
      itRefusesUnsigned(api, { operation, name, query: good, ...operation.signed(good) });

      async function ask(query: Record<string, string>): Promise<Answer> {
        const { account, key } = await api.newBuyer();
        const signing = { username: account.username, key };
        const sign = hmacSign(signing, operation.signed(query).hmacCovers);
        return api.call({ path: pathOf(name, { username: account.username, sign, ...query }) });
      }

      for (const field of fieldsOf(operation.query, 'query')) {
        // A message begins with the name of its field.
        const names = new RegExp(`(^|; )${field.name} `);

        it(`${field.name}: refuses ${field.outside.length} values with 01 and names it`, async () => {
          for (const value of field.outside) {
            const answer = await ask(withField(good, field.name, value) as Record<string, string>);
            expectReseller(answer, operation, { status: '01' });
            expect(answer.body.message, JSON.stringify(value)).to.match(names);
          }
        });

        it(`${field.name}: accepts ${field.inside.length} values, its bounds included`, async () => {
          for (const value of field.inside) {
            const answer = await ask(withField(good, field.name, value) as Record<string, string>);
            expect(answer.body.message, JSON.stringify(value)).to.not.match(names);
          }
        });
      }

      it('ignores unknown parameters', async () => {
        expect((await ask({ ...good, no_such_parameter: '1' })).body.message).to.not.include('no_such');
      });
    });
  }
});
