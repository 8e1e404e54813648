import { expect } from 'chai';
import { sealAccessToken } from '../../../src/accounts/access-token.js';
import { ApiKeyModel } from '../../../src/accounts/api-key.model.js';
import { login } from '../../../src/api/wallet/login.js';
import { useApi } from '../support/api.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';

const path = '/v1/auth/login';

describe('POST /v1/auth/login', () => {
  const api = useApi();

  it('gives a token for an hour that works on every surface of the buyer', async () => {
    const { key, account } = await api.newBuyer(50_000);
    const answer = await api.call({ path, key, method: 'POST' });
    expectSuccess(answer, login);
    expect(answer.body.data).to.deep.include({
      token_type: 'Bearer',
      expires_in: 3600,
      account: { username: account.username, role: 'buyer', is_active: true, rate_limit: 300 },
    });
    const token = answer.body.data.access_token as string;
    const balance = await api.call({ path: '/v1/wallet/balance', key: token });
    expect(balance.body.data).to.deep.equal({ balance: 50_000, currency: 'IDR' });
    const same = await api.call({ path: '/api/buyer/balance', key: token, method: 'POST' });
    expect(same.body.data.balance).to.equal(50_000);
    const seller = await api.call({ path: '/api/seller/api/config', key: token });
    expectFailure(seller, { status: 403, code: '07' });
  });

  it('refuses a changed token with 401/07', async () => {
    const { key } = await api.newBuyer();
    const token = (await api.call({ path, key, method: 'POST' })).body.data.access_token as string;
    for (const at of [5, 30, 60]) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      expectFailure(await api.call({ path: '/v1/wallet/balance', key: changed }), {
        status: 401,
        code: '07',
      });
    }
  });

  it('refuses an expired token with 401/07', async () => {
    const { key, account } = await api.newBuyer();
    expect((await api.call({ path, key, method: 'POST' })).status).to.equal(200);
    const keyId = String((await ApiKeyModel.findOne({ accountId: account._id }).lean())?._id);
    const alive = sealAccessToken({ keyId, validUntil: new Date(Date.now() + 60_000) });
    const over = sealAccessToken({ keyId, validUntil: new Date(Date.now() - 1) });
    expect((await api.call({ path: '/v1/wallet/balance', key: alive })).status).to.equal(200);
    expectFailure(await api.call({ path: '/v1/wallet/balance', key: over }), { status: 401, code: '07' });
  });

  it('a login with a token returns a token that expires no later than the first', async () => {
    const { account } = await api.newBuyer();
    const keyId = String((await ApiKeyModel.findOne({ accountId: account._id }).lean())?._id);
    const short = sealAccessToken({ keyId, validUntil: new Date(Date.now() + 60_000) });
    const { data } = (await api.call({ path, key: short, method: 'POST' })).body;
    expect(data.expires_in).to.be.within(1, 60);
  });

  it('a token becomes invalid together with its key', async () => {
    const { key } = await api.newBuyer();
    const token = (await api.call({ path, key, method: 'POST' })).body.data.access_token as string;
    await api.call({ path: '/api/buyer/api/keys/rotate', key, body: { overlap_minutes: 0 } });
    expectFailure(await api.call({ path: '/v1/wallet/balance', key: token }), { status: 401, code: '07' });
  });
});
