/**
 * Pending deposits are limited per account. Otherwise one account could displace the paid deposits
 * of others.
 */
import { expect } from 'chai';
import { Long } from 'mongodb';
import { limits } from '../../../config/limits.js';
import { newId } from '../../../src/shared/ids.js';
import { apiClient, uniqueRef, type ApiClient } from '../../support/api-client.js';
import { startStack, type Stack } from '../../support/stack.js';
import { expectFailure } from '../support/expect-answer.js';

const dayMs = 86_400_000;

describe('pending deposits', () => {
  let stack: Stack;
  let [buyer, buyer2]: ApiClient[] = [];
  let accountId: string;

  before(async () => {
    stack = await startStack({ env: { DEPOSIT_MODE: 'confirm' } });
    const accounts = await stack.seed();
    [buyer, buyer2] = ['buyer', 'buyer2'].map((name) =>
      apiClient(stack.baseUrl, accounts[name]?.api_key ?? ''),
    );
    const found = await stack.db.collection('accounts').findOne({ username: 'buyer' });
    accountId = String(found?._id);
  });
  after(() => stack.stop());

  const deposits = () => stack.db.collection<{ _id: string; status: string; accountId: string }>('deposits');
  const ask = (client: ApiClient | undefined, ref_id: string = uniqueRef(), amount = 60_000) =>
    (client as ApiClient).post('/api/buyer/deposit', { amount, ref_id });
  const put = (count: number, createdAt: Date) =>
    deposits().insertMany(
      Array.from({ length: count }, () => ({
        _id: newId(),
        accountId,
        refId: uniqueRef(),
        status: 'pending',
        createdAt,
        completedAt: null,
        amount: Long.fromNumber(70_000),
        balanceBefore: Long.ZERO,
        balanceAfter: Long.ZERO,
      })),
    );

  it('are limited per account; repeats and other accounts are not affected', async () => {
    await put(limits.pendingDepositsMax, new Date(Date.now() - (limits.depositPaidWithinDays + 1) * dayMs));
    const refId = uniqueRef();
    const first = await ask(buyer, refId);
    expect(first.status, 'deposit while the pending ones are too old to be paid').to.equal(200);
    await put(limits.pendingDepositsMax - 1, new Date());
    const refused = uniqueRef();
    const answer = await ask(buyer, refused);
    expectFailure(answer, { status: 409, code: '01', reason: 'conflict' });
    expect(answer.body.message).to.include(`${limits.pendingDepositsMax} deposits`).and.to.include('Pay one');
    expect(await deposits().countDocuments({ refId: refused })).to.equal(0);
    const again = await ask(buyer, refId);
    expect([again.status, again.body.data]).to.deep.equal([200, first.body.data]);
    expectFailure(await ask(buyer, refId, 61_000), { status: 409, code: '01', reason: 'ref_id_conflict' });
    expect((await ask(buyer2)).status).to.equal(200);
    await deposits().updateOne({ refId }, { $set: { status: 'rejected' } });
    expect((await ask(buyer, refused)).status, 'deposit after a rejection').to.equal(200);
  });

  it('are counted by their own index', async () => {
    const plan = await deposits()
      .find({ accountId, status: 'pending', createdAt: { $gte: new Date() } })
      .explain();
    expect(JSON.stringify(plan)).to.include('"account_pending"').and.to.not.include('COLLSCAN');
  });
});
