/** POST /api/sandbox/transactions/<ref>/end has the same effects as a result from a provider. */
import { expect } from 'chai';
import { apiClient, uniqueRef, type ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { startStack, type Stack } from '../../support/stack.js';
import { topup } from '../../support/topup.js';

const code = 'S10';
const heldNumber = '081234561238';

describe('ending a sandbox transaction', () => {
  let stack: Stack;
  let buyer: ApiClient;

  before(async () => {
    stack = await startStack({ workers: ['all'] });
    const accounts = await stack.seed();
    buyer = apiClient(stack.baseUrl, accounts['buyer']?.api_key ?? '');
    await buyer.post('/api/buyer/deposit', { amount: 10_000_000, ref_id: uniqueRef() });
  });
  after(() => stack.stop());

  const balance = async () => (await buyer.post('/api/buyer/balance')).body.data.balance as number;
  const transaction = async (refId: string) =>
    (await buyer.get(`/api/buyer/transactions/${refId}`)).body.data;
  const end = (refId: string, result: string) =>
    buyer.post(`/api/sandbox/transactions/${refId}/end`, { result });

  /**
   * Makes a purchase and waits until the simulator has received the order.
   * @returns the ref_id.
   */
  async function startPurchase(number = heldNumber): Promise<string> {
    const refId = uniqueRef();
    const body = { code, customer_number: number, ref_id: refId };
    expect((await buyer.post('/api/buyer/transaction', body)).status).to.equal(200);
    await eventually(`the simulator has ${refId}`, async () => {
      const purchase = await stack.db.collection('transactions').findOne({ refId });
      const orders = stack.db.collection('attempts');
      return orders.findOne({ transactionId: String(purchase?._id), open: true, status: 'UNKNOWN' });
    });
    return refId;
  }

  const untilStatus = (refId: string, status: string) =>
    eventually(`${refId} is ${status}`, async () => {
      const found = await transaction(refId);
      return found.status === status ? found : null;
    });
  const webhooksOf = async (id: string) =>
    (await stack.db.collection('deliveries').find({ orderKey: id, channel: 'webhook' }).toArray()).map(
      ({ event }) => event as string,
    );
  const executions = async (id: string) =>
    (await stack.simulator.log()).filter((row) => row.ref_id.startsWith(id)).length;

  it('success ends …1238 with a serial number and one execution; repeats are equal', async () => {
    const before = await balance();
    const refId = await startPurchase();
    const { transaction_id: id } = await transaction(refId);
    expect(await executions(id)).to.equal(0);
    const ended = await end(refId, 'success');
    expect(ended.status).to.equal(200);
    const done = await untilStatus(refId, 'success');
    expect(done.sn).to.match(/^\d{18}$/);
    expect(await executions(id)).to.equal(1);
    expect(await webhooksOf(id)).to.include('transaction.success');
    const repeated = await end(refId, 'success');
    expect([repeated.body.code, repeated.body.data]).to.deep.equal(['00', done]);
    expect(await balance()).to.equal(before - (done.price as number));
    const other = await end(refId, 'failed');
    expect([other.status, other.body.reason]).to.deep.equal([409, 'end_not_possible']);
    expect(await transaction(refId)).to.deep.equal(done);
  });

  it('repeated calls while the transaction ends are never refused', async () => {
    const refIds = await Promise.all(Array.from({ length: 12 }, () => startPurchase()));
    const refused = await Promise.all(
      refIds.map(async (refId) => {
        for (;;) {
          const { status, body } = await end(refId, 'success');
          if (status !== 200 || body.code === '00') {
            return status === 200 ? null : body;
          }
        }
      }),
    );
    expect(refused).to.deep.equal(refIds.map(() => null));
  });

  it('failed refunds the price, without another seller and without execution', async () => {
    const before = await balance();
    const refId = await startPurchase();
    const { transaction_id: id } = await transaction(refId);
    expect(await balance()).to.be.lessThan(before);
    await end(refId, 'failed');
    const done = await untilStatus(refId, 'failed');
    expect(done.message).to.equal('Ended as failed in the sandbox');
    expect(await balance()).to.equal(before);
    expect(await stack.db.collection('attempts').countDocuments({ transactionId: id })).to.equal(1);
    expect(await executions(id)).to.equal(0);
    const again = await end(refId, 'failed');
    expect([again.status, again.body.code]).to.deep.equal([200, '00']);
    expect((await end(refId, 'reversed')).body.reason).to.equal('end_not_possible');
  });

  it('ends a hanging transaction (…1235) after its first response has timed out', async () => {
    const refId = uniqueRef();
    const body = { code, customer_number: '081234561235', ref_id: refId };
    await buyer.post('/api/buyer/transaction', body);
    await eventually('the simulator has it', async () => {
      const { status, body: answer } = await end(refId, 'failed');
      return status === 200 ? answer : null;
    });
    await untilStatus(refId, 'failed');
  });

  it('"reversed" reverses a success once, as a provider\'s reversal does', async () => {
    const before = await balance();
    const refId = uniqueRef();
    const body = { code, customer_number: '081234561230', ref_id: refId };
    await buyer.post('/api/buyer/transaction', body);
    const sold = await untilStatus(refId, 'success');
    const [first, second] = await Promise.all([end(refId, 'reversed'), end(refId, 'reversed')]);
    expect([first.status, second.status]).to.deep.equal([200, 200]);
    await untilStatus(refId, 'failed');
    expect(await balance()).to.equal(before);
    const id = String(sold.transaction_id);
    expect(await webhooksOf(id)).to.include.members(['transaction.success', 'transaction.failed']);
    const journals = await stack.db.collection('journals').find({ subjectId: id }).toArray();
    expect(journals.map(({ kind }) => kind as string).sort()).to.deep.equal([
      'purchase',
      'reversal',
      'success',
    ]);
    // The simulator's record agrees with our database.
    expect(await executions(id)).to.equal(0);
    const repeated = await end(refId, 'reversed');
    expect([repeated.status, repeated.body.code]).to.deep.equal([200, '00']);
    expect(await balance()).to.equal(before);
  });

  it('the first of two different concurrent ends wins, and money moves once', async () => {
    for (let round = 0; round < 5; round++) {
      const before = await balance();
      const refId = await startPurchase();
      const { transaction_id: id } = await transaction(refId);
      const answers = await Promise.all([end(refId, 'success'), end(refId, 'failed'), end(refId, 'failed')]);
      expect(answers.map(({ status }) => status).filter((each) => each !== 200 && each !== 409)).to.be.empty;
      const done = await eventually('it is final', async () => {
        const found = await transaction(refId);
        return ['success', 'failed'].includes(found.status) ? found : null;
      });
      const isSold = done.status === 'success';
      expect(answers[0].status).to.equal(isSold ? 200 : 409);
      expect(answers[1].status).to.equal(isSold ? 409 : 200);
      expect(await balance()).to.equal(before - (isSold ? (done.price as number) : 0));
      expect(await executions(id)).to.equal(isSold ? 1 : 0);
    }
  });

  it("does not find or change another account's transaction, by ref_id or id", async () => {
    const refId = await startPurchase();
    const { transaction_id: id } = await transaction(refId);
    const made = await topup(
      ['account', 'create', uniqueRef('other'), '--role', 'buyer', '--json'],
      stack.env,
    );
    const stranger = apiClient(stack.baseUrl, made.json<{ api_key: string }>().api_key);
    for (const ref of [refId, String(id)]) {
      const answer = await stranger.post(`/api/sandbox/transactions/${ref}/end`, { result: 'success' });
      expect([answer.status, answer.body.reason]).to.deep.equal([404, 'not_found']);
    }
    expect((await transaction(refId)).status).to.equal('processing');
    await end(String(id), 'success');
    await untilStatus(refId, 'success');
  });
});
