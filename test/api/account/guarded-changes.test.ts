/**
 * An intruder with a key changes guarded settings to keep access. The owner is notified, and
 * settlements need approval.
 */
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { requestAdjustment } from '../../../src/adjustments/request-adjustment.js';
import { AuditModel } from '../../../src/audit/audit.model.js';
import { SettlementModel } from '../../../src/settlements/settlement.model.js';
import { newId } from '../../../src/shared/ids.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { deliveries, type Delivery } from '../../../src/webhooks/deliver/delivery.model.js';
import { buildDeliveryHeaders, getDeliveryKeys } from '../../../src/webhooks/deliver/sign-delivery.js';
import { subscribeToChanges } from '../../../src/redis/subscribe-changes.js';
import { topup } from '../../support/topup.js';
import { useApi, type ApiAccount } from '../support/api.js';
import { expectFailure } from '../support/expect-answer.js';

const oldUrl = 'https://owner.example/hook?token=of-the-owner';
const here = '203.0.113.9';
const by = { actor: 'operator:test', from: null, reason: 'a test' };

describe('guarded account changes', () => {
  const api = useApi();
  before(subscribeToChanges);

  async function newSeller(): Promise<ApiAccount> {
    const seller = await api.newAccount('seller', { webhookUrl: oldUrl });
    await requestAdjustment({ account: seller.account, amount: 900_000 }, by);
    return seller;
  }
  const call = (key: string, path: string, body: object = {}) =>
    api.call({ path: `/api/seller${path}`, key, body, from: here });
  const notices = ({ account }: ApiAccount) =>
    deliveries.find({ accountId: account._id, event: 'config.updated' }).sort({ createdAt: 1 }).toArray();
  const changedBy = (row: Delivery | undefined) =>
    (JSON.parse(row?.body ?? '{}') as { data: { changed: string[] } }).data.changed;
  const settle = (key: string, account_number = '1234567890') =>
    call(key, '/settlement/request', {
      amount: 50_000,
      ref_id: newId(),
      bank_account: { bank_code: '014', account_number, account_name: 'PT Pulsa' },
    });
  /** Sets the time of the last guarded change to more than a day ago. */
  const dayLater = ({ account }: ApiAccount) =>
    writeAndInvalidate([AccountModel], [account._id], (rows) =>
      rows.updateOne({ _id: account._id }, { $set: { guardedSince: new Date(Date.now() - 86_400_001) } }),
    );
  /** Returns whether a worker would sign this delivery with the secret now. */
  async function isSignedWith(row: Delivery, secret: string): Promise<boolean> {
    const account = await AccountModel.findById(row.accountId).orFail().lean();
    const { 'x-signature': signatures = '' } = buildDeliveryHeaders(row, getDeliveryKeys(row, account));
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return signatures.includes(createHmac('sha256', key).update(row.body).digest('hex'));
  }

  const changes: Record<string, (key: string) => Promise<{ status: number }>> = {
    ip_whitelist: (key) => call(key, '/api/config', { ip_whitelist: [here] }),
    webhook_url: (key) => call(key, '/api/config', { webhook_url: 'https://intruder.example/hook' }),
    callback_url: (key) => call(key, '/api/config', { callback_url: 'https://intruder.example/back' }),
    webhook_endpoints: (key) => call(key, '/webhooks', { url: 'https://intruder.example/second' }),
    api_key: (key) => call(key, '/api/keys/rotate'),
    webhook_secret: (key) => call(key, '/api/webhook-secret/rotate'),
  };
  for (const [field, change] of Object.entries(changes)) {
    it(`${field}: notifies the old URL with the old secret and holds settlements for a day`, async () => {
      const seller = await newSeller();
      expect((await settle(seller.key)).body.data.needs_approval).to.equal(false);
      expect((await change(seller.key)).status).to.be.oneOf([200, 201]);
      const [notice, ...others] = await notices(seller);
      expect(others).to.deep.equal([]);
      expect(notice).to.include({ url: oldUrl, state: 'due' });
      expect(changedBy(notice)).to.deep.equal([field]);
      expect(await isSignedWith(notice as Delivery, seller.webhookSecret)).to.equal(true);
      const settled = await settle(seller.key);
      expect(settled.body.data).to.include({ needs_approval: true, status: 'pending' });
      await dayLater(seller);
      expect((await settle(seller.key)).body.data.needs_approval).to.equal(false);
    });
  }

  it('a change of the rate limit alone is not guarded', async () => {
    const seller = await newSeller();
    expect((await call(seller.key, '/api/config', { rate_limit: 500 })).status).to.equal(200);
    expect(await notices(seller)).to.deep.equal([]);
    expect((await settle(seller.key)).body.data.needs_approval).to.equal(false);
  });

  it('an intruder who rotates the secret and changes the URL cannot stop the notices', async () => {
    const seller = await newSeller();
    await changes['ip_whitelist']?.(seller.key);
    for (const then of ['webhook_secret', 'webhook_secret', 'webhook_url'] as const) {
      expect((await changes[then]?.(seller.key))?.status).to.equal(200);
    }
    const rows = await notices(seller);
    expect(rows.map(changedBy)).to.deep.equal([
      ['ip_whitelist'],
      ['webhook_secret'],
      ['webhook_secret'],
      ['webhook_url'],
    ]);
    expect(rows.map(({ url }) => url)).to.deep.equal(Array(4).fill(oldUrl));
    for (const row of rows.slice(0, 2)) {
      expect(await isSignedWith(row, seller.webhookSecret)).to.equal(true);
    }
  });

  it('a new bank account causes one notice, and its settlements need approval', async () => {
    const seller = await newSeller();
    expect((await settle(seller.key)).body.data.needs_approval).to.equal(false);
    expect(await notices(seller)).to.deep.equal([]);
    const [first, second] = [await settle(seller.key, '9999999'), await settle(seller.key, '9999999')];
    expect([first.body.data.needs_approval, second.body.data.needs_approval]).to.deep.equal([true, true]);
    expect((await notices(seller)).map(changedBy)).to.deep.equal([['bank_account']]);
    const listed = await topup(
      ['settlement', 'list', '--account', seller.account.username, '--json'],
      process.env,
    );
    const reasons = listed
      .json<{ review_reason: string | null }[]>()
      .map(({ review_reason }) => review_reason);
    expect(reasons).to.deep.equal([null, 'new-bank-account', 'new-bank-account']);
  });

  it('settlements need approval for a day after the first payout to a new account', async () => {
    const seller = await newSeller();
    const waits = async (number?: string) =>
      (await settle(seller.key, number)).body.data.needs_approval as boolean;
    expect(await waits()).to.equal(false);
    const { body } = await settle(seller.key, '8888888');
    const id = body.data.settlement_id as string;
    await SettlementModel.updateMany(
      { accountId: seller.account._id },
      { $set: { status: 'completed', needsApproval: false } },
    );
    expect([await waits('8888888'), await waits()], 'new and old account').to.deep.equal([true, true]);
    await SettlementModel.updateOne({ _id: id }, { $set: { createdAt: new Date(Date.now() - 86_400_001) } });
    expect([await waits('8888888'), await waits()]).to.deep.equal([false, false]);
  });

  it('topup account allowlist clear unlocks an owner and requires a reason', async () => {
    const seller = await newSeller();
    await call(seller.key, '/api/config', { ip_whitelist: [here] });
    const fromHome = () => api.call({ path: '/api/seller/balance', key: seller.key, from: '198.51.100.1' });
    expectFailure(await fromHome(), { status: 403, code: '07', message: /operator/ });
    const args = ['account', 'allowlist', 'clear', seller.account.username];
    expect((await topup(args, process.env)).code, 'without a reason').to.equal(2);
    for (const reason of [
      'called\nboss  account.set  approved',
      '\u001b[31mcalled',
      ' - ',
      'x'.repeat(501),
    ]) {
      expect((await topup([...args, '--reason', reason], process.env)).code, reason.slice(0, 20)).to.equal(2);
    }
    const cleared = await topup([...args, '--reason', 'called back', '--json'], process.env);
    expect(cleared.json()).to.deep.equal({ username: seller.account.username, cleared: [here] });
    expect((await fromHome()).status).to.equal(200);
    const entry = await AuditModel.findOne({
      'subject.id': seller.account._id,
      reason: 'called back',
    }).lean();
    expect(entry).to.deep.include({
      action: 'config.update',
      before: { ip_whitelist: [here] },
      after: { ip_whitelist: [] },
    });
    expect((await notices(seller)).map(changedBy)).to.deep.equal([['ip_whitelist'], ['ip_whitelist']]);
  });
});
