import { expect } from 'chai';
import { limits } from '../../../config/limits.js';
import { lookupBuyerTransactions } from '../../../src/api/buyer/transactions.js';
import { PurchaseModel } from '../../../src/purchases/purchase.model.js';
import { uniqueRef } from '../../support/api-client.js';
import { someTransaction } from '../../webhooks/support/accounts.js';
import { useApi } from '../support/api.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';

const path = '/api/buyer/transactions/lookup';

describe(`POST ${path}`, () => {
  const api = useApi();

  async function buyerWith(count: number) {
    const { key, account } = await api.newBuyer();
    const stored = Array.from({ length: count }, () => someTransaction({ accountId: account._id }));
    await PurchaseModel.create(stored);
    return { key, refs: stored.map(({ refId }) => refId), stored };
  }

  it('returns each transaction once, in the requested order, and lists unknown ref_ids', async () => {
    const { key, refs } = await buyerWith(3);
    const [first = '', second = '', third = ''] = refs;
    const unknown = uniqueRef();
    const answer = await api.call({ path, key, body: { ref_ids: [third, unknown, first, third, second] } });
    expectSuccess(answer, lookupBuyerTransactions);
    const found = answer.body.data.transactions as { ref_id: string }[];
    expect(found.map(({ ref_id: ref }) => ref)).to.deep.equal([third, first, second]);
    expect(answer.body.data.not_found).to.deep.equal([unknown]);
    const one = await api.call({ path: `/api/buyer/transactions/${first}`, key });
    expect(found[1]).to.deep.equal(one.body.data);
  });

  it("does not find another account's ref_ids or internal ids", async () => {
    const [owner, stranger] = [await buyerWith(2), await buyerWith(1)];
    const asked = [...owner.refs, ...owner.stored.map(({ _id }) => _id), ...stranger.refs];
    const { body } = await api.call({ path, key: stranger.key, body: { ref_ids: asked } });
    expect((body.data.transactions as { ref_id: string }[]).map(({ ref_id: ref }) => ref)).to.deep.equal(
      stranger.refs,
    );
    expect(body.data.not_found).to.deep.equal(asked.slice(0, -1));
  });

  it('accepts the maximum of ref_ids; refuses none, more or malformed with 400/01', async () => {
    const { key } = await api.newBuyer();
    const many = Array.from({ length: limits.lookupMax + 1 }, () => uniqueRef());
    const most = await api.call({ path, key, body: { ref_ids: many.slice(1) } });
    expect(most.body.data.not_found).to.have.length(limits.lookupMax);
    for (const wrong of [[], many, ['a b'], [{ $gt: '' }], 'one', undefined]) {
      expectFailure(await api.call({ path, key, body: { ref_ids: wrong } }), { status: 400, code: '01' });
    }
  });
});
