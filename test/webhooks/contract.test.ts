import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { setClock } from '../../src/shared/clock.js';
import { encrypt } from '../../src/shared/encryption.js';
import { AccountModel } from '../../src/accounts/account.model.js';
import { buildConfigUpdatedDeliveries } from '../../src/webhooks/account-events.js';
import { buildDepositCompletedDeliveries } from '../../src/deposits/present-deposit.js';
import {
  buildSettlementCompletedDeliveries,
  buildSettlementFailedDeliveries,
} from '../../src/settlements/settlement-events.js';
import { createDeliverer } from '../../src/webhooks/deliver/deliver-due.js';
import { deliveries, type Delivery } from '../../src/webhooks/deliver/delivery.model.js';
import { createSender } from '../../src/webhooks/deliver/send-request.js';
import { buildPurchaseDeliveries, type PurchaseEvent } from '../../src/purchases/purchase-notifications.js';
import { createUrlGuard } from '../../src/webhooks/deliver/url-guard.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { newAccount, someTransaction, storeDeliveries, type TestAccount } from './support/accounts.js';
import { useDatabase } from './support/database.js';
import { startReceiver, type Received, type TestReceiver } from './support/receiver.js';

const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

describe('contract of webhooks and callbacks', () => {
  useDatabase();
  const sender = createSender(createUrlGuard({ allowPrivate: true }));
  const deliverer = createDeliverer(sender);
  let receiver: TestReceiver;
  let buyer: TestAccount;
  let seller: TestAccount;

  before(async () => {
    receiver = await startReceiver();
    buyer = await newAccount({ webhookUrl: `${receiver.url}/hook`, callbackUrl: `${receiver.url}/callback` });
    seller = await newAccount(
      { webhookUrl: `${receiver.url}/seller-hook`, callbackUrl: `${receiver.url}/seller` },
      'seller',
    );
  });
  after(async () => {
    await deliverer.drain();
    await sender.close();
    await receiver.close();
  });

  /** Delivers the rows. Returns the received requests by path. */
  async function deliver(rows: Delivery[]): Promise<Map<string, Received>> {
    await storeDeliveries(rows);
    for (const receiverId of new Set(rows.map((row) => row.receiverId))) {
      await deliverer.deliverDue(receiverId);
    }
    await deliverer.drain();
    const ids = new Set(rows.map((row) => row._id));
    return new Map(
      receiver.received
        .filter((item) => ids.has(item.headers['webhook-id'] ?? ''))
        .map((item) => [item.path, item]),
    );
  }

  function event(kind: PurchaseEvent, over: Parameters<typeof someTransaction>[0]) {
    const transaction = someTransaction({ accountId: buyer.account._id, ...over });
    const rows = buildPurchaseDeliveries({
      purchase: transaction,
      buyer: buyer.account,
      seller: kind === 'success' || kind === 'reversed' ? seller.account : null,
      event: kind,
    });
    return { transaction, rows };
  }

  it('a buyer-surface success sends a buyer webhook and a seller callback', async () => {
    const { transaction, rows } = event('success', { surface: 'buyer' });
    const requests = await deliver(rows);
    expect([...requests.keys()].sort()).to.deep.equal(['/hook', '/seller']);
    const body = JSON.parse(requests.get('/hook')?.raw ?? '');
    expect(body.timestamp).to.match(iso);
    expect(body).to.deep.equal({
      event: 'transaction.success',
      data: {
        ref_id: transaction.refId,
        transaction_id: transaction._id,
        code: 'S10',
        customer_number: '081234561230',
        status: 'success',
        sn: 'SN-0001',
        price: 10_500,
        timestamp: transaction.createdAt.toISOString(),
      },
      timestamp: body.timestamp,
    });
    expect(JSON.parse(requests.get('/seller')?.raw ?? '')).to.deep.equal({
      ref_id: transaction._id,
      code: 'S10',
      customer_number: '********1230',
      status: 'success',
      sn: 'SN-0001',
      message: 'Transaction successful',
    });
    expect(requests.get('/seller')?.raw).not.to.include(transaction.refId);
    expect(requests.get('/hook')?.headers['x-event']).to.equal('transaction.success');
    expect(requests.get('/seller')?.headers['x-event']).to.equal('callback.reseller');
  });

  it('a wallet-surface failure sends an upper-case status to callback_url', async () => {
    const { transaction, rows } = event('failed', {
      surface: 'wallet',
      status: 'FAILED',
      serialNumber: null,
      message: 'Wrong number',
    });
    const requests = await deliver(rows);
    expect([...requests.keys()].sort()).to.deep.equal(['/callback', '/hook']);
    expect(JSON.parse(requests.get('/callback')?.raw ?? '')).to.deep.equal({
      code: transaction._id,
      ref_id: transaction.refId,
      status: 'FAILED',
      serial_number: null,
      price: 10_500,
      message: 'Wrong number',
    });
    expect(requests.get('/callback')?.headers['x-event']).to.equal('callback.wallet');
    expect(JSON.parse(requests.get('/hook')?.raw ?? '')).to.have.nested.include({
      event: 'transaction.failed',
      'data.status': 'failed',
      'data.message': 'Wrong number',
    });
  });

  it('a reversal on the reseller surface sends failed and transaction.failed', async () => {
    const { transaction, rows } = event('reversed', {
      surface: 'reseller',
      status: 'REFUNDED',
      message: 'Taken back',
    });
    const requests = await deliver(rows);
    expect(JSON.parse(requests.get('/callback')?.raw ?? '')).to.deep.equal({
      ref_id: transaction.refId,
      code: 'S10',
      customer_number: '081234561230',
      status: 'failed',
      sn: 'SN-0001',
      message: 'Taken back',
    });
    expect(JSON.parse(requests.get('/hook')?.raw ?? '').event).to.equal('transaction.failed');
    expect(JSON.parse(requests.get('/seller')?.raw ?? '').status).to.equal('failed');
  });

  it("a transaction's callback_url overrides the account's", async () => {
    const { rows } = event('success', { surface: 'wallet', callbackUrl: `${receiver.url}/own?order=1` });
    const requests = await deliver(rows);
    expect([...requests.keys()].sort()).to.deep.equal(['/hook', '/own?order=1', '/seller']);
    expect(JSON.parse(requests.get('/own?order=1')?.raw ?? '').status).to.equal('SUCCESS');
  });

  it('sends pending to the webhook only', async () => {
    const { rows } = event('pending', { surface: 'wallet', status: 'PROCESSING', serialNumber: null });
    const requests = await deliver(rows);
    expect([...requests.keys()]).to.deep.equal(['/hook']);
    expect(JSON.parse(requests.get('/hook')?.raw ?? '')).to.have.nested.include({
      event: 'transaction.pending',
      'data.status': 'pending',
      'data.sn': null,
    });
  });

  it('settlement, deposit and configuration events match their documented bodies', async () => {
    const settlement = {
      _id: someTransaction()._id,
      refId: 'st-1',
      amount: 100_000,
      fee: 2_500,
      netAmount: 97_500,
      bankAccount: { bankCode: '014', accountNumber: '1234567890', accountName: 'BUDI' },
    };
    const at = new Date('2026-03-01T10:00:00Z');
    const bank_account = { bank_code: '014', account_number: '******7890', account_name: 'BUDI' };
    const facts = {
      settlement_id: settlement._id,
      ref_id: 'st-1',
      amount: 100_000,
      fee: 2_500,
      net_amount: 97_500,
    };
    let requests = await deliver(buildSettlementCompletedDeliveries(seller.account, settlement, at));
    expect(JSON.parse(requests.get('/seller-hook')?.raw ?? '')).to.deep.include({
      event: 'settlement.completed',
      data: { ...facts, bank_account, status: 'completed', completed_at: '2026-03-01T10:00:00.000Z' },
    });
    requests = await deliver(buildSettlementFailedDeliveries(seller.account, settlement, 'account closed'));
    expect(JSON.parse(requests.get('/seller-hook')?.raw ?? '')).to.deep.include({
      event: 'settlement.failed',
      data: { ...facts, bank_account, status: 'failed', reason: 'account closed' },
    });
    const deposit = {
      _id: someTransaction()._id,
      accountId: buyer.account._id,
      refId: 'dp-1',
      amount: 50_000,
      status: 'completed' as const,
      balanceBefore: 0,
      balanceAfter: 50_000,
      createdAt: at,
      completedAt: at,
    };
    requests = await deliver(buildDepositCompletedDeliveries(buyer.account, deposit));
    expect(JSON.parse(requests.get('/hook')?.raw ?? '')).to.deep.include({
      event: 'deposit.completed',
      data: {
        ref_id: 'dp-1',
        amount: 50_000,
        balance_before: 0,
        balance_after: 50_000,
        status: 'completed',
        timestamp: '2026-03-01T10:00:00.000Z',
      },
    });
    requests = await deliver(buildConfigUpdatedDeliveries(buyer.account, ['webhook_url']));
    expect(JSON.parse(requests.get('/hook')?.raw ?? '')).to.deep.include({
      event: 'config.updated',
      data: { changed: ['webhook_url'] },
    });
  });

  it('headers and both signatures match docs/reference/api/callbacks.md#signatures', async () => {
    const { rows } = event('success', {});
    const webhook = (await deliver(rows)).get('/hook');
    if (!webhook) {
      throw new Error('nothing came');
    }
    const { headers, raw } = webhook;
    expect(headers).to.include({
      'content-type': 'application/json',
      'x-event': 'transaction.success',
      'x-attempt': '1',
      'webhook-id': rows[0]?._id,
    });
    expect(headers['user-agent']).to.match(/^[\w-]+\/[\d.]+$/);
    const key = Buffer.from(buyer.secret.slice('whsec_'.length), 'base64');
    expect(headers['x-signature']).to.equal(`sha256=${createHmac('sha256', key).update(raw).digest('hex')}`);
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1_000)).to.be.below(5);
    expect(new Webhook(buyer.secret).verify(raw, headers)).to.deep.equal(JSON.parse(raw));
    expect(() => new Webhook(buyer.secret).verify(`${raw} `, headers)).to.throw();
    expect(() => new Webhook(seller.secret).verify(raw, headers)).to.throw();
  });

  it('a retry sends the same id and body with a new number, time and signature', async () => {
    const transaction = someTransaction({ accountId: buyer.account._id });
    const rows = buildPurchaseDeliveries({
      purchase: transaction,
      buyer: buyer.account,
      seller: null,
      event: 'success',
    });
    const [row] = rows;
    receiver.behave((_request, response) => response.writeHead(500).end());
    await deliver(rows);
    receiver.behave((_request, response) => response.end('{"status":"received"}'));
    await deliveries.updateOne({ _id: row?._id ?? '' }, { $set: { nextAttemptAt: new Date() } });
    setClock(() => Date.now() + 1_000);
    await deliverer.deliverDue(row?.receiverId ?? '');
    await deliverer.drain();
    setClock(null);
    const [first, second] = receiver.received.filter((item) => item.headers['webhook-id'] === row?._id);
    expect(second?.raw).to.equal(first?.raw);
    expect(first?.headers['x-attempt']).to.equal('1');
    expect(second?.headers['x-attempt']).to.equal('2');
    expect(second?.headers['webhook-timestamp']).not.to.equal(first?.headers['webhook-timestamp']);
    expect(second?.headers['x-signature']).to.equal(first?.headers['x-signature']);
    new Webhook(buyer.secret).verify(second?.raw ?? '', second?.headers ?? {});
    const stored = await deliveries.findOne({ _id: row?._id ?? '' });
    expect(stored).to.include({ state: 'delivered', attemptCount: 2, nextAttemptAt: null });
    expect(stored?.attempts.map(({ n, httpStatus, ack }) => ({ n, httpStatus, ack }))).to.deep.equal([
      { n: 1, httpStatus: 500, ack: null },
      { n: 2, httpStatus: 200, ack: 'received' },
    ]);
  });

  it('during a rotation both secrets sign; the old one stops after 24 h', async () => {
    const { account, secret } = await newAccount({ webhookUrl: `${receiver.url}/rotating` });
    const old = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const sealed = encrypt(old, `webhook-secret:${account._id}`);
    const rotate = (validUntil: Date) =>
      writeAndInvalidate([AccountModel], null, (rows) =>
        rows.updateOne({ _id: account._id }, { $set: { previousWebhookSecret: { sealed, validUntil } } }),
      );
    const next = () =>
      buildPurchaseDeliveries({
        purchase: someTransaction({ accountId: account._id }),
        buyer: account,
        seller: null,
        event: 'success',
      });
    await rotate(new Date(Date.now() + 60_000));
    const during = (await deliver(next())).get('/rotating');
    new Webhook(secret).verify(during?.raw ?? '', during?.headers ?? {});
    new Webhook(old).verify(during?.raw ?? '', during?.headers ?? {});
    expect(during?.headers['x-signature']?.split(' ')).to.have.length(2);
    await rotate(new Date(Date.now() - 1));
    const later = (await deliver(next())).get('/rotating');
    expect(later?.headers['x-signature']?.split(' ')).to.have.length(1);
    expect(() => new Webhook(old).verify(later?.raw ?? '', later?.headers ?? {})).to.throw();
  });
});
