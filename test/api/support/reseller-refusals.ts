import { expect } from 'chai';
import { ApiKeyModel } from '../../../src/accounts/api-key.model.js';
import type { AnyResellerOperation } from '../../../src/api/reseller/reseller-operation.js';
import { PurchaseModel } from '../../../src/purchases/purchase.model.js';
import { uniqueAddress, type ApiAccount, type TestApi } from './api.js';
import { expectFailure, expectReseller } from './expect-answer.js';
import { hmacSign, md5Sign, pathOf, type Signing } from './reseller.js';

/**
 * Tests the refusals that all reseller calls share. The HTTP status is 200, and `status` has the
 * code (decision 025).
 */
export function itRefusesUnsigned(
  api: TestApi,
  of: {
    operation: AnyResellerOperation;
    name: 'request' | 'price-list' | 'balance';
    /** The query parameters except `username` and `sign`. */
    query: Record<string, string>;
    md5Covers: string;
    hmacCovers: string;
  },
): void {
  const { operation, name, query, md5Covers, hmacCovers } = of;
  const signed = (signing: Signing, over: Record<string, string> = {}) =>
    pathOf(name, { username: signing.username, sign: hmacSign(signing, hmacCovers), ...query, ...over });
  const signingOf = ({ account, key }: ApiAccount): Signing => ({ username: account.username, key });
  const refusedWith = async (path: string, status: string, message?: RegExp, from?: string) => {
    const answer = await api.call({ path, ...(from !== undefined && { from }) });
    expectReseller(answer, operation, { status });
    expect(answer.body).to.not.have.property('transaction_status');
    if (message) {
      expect(answer.body.message).to.match(message);
    }
    return answer;
  };

  it('no username, no sign, an unknown username, a sign with another key: 07', async () => {
    const buyer = signingOf(await api.newBuyer());
    const other = signingOf(await api.newBuyer());
    await refusedWith(pathOf(name, query), '07');
    await refusedWith(signed(buyer, { username: '' }), '07');
    await refusedWith(signed(buyer, { sign: '' }), '07');
    await refusedWith(signed({ ...buyer, username: 'nobody-at-all' }), '07');
    await refusedWith(signed({ username: 'nobody-at-all', key: '' }), '07');
    await refusedWith(signed({ ...buyer, key: other.key }), '07');
    await refusedWith(signed({ ...buyer, username: other.username }), '07');
  });

  it('a sign that was changed, cut, padded or written in upper case: 07', async () => {
    const buyer = signingOf(await api.newBuyer());
    for (const sign of [hmacSign(buyer, hmacCovers), md5Sign(buyer, md5Covers)]) {
      const changed = (sign.startsWith('0') ? '1' : '0') + sign.slice(1);
      for (const bad of [changed, sign.slice(1), `${sign}0`, ` ${sign}`, sign.toUpperCase()]) {
        await refusedWith(signed(buyer, { sign: bad }), '07');
      }
    }
  });

  it('a sign for another call: 07', async () => {
    const buyer = signingOf(await api.newBuyer());
    for (const covers of ['depo', 'pricelist', 'other'].filter((each) => each !== md5Covers)) {
      await refusedWith(signed(buyer, { sign: md5Sign(buyer, covers) }), '07');
      await refusedWith(signed(buyer, { sign: hmacSign(buyer, covers) }), '07');
    }
  });

  it('md5 if the account requires the strong sign: 07; the strong sign passes', async () => {
    const buyer = signingOf(await api.newAccount('buyer', { requireStrongSign: true }));
    await refusedWith(signed(buyer, { sign: md5Sign(buyer, md5Covers) }), '07', /HMAC/);
    expect((await api.call({ path: signed(buyer) })).body.status).to.not.equal('07');
  });

  it('a suspended account, a seller or an address not on the allowlist: 07', async () => {
    const suspended = signingOf(await api.newAccount('buyer', { status: 'suspended' }));
    await refusedWith(signed(suspended), '07', /suspended/);
    await refusedWith(signed(signingOf(await api.newAccount('seller'))), '07', /buyer/);
    const guarded = signingOf(await api.newAccount('buyer', { ipWhitelist: ['203.0.113.0/24'] }));
    const from = uniqueAddress();
    const answer = await refusedWith(signed(guarded), '07', /allowlist/, from);
    expect(answer.body.message).to.include(from);
  });

  it('over the rate limit: 06 with Retry-After', async () => {
    const buyer = signingOf(await api.newAccount('buyer', { rateLimit: 1 }));
    await api.call({ path: signed(buyer) });
    const answer = await refusedWith(signed(buyer), '06');
    expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    expect(answer.headers['ratelimit-remaining']).to.equal('0');
  });

  it('more than 20 wrong signs per minute and address: 06; correct signs pass', async () => {
    const buyer = signingOf(await api.newBuyer());
    const from = uniqueAddress();
    for (let n = 0; n < 20; n++) {
      await refusedWith(signed(buyer, { sign: 'wrong' }), '07', undefined, from);
    }
    await refusedWith(signed(buyer, { sign: 'wrong' }), '06', /address/, from);
    expect((await api.call({ path: signed(buyer), from })).body.status).to.not.be.oneOf(['06', '07']);
  });

  it('a repeated parameter: 01', async () => {
    const buyer = signingOf(await api.newBuyer());
    for (const twice of ['username', 'sign', ...Object.keys(query)]) {
      await refusedWith(`${signed(buyer)}&${twice}=x`, '01', new RegExp(`${twice} must be given once`));
    }
  });

  it('HEAD and every other method: 405 with Allow, and nothing happens', async () => {
    const buyer = await api.newBuyer(100_000);
    const path = signed(signingOf(buyer));
    for (const method of ['HEAD', 'POST', 'PUT', 'DELETE'] as const) {
      const answer = await api.call({ path, method });
      expect(answer.status, method).to.equal(405);
      expect(answer.headers['allow']).to.equal('GET');
      if (method !== 'HEAD') {
        expectFailure(answer, { status: 405, code: '01' });
      }
    }
    expect(await PurchaseModel.countDocuments({ accountId: buyer.account._id })).to.equal(0);
  });

  it('ignores the body of a GET, whatever its type', async () => {
    const buyer = signingOf(await api.newBuyer());
    const answer = await api.call({
      path: signed(buyer, { sign: 'wrong' }),
      method: 'GET',
      raw: 'a=1',
      headers: { 'content-type': 'text/plain' },
    });
    expectReseller(answer, operation, { status: '07' });
  });

  it('both keys sign during an overlap, and only the new one after it', async () => {
    const buyer = await api.newBuyer();
    const rotate = (key: string, overlap: number) =>
      api.call({ path: '/api/buyer/api/keys/rotate', key, body: { overlap_minutes: overlap } });
    const old = signingOf(buyer);
    const next = { ...old, key: String((await rotate(buyer.key, 60)).body.data.api_key) };
    for (const signing of [old, next]) {
      expect((await api.call({ path: signed(signing) })).body.status).to.not.equal('07');
    }
    const last = { ...old, key: String((await rotate(next.key, 0)).body.data.api_key) };
    await refusedWith(signed(old), '07');
    await refusedWith(signed(next), '07');
    expect((await api.call({ path: signed(last) })).body.status).to.not.equal('07');
    expect(await ApiKeyModel.countDocuments({ accountId: buyer.account._id, validUntil: null })).to.equal(1);
  });
}
