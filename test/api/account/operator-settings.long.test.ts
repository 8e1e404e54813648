/** An operator changes account settings in another process. They apply to the next call. */
import { expect } from 'chai';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { getMd5SignCounts } from '../../../src/accounts/md5-signs.js';
import { AuditModel } from '../../../src/audit/audit.model.js';
import { uniqueRef } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { subscribeToChanges } from '../../../src/redis/subscribe-changes.js';
import { topup } from '../../support/topup.js';
import { useApi, type ApiAccount } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { expectFailure } from '../support/expect-answer.js';
import { hmacSign, md5Sign, pathOf } from '../support/reseller.js';

describe('topup account set', () => {
  const api = useApi();
  before(subscribeToChanges);
  const run = (...args: string[]) => topup(['account', ...args, '--json'], process.env);
  const set = ({ account }: ApiAccount, ...args: string[]) =>
    run('set', account.username, ...args, '--reason', 'a test');
  const balance = ({ account, key }: ApiAccount, kind: 'md5' | 'hmac') => {
    const signing = { username: account.username, key };
    const sign = kind === 'md5' ? md5Sign(signing, 'depo') : hmacSign(signing, 'depo');
    return api.call({ path: pathOf('balance', { username: account.username, sign }) });
  };
  const statusOf = async (by: ApiAccount, kind: 'md5' | 'hmac') =>
    String((await balance(by, kind)).body.status);

  it('--require-strong-sign refuses md5 from the next call on and accepts it when off', async () => {
    const buyer = await api.newBuyer();
    expect([await statusOf(buyer, 'md5'), await statusOf(buyer, 'hmac')]).to.deep.equal(['00', '00']);
    expect((await set(buyer, '--require-strong-sign', 'on')).json()['changed']).to.deep.equal([
      'requireStrongSign',
    ]);
    expect([await statusOf(buyer, 'md5'), await statusOf(buyer, 'hmac')]).to.deep.equal(['07', '00']);
    expect((await set(buyer, '--require-strong-sign', 'on')).json()['changed']).to.deep.equal([]);
    await set(buyer, '--require-strong-sign', 'off');
    expect(await statusOf(buyer, 'md5')).to.equal('00');
    const entries = await AuditModel.find({ 'subject.id': buyer.account._id, action: 'account.set' }).lean();
    expect(entries.map(({ before, after, reason }) => ({ before, after, reason }))).to.deep.equal([
      { before: { requireStrongSign: false }, after: { requireStrongSign: true }, reason: 'a test' },
      { before: { requireStrongSign: true }, after: { requireStrongSign: false }, reason: 'a test' },
    ]);
  });

  it('list, show and doctor report the accepted MD5 signatures per account', async () => {
    const [weak, strong] = [await api.newBuyer(), await api.newBuyer()];
    await Promise.all(Array.from({ length: 5 }, () => balance(weak, 'md5')));
    await balance(strong, 'hmac');
    await balance({ ...strong, key: 'wrong' }, 'md5');
    const ids = [weak.account._id, strong.account._id];
    await eventually('the signs are counted', async () => (await getMd5SignCounts(ids))?.[0] === 5);
    expect(await getMd5SignCounts(ids)).to.deep.equal([5, 0]);
    const shown = await run('show', weak.account.username);
    expect(shown.json()['md5_signs_30_days']).to.equal(5);
    expect((await topup(['account', 'show', weak.account.username], process.env)).stdout).to.match(
      /signs by md5 +5 in 30 days/,
    );
    const listed = await run('list', '--after', weak.account.username.slice(0, -1), '--limit', '1000');
    const row = listed.json<Record<string, unknown>[]>().find(({ id }) => id === weak.account._id);
    expect(row?.['md5_signs_30_days']).to.equal(5);
    const { checks } = (await topup(['doctor', '--json'], process.env)).json<{
      checks: { name: string; detail: string }[];
    }>();
    expect(checks.find(({ name }) => name === 'md5 signs')?.detail).to.match(/accounts in 30 days.*\d/);
  });

  it('--rate-limit-max caps the chosen limit at once and limits later choices', async () => {
    const buyer = await api.newBuyer();
    await set(buyer, '--rate-limit-max', '2');
    const config = await api.call({ path: '/api/buyer/api/config', key: buyer.key });
    expect(config.headers['ratelimit-limit']).to.equal('2');
    expect(config.body.data.rate_limit).to.equal(2);
    const more = await api.call({ path: '/api/buyer/api/config', key: buyer.key, body: { rate_limit: 3 } });
    expectFailure(more, { status: 400, code: '01', field: 'rate_limit', message: /operator/ });
    expectFailure(await api.call({ path: '/v1/wallet/balance', key: buyer.key }), {
      status: 429,
      code: '06',
    });
    await set(buyer, '--rate-limit-max', 'default', '--rate-limit', '900');
    const again = await api.call({ path: '/v1/wallet/balance', key: buyer.key });
    expect(again.headers['ratelimit-limit']).to.equal('900');
  });

  it('--product-limit refuses a new product or offer above it but not a change', async () => {
    const seller = await api.newAccount('seller');
    const { key } = seller;
    const product = () => ({
      code: uniqueRef('P').slice(0, 50),
      name: 'Voucher',
      category: 'prabayar',
      subcategory: 'voucher',
      price: 1_000,
    });
    const create = () => api.call({ path: '/api/seller/products', key, body: product() });
    const first = await create();
    expect(first.status).to.equal(201);
    await set(seller, '--product-limit', '1');
    expectFailure(await create(), { status: 409, code: '01', message: /its limit is 1\. Ask the operator/ });
    const offer = (code: string) =>
      api.call({ path: `/api/seller/products/${code}/offers`, key, body: { price: 900 } });
    expectFailure(await offer((await newProduct(api))._id), { status: 409, code: '01' });
    expect((await offer(String(first.body.data.code))).status).to.equal(200);
    await set(seller, '--product-limit', 'default');
    expect((await create()).status).to.equal(201);
  });

  it('stores --commission-rate and --require-ack, and refuses invalid values', async () => {
    const [buyer, seller] = [await api.newBuyer(), await api.newAccount('seller')];
    await set(seller, '--commission-rate', '0.015', '--require-ack', 'on');
    const stored = await AccountModel.findById(seller.account._id).lean();
    expect(stored).to.include({ commissionRate: 0.015, requireAck: true });
    await set(seller, '--commission-rate', 'default');
    expect(await AccountModel.findById(seller.account._id).lean()).to.include({ commissionRate: null });
    for (const wrong of [
      ['--commission-rate', '1.5'],
      ['--commission-rate', '-1'],
      ['--commission-rate', '1e-3'],
      ['--rate-limit', '0'],
      ['--rate-limit', '1001'],
      ['--require-ack', 'yes'],
      ['--product-limit', '0'],
      [],
    ]) {
      expect((await set(seller, ...wrong)).code, wrong.join(' ')).to.equal(2);
    }
    const refused = await set(buyer, '--commission-rate', '0.5');
    expect([refused.code, refused.stdout]).to.satisfy(
      ([code, said]: [number, string]) => code === 1 && said.includes('is a setting of sellers'),
    );
    expect((await run('set', 'nobody-here', '--rate-limit', '5', '--reason', 'x')).code).to.equal(1);
  });
});
