import { expect } from 'chai';
import { getResellerBalance } from '../../../src/api/reseller/balance-and-prices.js';
import { useApi } from '../support/api.js';
import { expectFailure, expectReseller } from '../support/expect-answer.js';
import { hmacSign, md5Sign, pathOf } from '../support/reseller.js';

describe('GET /api/reseller/balance', () => {
  const api = useApi();

  it('returns balance and currency with status and message, for either sign', async () => {
    const { account, key } = await api.newBuyer(80_000);
    const signing = { username: account.username, key };
    for (const sign of [md5Sign(signing, 'depo'), hmacSign(signing, 'depo')]) {
      const answer = await api.call({
        path: pathOf('balance', { username: account.username, sign, x: '1' }),
      });
      expectReseller(answer, getResellerBalance, { status: '00', balance: 80_000, currency: 'IDR' });
      expect(answer.body).to.deep.equal({
        status: '00',
        message: 'Success',
        balance: 80_000,
        currency: 'IDR',
      });
    }
  });

  it('unknown reseller paths return 404/02', async () => {
    for (const path of ['/api/reseller/', '/api/reseller/balances', '/api/reseller/Balance']) {
      expectFailure(await api.call({ path }), { status: 404, code: '02' });
    }
  });
});
