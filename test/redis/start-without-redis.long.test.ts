/** A web process that starts on a host with a wrong clock while Redis is unreachable. */
import { expect } from 'chai';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import { startTcpGate, type TcpGate } from '../support/outage.js';
import { startStack, type Stack } from '../support/stack.js';
import { buildEnvWithClockAhead } from '../support/wrong-clock.js';

const twoHours = 7_200_000;

describe('a web process that starts without Redis, two hours ahead', function () {
  this.timeout(90_000);
  let stack: Stack;
  let gate: TcpGate;

  before(async () => {
    gate = await startTcpGate(process.env['REDIS_URL'] ?? '');
    stack = await startStack({ workers: ['all'], env: { REDIS_URL: gate.url } });
  });
  after(async () => {
    await stack.stop();
    await gate.stop();
  });

  it("uses MongoDB's clock, so that its purchases are not delayed", async () => {
    const key = (await stack.seed())['buyer']?.api_key ?? '';
    await deposit(apiClient(stack.baseUrl, key), 100_000);
    await gate.cut();
    const web = await stack.startWeb({ NODE_OPTIONS: buildEnvWithClockAhead(twoHours)['NODE_OPTIONS'] });
    const order = { code: 'S10', customer_number: '081234561230', ref_id: uniqueRef() };
    const { body } = await apiClient(web.url, key).post('/api/buyer/transaction', order);
    await gate.restore();
    const purchases = stack.db.collection<{ _id: string; status: string; createdAt: Date }>('transactions');
    const sold = await eventually(
      'the purchase is sold',
      async () => {
        const found = await purchases.findOne({ _id: body.data.transaction_id as string });
        return found?.status === 'SUCCESS' && found;
      },
      45_000,
    );
    expect(sold.createdAt.getTime()).to.be.within(Date.now() - 60_000, Date.now());
  });
});
