import { expect } from 'chai';
import { getBuyerBalance } from '../../../src/api/buyer/deposits.js';
import { useApi } from '../support/api.js';
import { expectSuccess } from '../support/expect-answer.js';

const path = '/api/buyer/balance';

describe('POST /api/buyer/balance', () => {
  const api = useApi();

  it('returns the balance in IDR, with and without a body', async () => {
    const { key } = await api.newBuyer(75_000);
    for (const raw of [undefined, '{}', '{"ignored":1}']) {
      const answer = await api.call({ path, key, method: 'POST', ...(raw !== undefined && { raw }) });
      expectSuccess(answer, getBuyerBalance);
      expect(answer.body.data).to.deep.equal({ balance: 75_000, currency: 'IDR' });
    }
  });
});
