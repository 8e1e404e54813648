/** Filters of the console with an end before the start. */
import { expect } from 'chai';
import type Joi from 'joi';
import { consoleOperations } from '../../src/console/api/operations.js';
import { callerAs, reason, type Caller } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';

describe('filters with an end before the start', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let caller: Caller;

  before(async () => {
    shop = await startOperatedStack();
    caller = await callerAs(shop, 'admin');
  });
  after(() => shop.stack.stop());

  const [from, to] = ['2026-11-02', '2026-11-01'];
  const takesPeriod = (schema: Joi.Schema | undefined) => {
    const { keys = {} } = (schema?.describe() ?? {}) as { keys?: object };
    return 'from' in keys && 'to' in keys;
  };
  const inQuery = consoleOperations.filter(({ query }) => takesPeriod(query)).map(({ path }) => path);
  const inBody = consoleOperations.filter(({ body }) => takesPeriod(body)).map(({ path }) => path);
  const files = [
    '/purchases.csv',
    '/audit.csv',
    '/accounts/buyer/statement.csv',
    '/accounts/buyer/statement.pdf',
  ];

  it('are refused by every list, sum and file, naming the field', async () => {
    expect(inQuery).to.include.members([
      '/purchases',
      '/deliveries',
      '/audit',
      '/accounts/:username/statement',
    ]);
    expect(inBody).to.deep.equal(['/deliveries/replay-dead']);
    // The count of dead deliveries requires an account for filters.
    const narrowed = (path: string) => (path === '/deliveries/dead-count' ? 'account=buyer&' : '');
    const lists = inQuery.map((path) => `/api${path.replace(':username', 'buyer')}?${narrowed(path)}`);
    const refused = async (path: string) => {
      const answer = await caller.client.get(`/admin${path}from=${from}&to=${to}`, { accept: '*/*' });
      expect(answer.status, `${path} ${answer.text}`).to.equal(400);
      return answer.text;
    };
    for (const path of lists) {
      expect(JSON.parse(await refused(path)).errors, path).to.deep.equal([
        { field: 'to', message: 'to must not be before from', reason: 'out_of_range' },
      ]);
    }
    for (const path of files) {
      expect(await refused(`${path}?`), path).to.include('to must not be before from');
    }
    for (const path of inBody) {
      const answer = await caller.call(path, { account: 'buyer', from, to, reason });
      expect(answer.status, `${path} ${answer.text}`).to.equal(400);
      expect(JSON.parse(answer.text).errors[0].field, path).to.equal('to');
    }
    const oneDay = await caller.call(`/purchases?from=${to}&to=${to}`);
    expect(oneDay.status, oneDay.text).to.equal(200);
  });
});
