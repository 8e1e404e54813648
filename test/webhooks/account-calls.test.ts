import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { createApp } from '../../src/app.js';
import { createAccount, type CreatedAccount } from '../../src/accounts/create-account.js';
import { AccountModel } from '../../src/accounts/account.model.js';
import { newId } from '../../src/shared/ids.js';
import { runInTransaction } from '../../src/database/mongo.js';
import { openQueue } from '../../src/jobs/queues.js';
import { deliverDueJob } from '../../src/webhooks/deliver/delivery-jobs.js';
import { buildConfigUpdatedDeliveries } from '../../src/webhooks/account-events.js';
import { createDeliverer } from '../../src/webhooks/deliver/deliver-due.js';
import { deliveries, type Delivery } from '../../src/webhooks/deliver/delivery.model.js';
import { insertDeliveries } from '../../src/webhooks/new-delivery.js';
import { createSender } from '../../src/webhooks/deliver/send-request.js';
import { buildPurchaseDeliveries } from '../../src/purchases/purchase-notifications.js';
import { createUrlGuard } from '../../src/webhooks/deliver/url-guard.js';
import { redirectWaitingDeliveries, getWebhookStatus } from '../../src/webhooks/endpoints/endpoint-status.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { apiClient, type ApiClient } from '../support/api-client.js';
import { someTransaction, storeDeliveries, storeSuccess } from './support/accounts.js';
import { useDatabase } from './support/database.js';
import { sendResponse, acceptRequest, startReceiver, type TestReceiver } from './support/receiver.js';

