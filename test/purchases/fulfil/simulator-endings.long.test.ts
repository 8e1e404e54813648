import { expect } from 'chai';
import { apiClient, uniqueRef, type ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { startStack, type Stack } from '../../support/stack.js';

/**
 * Every number ending of the simulator leads to its documented final state, with at most one
 * execution.
 */
const endings: { number: string; final: 'SUCCESS' | 'FAILED'; executions: number }[] = [
  { number: '081234561230', final: 'SUCCESS', executions: 1 },
  { number: '081234561232', final: 'FAILED', executions: 0 },
  { number: '081234561233', final: 'SUCCESS', executions: 1 },
  { number: '081234561234', final: 'FAILED', executions: 0 },
  { number: '081234561235', final: 'SUCCESS', executions: 1 },
  { number: '081234561236', final: 'SUCCESS', executions: 1 },
  { number: '081234561237', final: 'SUCCESS', executions: 1 },
  { number: '081234567890', final: 'SUCCESS', executions: 1 },
];

describe('purchases through the simulator', function () {
  this.timeout(90_000);
  let stack: Stack;
  let buyer: ApiClient;

  before(async () => {
    stack = await startStack({ workers: ['all'] });
    const accounts = await stack.seed();
    buyer = apiClient(stack.baseUrl, accounts['buyer']?.api_key ?? '');
    await buyer.post('/api/buyer/deposit', { amount: 10_000_000, ref_id: uniqueRef() });
  });
  after(() => stack.stop());

  for (const { number, final, executions } of endings) {
    it(`…${number.slice(-4)} ends as ${final}, executed ${executions} times, with a webhook`, async () => {
      const refId = uniqueRef();
      const accepted = await buyer.post('/v1/transactions', {
        product_code: 'S10',
        destination: number,
        ref_id: refId,
      });
      expect(accepted.status).to.equal(201);
      const done = await eventually(
        `${number} is final`,
        async () => {
          const { body } = await buyer.get(`/v1/transactions/${refId}`);
          return ['SUCCESS', 'FAILED'].includes(body.data.status) ? body.data : null;
        },
        60_000,
      );
      expect(done.status, done.message).to.equal(final);
      expect(done.serial_number === null).to.equal(final === 'FAILED');
      const log = await stack.simulator.log();
      expect(log.filter((row) => row.ref_id.startsWith(done.id))).to.have.length(executions);
      const message = await stack.inbox.waitFor(
        (each) => each.raw.includes(done.id) && each.raw.includes(`transaction.${final.toLowerCase()}`),
      );
      expect(JSON.parse(message.raw).data).to.include({ ref_id: refId, status: final.toLowerCase() });
    });
  }
});
