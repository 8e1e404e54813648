import { expect } from 'chai';
import { getWalletBalance } from '../../../src/api/wallet/queries.js';
import { useApi } from '../support/api.js';
import { expectSuccess } from '../support/expect-answer.js';

const path = '/v1/wallet/balance';

describe('GET /v1/wallet/balance', () => {
  const api = useApi();

  it("returns the account's own balance in IDR", async () => {
    const [poor, rich] = [await api.newBuyer(), await api.newBuyer(123_456)];
    const answer = await api.call({ path, key: rich.key });
    expectSuccess(answer, getWalletBalance);
    expect(answer.body.data).to.deep.equal({ balance: 123_456, currency: 'IDR' });
    expect((await api.call({ path, key: poor.key })).body.data.balance).to.equal(0);
    expect(answer.headers['cache-control']).to.equal('no-store');
  });
});