describe('webhook calls of an account', () => {
  useDatabase();
  const sender = createSender(createUrlGuard({ allowPrivate: true }));
  const deliverer = createDeliverer(sender);
  let server: Server;
  let baseUrl: string;
  let receiver: TestReceiver;
  let owner: CreatedAccount;
  let api: ApiClient;

  before(async () => {
    receiver = await startReceiver();
    server = createApp().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    await sender.close();
    await receiver.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  beforeEach(async () => {
    receiver.behave(acceptRequest);
    owner = await createAccount({
      username: `t-${newId().slice(8)}`,
      role: 'buyer',
      webhookUrl: `${receiver.url}/hook`,
      callbackUrl: `${receiver.url}/callback`,
    });
    api = apiClient(baseUrl, owner.apiKey);
  });

  const event = () => storeSuccess(owner.account);

  async function runTurn(row: Delivery): Promise<void> {
    await deliverer.deliverDue(row.receiverId);
    await deliverer.drain();
  }

  it('lists only its own deliveries, with every attempt, filtered and paged', async () => {
    receiver.behave((_request, response) => sendResponse(response, 500, { reason: 'database is down' }));
    const row = await event();
    await runTurn(row);
    await event();
    const { status, body } = await api.get(`/api/buyer/webhooks/deliveries?ref_id=${row.refId ?? ''}`);
    expect(status).to.equal(200);
    expect(body.data.pagination).to.deep.equal({ page: 1, limit: 20, total: 1, total_pages: 1 });
    const [shown] = body.data.deliveries;
    expect(shown).to.include({
      id: row._id,
      event: 'transaction.success',
      ref_id: row.refId,
      status: 'due',
      attempt_count: 1,
      url: `${receiver.url}/hook`,
    });
    expect(shown.payload).to.deep.equal(JSON.parse(row.body));
    expect(shown.attempts).to.have.length(1);
    expect(shown.attempts[0]).to.include({
      number: 1,
      http_status: 500,
      answer: '{"reason":"database is down"}',
      error: 'returned 500',
    });
    const page = await api.get(
      '/api/buyer/webhooks/deliveries?status=Due&event=TRANSACTION.success&limit=1&page=2',
    );
    expect(page.body.data.deliveries).to.have.length(1);
    expect(page.body.data.pagination).to.deep.equal({ page: 2, limit: 1, total: 2, total_pages: 2 });
    const stranger = await createAccount({ username: `t-${newId().slice(8)}`, role: 'buyer' });
    const theirs = apiClient(baseUrl, stranger.apiKey);
    expect((await theirs.get('/api/buyer/webhooks/deliveries')).body.data.deliveries).to.deep.equal([]);
    const replay = await theirs.post(`/api/buyer/webhooks/deliveries/${row._id}/replay`);
    expect([replay.status, replay.body.code]).to.deep.equal([404, '02']);
    const refused = await api.get('/api/seller/webhooks/deliveries');
    expect([refused.status, refused.body.code]).to.deep.equal([403, '07']);
    for (const query of ['limit=101', 'limit=0', 'page=x', 'status=lost']) {
      expect((await api.get(`/api/buyer/webhooks/deliveries?${query}`)).status, query).to.equal(400);
    }
  });

  it('replays one delivery with its old id and the next attempt number', async () => {
    const row = await event();
    await runTurn(row);
    const { status, body } = await api.post(`/api/buyer/webhooks/deliveries/${row._id}/replay`);
    expect([status, body.data.status]).to.deep.equal([200, 'due']);
    await runTurn(row);
    const attempts = receiver.received.filter((each) => each.headers['webhook-id'] === row._id);
    expect(attempts.map((each) => each.headers['x-attempt'])).to.deep.equal(['1', '2']);
    expect(attempts[1]?.raw).to.equal(attempts[0]?.raw);
  });

  it('a 410 holds all due deliveries; once enabled, a replay since a time sends them', async () => {
    receiver.behave((_request, response) => sendResponse(response, 410));
    const [row, other] = [await event(), await event()];
    await runTurn(row);
    await runTurn(other);
    expect((await AccountModel.findById(owner.account._id).lean())?.webhookStatus).to.equal('disabled');
    receiver.behave(acceptRequest);
    const enabled = await api.post('/api/buyer/webhooks/enable');
    expect(enabled.body.data).to.deep.equal({ webhook_status: 'enabled', held: 2 });
    const later = new Date(Date.now() + 60_000).toISOString();
    const none = await api.post('/api/buyer/webhooks/replay', { since: later, status: 'held' });
    expect(none.body.data).to.deep.equal({ replayed: 0 });
    const since = new Date(Date.now() - 60_000).toISOString();
    const both = await api.post('/api/buyer/webhooks/replay', { since, status: 'HELD' });
    expect(both.body.data).to.deep.equal({ replayed: 2 });
    await runTurn(row);
    expect(await deliveries.findOne({ _id: row._id })).to.include({ state: 'delivered' });
    expect((await api.post('/api/buyer/webhooks/replay', { since: 'soon', status: 'held' })).status).to.equal(
      400,
    );
  });

  it('sends a signed test ping once and reports the response', async () => {
    const well = await api.post('/api/buyer/webhooks/test');
    expect(well.body.data.delivered).to.equal(true);
    expect(well.body.data.attempt).to.include({ number: 1, http_status: 200, ack: 'received', error: null });
    const ping = receiver.received.find((each) => each.headers['webhook-id'] === well.body.data.id);
    expect(new Webhook(owner.webhookSecret).verify(ping?.raw ?? '', ping?.headers ?? {})).to.have.property(
      'event',
      'ping',
    );
    receiver.behave((_request, response) => response.writeHead(404).end('no such page'));
    const badly = await api.post('/api/buyer/webhooks/test');
    expect(badly.body.data).to.nested.include({ delivered: false, 'attempt.http_status': 404 });
    expect(badly.body.data.attempt.answer).to.equal('no such page');
    expect(await deliveries.findOne({ _id: badly.body.data.id })).to.include({
      state: 'dead',
      attemptCount: 1,
    });
    expect(await getWebhookStatus(owner.account)).to.equal('enabled');
    await writeAndInvalidate([AccountModel], null, (rows) =>
      rows.updateOne({ _id: owner.account._id }, { $set: { webhookUrl: null } }),
    );
  });

  it('rotates the secret consistently and stores no plain secret', async () => {
    const { status, body } = await api.post('/api/buyer/api/webhook-secret/rotate');
    expect(status).to.equal(200);
    expect(body.data.webhook_secret).to.not.equal(owner.webhookSecret);
    expect(body.data.webhook_secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Date.parse(body.data.previous_valid_until) - Date.now()).to.be.within(86_390_000, 86_400_000);
    await runTurn(await event());
    const latest = receiver.received.at(-1);
    for (const secret of [body.data.webhook_secret, owner.webhookSecret]) {
      new Webhook(secret).verify(latest?.raw ?? '', latest?.headers ?? {});
    }
    const account = JSON.stringify(await AccountModel.findById(owner.account._id).lean());
    expect(account).not.to.include('whsec_');
  });

  it('retries a negative acknowledgement, and a missing one if require_ack is set', async () => {
    receiver.behave((_request, response) => sendResponse(response, 200, { status: 'error' }));
    const negative = await event();
    await runTurn(negative);
    receiver.behave((_request, response) => response.end('OK'));
    const missing = await event();
    await runTurn(missing);
    await writeAndInvalidate([AccountModel], null, (rows) =>
      rows.updateOne({ _id: owner.account._id }, { $set: { requireAck: true } }),
    );
    const required = await event();
    await runTurn(required);
    const states = await Promise.all(
      [negative, missing, required].map(async (row) => {
        const stored = await deliveries.findOne({ _id: row._id });
        return [stored?.state, stored?.attempts[0]?.ack];
      }),
    );
    expect(states).to.deep.equal([
      ['due', 'negative'],
      ['delivered', 'missing'],
      ['due', 'missing'],
    ]);
  });

  for (const answer of [{ status: 'ok' }, { status: 'Received' }, 'Received', '\ufeff{"status":"OK"}']) {
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    it(`takes ${JSON.stringify(text)} as delivered, unless require_ack is set`, async () => {
      receiver.behave((_request, response) => response.end(text));
      const results = [];
      for (const requireAck of [false, true]) {
        await writeAndInvalidate([AccountModel], null, (rows) =>
          rows.updateOne({ _id: owner.account._id }, { $set: { requireAck } }),
        );
        const row = await event();
        await runTurn(row);
        const { state, attempts = [] } = (await deliveries.findOne({ _id: row._id })) ?? {};
        results.push([state, attempts[0]?.ack, attempts[0]?.error?.includes('require_ack') ?? false]);
      }
      expect(results).to.deep.equal([
        ['delivered', 'missing', false],
        ['due', 'missing', true],
      ]);
    });
  }

  it('drops an unsent pending event after the result, and a success after its reversal', async () => {
    const transaction = someTransaction({ accountId: owner.account._id });
    const rows = (['pending', 'success', 'reversed'] as const).flatMap((kind) =>
      buildPurchaseDeliveries({ purchase: transaction, buyer: owner.account, seller: null, event: kind }),
    );
    await storeDeliveries(rows);
    await runTurn(rows[0] as Delivery);
    const states = await deliveries.find({ orderKey: transaction._id }).sort({ orderRank: 1 }).toArray();
    expect(states.map((row) => row.state)).to.deep.equal(['dropped', 'dropped', 'delivered']);
    const requests = receiver.received.filter((each) => each.raw.includes(transaction._id));
    expect(requests.map((each) => JSON.parse(each.raw).event)).to.deep.equal(['transaction.failed']);
  });

  it('a result waits while the pending event of its transaction is in flight', async () => {
    const transaction = someTransaction({ accountId: owner.account._id });
    const make = (event: 'pending' | 'success') =>
      buildPurchaseDeliveries({ purchase: transaction, buyer: owner.account, seller: null, event });
    const [pending] = await storeDeliveries(make('pending'));
    await deliveries.updateOne(
      { _id: pending?._id ?? '' },
      { $set: { leaseToken: 'another worker', nextAttemptAt: new Date(Date.now() + 10_000) } },
    );
    const [success] = await storeDeliveries(make('success'));
    await runTurn(success as Delivery);
    expect(await deliveries.findOne({ _id: success?._id ?? '' })).to.include({
      state: 'due',
      attemptCount: 0,
    });
    await deliveries.updateOne({ _id: pending?._id ?? '' }, { $set: { nextAttemptAt: new Date(0) } });
    await deliveries.updateOne({ _id: success?._id ?? '' }, { $set: { nextAttemptAt: new Date(0) } });
    await runTurn(success as Delivery);
    expect(await deliveries.findOne({ _id: success?._id ?? '' })).to.include({ state: 'delivered' });
    expect(await deliveries.findOne({ _id: pending?._id ?? '' })).to.include({ state: 'dropped' });
  });

  it('after a URL change waiting events go to the new URL, only the notice to the old', async () => {
    receiver.behave((_request, response) => sendResponse(response, 500));
    const row = await event();
    await runTurn(row);
    const after = { ...owner.account, webhookUrl: `${receiver.url}/new` };
    const [notice] = buildConfigUpdatedDeliveries(owner.account, ['webhook_url']);
    await runInTransaction(async (session) => {
      await writeAndInvalidate([AccountModel], null, (rows) =>
        rows.updateOne({ _id: after._id }, { $set: { webhookUrl: after.webhookUrl } }, { session }),
      );
      await insertDeliveries(session, notice ? [notice] : []);
    });
    await redirectWaitingDeliveries(after);
    receiver.behave(acceptRequest);
    const moved = await deliveries.findOne({ _id: row._id });
    await runTurn(moved as Delivery);
    await runTurn(notice as Delivery);
    const paths = receiver.received
      .filter((each) => [row._id, notice?._id].includes(each.headers['webhook-id']))
      .map((each) => `${each.path} ${each.headers['x-event'] ?? ''}`);
    expect(paths).to.deep.equal([
      '/hook transaction.success',
      '/new transaction.success',
      '/hook config.updated',
    ]);
  });

  it('refuses to store a second delivery for the same event of a transaction', async () => {
    const transaction = someTransaction({ accountId: owner.account._id });
    const make = () =>
      buildPurchaseDeliveries({
        purchase: transaction,
        buyer: owner.account,
        seller: null,
        event: 'success',
      });
    await storeDeliveries(make());
    const error = await storeDeliveries(make()).catch((caught: unknown) => caught);
    expect(error).to.have.property('code', 11000);
  });

  it('puts only ids into job payloads', async () => {
    const row = await event();
    await api.post(`/api/buyer/webhooks/deliveries/${row._id}/replay`);
    const jobs = await openQueue(deliverDueJob.queue).getJobs([
      'wait',
      'active',
      'delayed',
      'completed',
      'failed',
    ]);
    const ours = jobs.filter((job) => (job.data as { receiverId: string }).receiverId === row.receiverId);
    expect(ours.map((job) => job.data as object)).to.deep.equal([
      { v: 3, receiverId: row.receiverId, accountId: row.accountId },
    ]);
    expect(JSON.stringify(jobs.map((job) => [job.data as object, job.opts]))).not.to.match(
      /whsec_|http|secret/,
    );
  });
});
