import { expect } from 'chai';
import { createDeposit } from '../../../src/api/buyer/deposits.js';
import { WalletModel } from '../../../src/money/wallets/wallet.model.js';
import { uniqueRef } from '../../support/api-client.js';
import { useApi } from '../support/api.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';
import { itRefusesBodies, notText, notWhole } from '../support/refusals.js';

const path = '/api/buyer/deposit';

describe('POST /api/buyer/deposit', () => {
  const api = useApi();
  const good = () => ({ path, body: { amount: 50_000, ref_id: uniqueRef() } });
  itRefusesBodies(api, createDeposit, good, {
    amount: [...notWhole, undefined, 49_999, 0, -50_000, 1_000_000_000_001, 50_000.5, 2 ** 53],
    ref_id: [...notText, undefined, '', 'x'.repeat(65), 'a b', 'a\u0000'],
  });

  it('credits the wallet at once, from the smallest to the largest amount', async () => {
    const { key } = await api.newBuyer();
    const refId = uniqueRef();
    const first = await api.call({ path, key, body: { amount: 50_000, ref_id: refId } });
    expectSuccess(first, createDeposit);
    expect(first.body.data).to.include({
      ref_id: refId,
      amount: 50_000,
      balance_before: 0,
      balance_after: 50_000,
      status: 'completed',
    });
    const largest = await api.call({ path, key, body: { amount: 1_000_000_000_000, ref_id: uniqueRef() } });
    expect(largest.body.data.balance_after).to.equal(1_000_000_050_000);
  });

  it('returns the first result to a repeat; 20 concurrent calls credit once', async () => {
    const { key, account } = await api.newBuyer();
    const body = { amount: 60_000, ref_id: uniqueRef() };
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.call({ path, key, body })));
    for (const answer of answers) {
      expectSuccess(answer, createDeposit);
      expect(answer.body.data).to.deep.equal(answers[0]?.body.data);
    }
    expect((await WalletModel.findById(account._id).lean())?.balance).to.equal(60_000);
  });

  it('refuses the same ref_id with another amount with 409/01', async () => {
    const { key } = await api.newBuyer();
    const body = { amount: 60_000, ref_id: uniqueRef() };
    await api.call({ path, key, body });
    expectFailure(await api.call({ path, key, body: { ...body, amount: 60_001 } }), {
      status: 409,
      code: '01',
    });
  });

  it('deposits and purchases have separate ref_id namespaces', async () => {
    const { key } = await api.newBuyer();
    const body = { amount: 60_000, ref_id: uniqueRef() };
    await api.call({ path, key, body });
    const purchase = { code: 'NO-SUCH', customer_number: '081234561230', ref_id: body.ref_id };
    expectFailure(await api.call({ path: '/api/buyer/transaction', key, body: purchase }), {
      status: 404,
      code: '02',
    });
  });
});
