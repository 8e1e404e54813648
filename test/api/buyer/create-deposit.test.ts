import { expect } from 'chai';
import { env } from '../../../config/env.js';
import { createDeposit } from '../../../src/api/buyer/deposits.js';
import { DepositModel } from '../../../src/deposits/deposit.model.js';
import { confirmDeposit } from '../../../src/deposits/decide-deposit.js';
import { WalletModel } from '../../../src/money/wallets/wallet.model.js';
import { uniqueRef } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
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

  it('takes an invoice number with slashes, which lists and deliveries find again', async () => {
    const webhookUrl = 'https://shop.example/hooks/deposits';
    const { key } = await api.newAccount('buyer', { webhookUrl });
    const ref_id = `INV/2026/11/${uniqueRef()}`;
    const created = await api.call({ path, key, body: { amount: 60_000, ref_id } });
    expectSuccess(created, createDeposit);
    expect(created.body.data.ref_id).to.equal(ref_id);
    const repeated = await api.call({ path, key, body: { amount: 60_000, ref_id } });
    expect(repeated.body.data).to.deep.equal(created.body.data);
    const filter = `ref_id=${encodeURIComponent(ref_id)}`;
    const deposits = await api.call({ path: `/api/buyer/deposits?${filter}`, key });
    expect(deposits.body.data.deposits).to.have.length(1);
    const second = `${ref_id}/2`;
    const { DEPOSIT_MODE: usual } = env;
    env.DEPOSIT_MODE = 'confirm';
    await api
      .call({ path, key, body: { amount: 60_000, ref_id: second } })
      .finally(() => (env.DEPOSIT_MODE = usual));
    const waiting = await DepositModel.findOne({ refId: second }).orFail();
    await confirmDeposit(waiting._id, { actor: 'operator:budi', from: null, reason: 'BCA' });
    const sent = `ref_id=${encodeURIComponent(second)}`;
    const deliveries = await api.call({ path: `/api/buyer/webhooks/deliveries?${sent}`, key });
    expect(deliveries.body.data.deliveries[0]).to.include({ event: 'deposit.completed', ref_id: second });
    const logged = await eventually('the request log has both calls', async () => {
      const { body } = await api.call({ path: `/api/buyer/requests?${filter}`, key });
      const posts = body.data.requests.filter(({ method }: { method: string }) => method === 'POST');
      return posts.length === 2 ? posts : null;
    });
    expect(logged[0]).to.include({ ref_id });
  });

  it('keeps the slash out of the ref_id of purchases, which is part of a path', async () => {
    const { key } = await api.newBuyer();
    const ref_id = 'INV/2026/1';
    const order = { code: 'NO-SUCH', customer_number: '081234561230', ref_id };
    const bought = await api.call({ path: '/api/buyer/transaction', key, body: order });
    expectFailure(bought, { status: 400, code: '01', field: 'ref_id' });
    const wallet = { product_code: 'NO-SUCH', destination: '081234561230', ref_id };
    const paid = await api.call({ path: '/v1/transactions', key, body: wallet });
    expectFailure(paid, { status: 400, code: '01', field: 'ref_id' });
    const shown = await api.call({ path: `/api/buyer/transactions/${encodeURIComponent(ref_id)}`, key });
    expectFailure(shown, { status: 404, code: '02' });
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
