import { expect } from 'chai';
import { generateApiKey } from '../../../src/accounts/api-key.js';
import { uniqueAddress, useApi } from '../support/api.js';
import { expectFailure } from '../support/expect-answer.js';

const path = '/v1/wallet/balance';

describe('wrong keys from one address', () => {
  const api = useApi();
  const wrong = (from: string) => api.call({ path, key: generateApiKey('buyer', 'test'), from });
  async function exhaustLimit(from: string): Promise<void> {
    for (let n = 0; n < 20; n++) {
      expectFailure(await wrong(from), { status: 401, code: '07' });
    }
  }

  it('get 401/07 up to 20 a minute, then 429/06; a valid key always works', async () => {
    const from = uniqueAddress();
    const { key } = await api.newBuyer();
    await exhaustLimit(from);
    expectFailure(await wrong(from), { status: 429, code: '06' });
    expect((await api.call({ path, key, from })).status).to.equal(200);
    expectFailure(await wrong(uniqueAddress()), { status: 401, code: '07' });
  });

  it('are counted per IPv4 address, mapped or not, and per IPv6 /64 network', async () => {
    const v4 = uniqueAddress();
    await exhaustLimit(v4);
    expectFailure(await wrong(`::ffff:${v4}`), { status: 429, code: '06' });
    const network = `2001:db8:${process.pid.toString(16)}:${(Date.now() % 65_536).toString(16)}`;
    await exhaustLimit(`${network}::1`);
    expectFailure(await wrong(`${network}:ffff::2`), { status: 429, code: '06' });
  });

  it('do not include calls without a key or with a valid key of another role', async () => {
    const from = uniqueAddress();
    const seller = await api.newAccount('seller');
    for (let n = 0; n < 25; n++) {
      expectFailure(await api.call({ path, from }), { status: 401, code: '07' });
      expectFailure(await api.call({ path, from, key: seller.key }), { status: 403, code: '07' });
    }
  });
});
