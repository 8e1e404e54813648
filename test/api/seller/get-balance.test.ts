import { expect } from 'chai';
import { getSellerBalance } from '../../../src/api/seller/settlements.js';
import { WalletModel } from '../../../src/money/wallets/wallet.model.js';
import { useApi } from '../support/api.js';
import { expectSuccess } from '../support/expect-answer.js';

const path = '/api/seller/balance';

describe('GET /api/seller/balance', () => {
  const api = useApi();

  it('a new seller has 0, and held settlements are separate from the balance', async () => {
    const { key, account } = await api.newAccount('seller');
    const first = await api.call({ path, key });
    expectSuccess(first, getSellerBalance);
    expect(first.body.data).to.deep.equal({ balance: 0, pending_settlement: 0, currency: 'IDR' });
    await WalletModel.updateOne({ _id: account._id }, { $set: { balance: 70_000, held: 50_000 } });
    const second = await api.call({ path, key });
    expect(second.body.data).to.deep.equal({ balance: 70_000, pending_settlement: 50_000, currency: 'IDR' });
  });

  it('returns a negative balance', async () => {
    const { key, account } = await api.newAccount('seller');
    await WalletModel.updateOne({ _id: account._id }, { $set: { balance: -9_800 } });
    const answer = await api.call({ path, key });
    expectSuccess(answer, getSellerBalance);
    expect(answer.body.data.balance).to.equal(-9_800);
  });
});
