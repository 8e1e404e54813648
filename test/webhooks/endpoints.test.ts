/** An account with several endpoints: filters, signatures, and isolation between the endpoints. */
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { Webhook } from 'standardwebhooks';
import { AccountModel, type Account } from '../../src/accounts/account.model.js';
import type { WebhookEndpoint } from '../../src/accounts/webhook-endpoint.js';
import { buildDepositCompletedDeliveries } from '../../src/deposits/present-deposit.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { newId } from '../../src/shared/ids.js';
import { deliveries } from '../../src/webhooks/deliver/delivery.model.js';
import { receivers } from '../../src/webhooks/receivers/receiver.model.js';
import { expectFailure } from '../api/support/expect-answer.js';
import { eventually } from '../support/eventually.js';
import { someTransaction, storeDeliveries } from './support/accounts.js';
import { useEndpoints, type ShownEndpoint } from './support/endpoints.js';
import { sendResponse, acceptRequest } from './support/receiver.js';

describe('deliveries to several webhook endpoints', () => {
  const {
    deliverer,
    stage,
    hook,
    get,
    post,
    rowsOf,
    stored,
    cameTo,
    turn,
    patch,
    remove,
    config,
    listed,
    made,
    eventsAt,
    deliverAll,
    event,
  } = useEndpoints();

  it('each endpoint gets its events once, with its own secret and version', async () => {
    const finals = await made({ url: hook('finals'), events: ['transaction.success', 'transaction.failed'] });
    const money = await made({ url: hook('money'), events: ['deposit.*'], description: 'Accounting' });
    expect(new Set([stage.owner.webhookSecret, finals.secret, money.secret]).size).to.equal(3);
    await deliverAll();
    stage.receiver.received.length = 0;
    const transaction = someTransaction({ accountId: stage.owner.account._id });
    await event('pending', transaction);
    await deliverAll();
    await event('success', transaction);
    await event('failed');
    const deposit = {
      _id: newId(),
      accountId: stage.owner.account._id,
      refId: 'd',
      amount: 1,
      balanceBefore: 0,
      balanceAfter: 1,
      status: 'completed' as const,
      completedAt: new Date(),
      createdAt: new Date(),
    };
    await storeDeliveries(buildDepositCompletedDeliveries(await stored(), deposit));
    await deliverAll();
    await deliverAll();
    const all = ['transaction.pending', 'transaction.success', 'transaction.failed', 'deposit.completed'];
    expect(eventsAt(stage.owner.account.webhookUrl ?? '')).to.have.members(all);
    expect(eventsAt(finals.url)).to.have.members(['transaction.success', 'transaction.failed']);
    expect(eventsAt(money.url)).to.deep.equal(['deposit.completed']);
    const ids = stage.receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size, 'unique ids').to.equal(7);
    const secrets = [
      [stage.owner.account.webhookUrl ?? '', stage.owner.webhookSecret],
      [finals.url, finals.secret],
      [money.url, money.secret],
    ] as const;
    for (const [url] of secrets) {
      for (const { raw, headers } of cameTo(url)) {
        const right = secrets.filter(([, secret]) => {
          try {
            new Webhook(secret).verify(raw, headers);
            return true;
          } catch {
            return false;
          }
        });
        expect(right.map(([of]) => of)).to.deep.equal([url]);
        expect(headers['x-api-version']).to.equal('1');
      }
    }
  });

  it('a retry sends the version of the first attempt', async () => {
    const other = await made({ url: hook('other') });
    stage.receiver.behave((_request, response) => sendResponse(response, 500));
    const rows = (await event('success')).filter(({ endpointId }) => endpointId === other.id);
    await deliveries.updateMany({ _id: rows[0]?._id ?? '' }, { $set: { version: '0' as never } });
    await turn(rows);
    await deliveries.updateMany({ _id: rows[0]?._id ?? '' }, { $set: { nextAttemptAt: new Date(0) } });
    await turn(rows);
    expect(cameTo(other.url).map(({ headers }) => headers['x-api-version'])).to.deep.equal(['0', '0']);
  });

  it('a hanging endpoint does not delay another, even for the same transaction', async () => {
    const other = await made({ url: hook('other') });
    await deliverAll();
    const hanging: ServerResponse[] = [];
    const slow = new URL(stage.owner.account.webhookUrl ?? '').pathname;
    stage.receiver.behave((request, response) => {
      if (request.path === slow) {
        hanging.push(response);
      } else {
        acceptRequest(request, response);
      }
    });
    const transaction = someTransaction({ accountId: stage.owner.account._id });
    const [first, second] = await event('pending', transaction);
    const stuck = deliverer.deliverDue(first?.receiverId ?? '');
    await eventually('the first one hangs', () => hanging.length === 1);
    const rows = await event('success', transaction);
    await deliverer.deliverDue(second?.receiverId ?? '');
    await eventually('the other one has the result', async () =>
      (await rowsOf({ _id: rows[1]?._id })).every(({ state }) => state === 'delivered'),
    );
    expect(hanging, 'hanging requests').to.have.length(1);
    expect(eventsAt(other.url)).to.deep.equal(['transaction.success']);
    expect((await rowsOf({ _id: second?._id }))[0]?.state, 'superseded event').to.equal('dropped');
    stage.receiver.behave(acceptRequest);
    hanging.forEach((response) => sendResponse(response, 200, { status: 'received' }));
    await stuck;
    await deliverer.drain();
  });

  it('waiting deliveries follow a changed URL of their endpoint', async () => {
    const other = await made({ url: hook('other') });
    await deliverAll();
    stage.receiver.behave((_request, response) => sendResponse(response, 500));
    await turn(await event('success'));
    stage.receiver.behave(acceptRequest);
    const url = hook('moved');
    await patch(other.id, { url });
    await deliverAll();
    expect(eventsAt(url)).to.deep.equal(['transaction.success']);
    expect(eventsAt(other.url), 'events at the old URL').to.deep.equal([
      'transaction.success',
      'config.updated',
    ]);
    const [first] = await rowsOf({ event: 'transaction.success', endpointId: { $exists: false } });
    expect(first).to.include({ url: stage.owner.account.webhookUrl, state: 'due', attemptCount: 1 });
  });

  it('a 410 disables an endpoint, notifies the others once, and can be reverted', async () => {
    const other = await made({ url: hook('other'), events: ['transaction.*'] });
    const deaf = await made({ url: hook('deaf'), events: ['transaction.*'] });
    await patch(deaf.id, { events: ['deposit.*'] });
    await deliverAll();
    const gonePath = new URL(other.url).pathname;
    stage.receiver.behave((request, response) =>
      request.path === gonePath ? sendResponse(response, 410) : acceptRequest(request, response),
    );
    const rows = [...(await event('success')), ...(await event('success')), ...(await event('failed'))];
    await turn(rows);
    await deliverAll();
    const notices = await rowsOf({ event: 'webhook.disabled' });
    expect(notices.map(({ url, state }) => [url, state])).to.deep.equal([
      [stage.owner.account.webhookUrl, 'delivered'],
    ]);
    const { data } = JSON.parse(notices[0]?.body ?? '') as { data: Record<string, unknown> };
    expect(data).to.include({ endpoint_id: other.id, url: other.url, reason: 'gone' });
    const shown = (await get(`/${other.id}`)).body.data as ShownEndpoint;
    expect(shown).to.include({
      status: 'disabled',
      since: data['since'],
      reason: 'gone',
      action: data['action'],
    });
    expect((await listed())[0]).to.include({ status: 'enabled', since: null, reason: null, action: null });
    const shownConfig = await config();
    expect(shownConfig.body.data.webhook_status, 'status of webhook_url').to.equal('enabled');
    await turn(await event('success'));
    stage.receiver.behave(acceptRequest);
    const enabled = await post(`/${other.id}/enable`);
    const heldCount = (await rowsOf({ state: 'held' })).length;
    expect(heldCount).to.be.at.least(2);
    expect(enabled.body.data).to.deep.equal({ id: other.id, status: 'enabled', held: heldCount });
    const since = new Date(Date.now() - 60_000).toISOString();
    const none = await post('/replay', { since, status: 'held', endpoint_id: 'default' });
    expect(none.body.data.replayed).to.equal(0);
    const all = await post('/replay', { since, status: 'held', endpoint_id: other.id });
    expect(all.body.data.replayed).to.equal(heldCount);
    await deliverAll();
    expect(await rowsOf({ state: { $in: ['held', 'due'] } })).to.deep.equal([]);
  });

  it('disables and reports an endpoint and a callback URL that fail for days', async () => {
    const callbackUrl = hook('callback');
    await writeAndInvalidate([AccountModel], [stage.owner.account._id], (rows) =>
      rows.updateOne({ _id: stage.owner.account._id }, { $set: { callbackUrl } }),
    );
    const other = await made({ url: hook('other'), events: ['webhook.disabled'] });
    await deliverAll();
    stage.receiver.behave((_request, response) => sendResponse(response, 500));
    const transaction = someTransaction({ accountId: stage.owner.account._id, surface: 'wallet' });
    const rows = (await event('success', transaction)).filter(({ url }) => url !== other.url);
    await turn(rows);
    const long = { failingSince: new Date(Date.now() - 121 * 3_600_000), failures: 20 };
    await receivers.updateMany({ accountId: stage.owner.account._id }, { $set: long });
    await deliveries.updateMany(
      { _id: { $in: rows.map(({ _id }) => _id) } },
      { $set: { nextAttemptAt: new Date(0) } },
    );
    await turn(rows);
    const notices = await rowsOf({ event: 'webhook.disabled', endpointId: other.id });
    const data = notices.map(({ body }) => (JSON.parse(body) as { data: Record<string, unknown> }).data);
    expect(data.map((each) => [each['endpoint_id'], each['reason']])).to.have.deep.members([
      ['default', 'failing'],
      [null, 'failing'],
    ]);
    expect((await stored()).webhookStatus).to.equal('disabled');
  });

  it('sends a ping to the requested endpoint, signed with its secret', async () => {
    const other = await made({ url: hook('other'), events: ['deposit.*'] });
    const tested = await post(`/${other.id}/test`);
    const [came] = cameTo(other.url);
    expect(came?.headers['webhook-id']).to.equal(tested.body.data.id);
    new Webhook(other.secret).verify(came?.raw ?? '', came?.headers ?? {});
    const { body } = await get(`/deliveries?endpoint_id=${other.id}`);
    expect(
      (body.data.deliveries as { id: string; endpoint_id: string }[]).map(({ id, endpoint_id }) => [
        id,
        endpoint_id,
      ]),
    ).to.deep.equal([[tested.body.data.id, other.id]]);
    const first = await get('/deliveries?endpoint_id=default');
    expect(first.body.data.pagination.total, 'deliveries of the default endpoint').to.equal(1);
  });

  it('signs with the new and the previous secret after a rotation of one endpoint', async () => {
    const other = await made({ url: hook('other') });
    await deliverAll();
    const rotated = await post(`/${other.id}/secret/rotate`);
    await deliverAll();
    stage.receiver.received.length = 0;
    await turn(await event('success'));
    const [came] = cameTo(other.url);
    for (const secret of [rotated.body.data.secret as string, other.secret]) {
      new Webhook(secret).verify(came?.raw ?? '', came?.headers ?? {});
    }
    const [first] = cameTo(stage.owner.account.webhookUrl ?? '');
    expect(first?.headers['webhook-signature']?.split(' ')).to.have.length(1);
    expect(JSON.stringify(await stored())).to.not.include('whsec_');
  });

  it('drops the waiting deliveries of a removed endpoint and never replays them', async () => {
    const other = await made({ url: hook('other') });
    await deliverAll();
    stage.receiver.received.length = 0;
    const waiting = await event('success');
    await remove(other.id);
    const row = async () => (await rowsOf({ _id: waiting[1]?._id }))[0];
    expect(await row()).to.include({ state: 'dropped', nextAttemptAt: null });
    expect((await row())?.expireAt).to.be.instanceOf(Date);
    await deliverAll();
    expect(eventsAt(other.url)).to.deep.equal(['config.updated']);
    expectFailure(await post(`/deliveries/${waiting[1]?._id ?? ''}/replay`), {
      status: 409,
      code: '01',
      message: /endpoint of this delivery was removed/,
    });
    const shown = (await get(`/deliveries?endpoint_id=${other.id}`)).body.data.deliveries;
    expect((shown as { status: string }[]).map(({ status }) => status)).to.include('dropped');
  });

  it('drops a waiting row of a removed endpoint at its turn', async () => {
    const other = await made({ url: hook('other') });
    await deliverAll();
    stage.receiver.received.length = 0;
    const waiting = await event('success');
    // Commit only the removal, and skip the cleanup that normally follows it.
    await writeAndInvalidate([AccountModel], [stage.owner.account._id], (rows) =>
      rows.updateOne({ _id: stage.owner.account._id }, { $set: { webhookEndpoints: [] } }),
    );
    await turn(waiting);
    const [row] = await rowsOf({ _id: waiting[1]?._id });
    expect(row).to.include({ state: 'dropped' });
    expect(row?.attempts.map(({ error }) => error)).to.deep.equal(['the endpoint was removed']);
    expect(cameTo(other.url)).to.deep.equal([]);
    expect(cameTo(stage.owner.account.webhookUrl ?? '')).to.have.length(1);
  });

  it('looks up an unknown endpoint in the database before it drops a row', async () => {
    const other = await made({ url: hook('other') });
    await deliverAll();
    stage.receiver.received.length = 0;
    const rows = await event('success');
    const known = await stored();
    // Simulate an endpoint that another process has just created. Write it without updating the
    // cache of this process.
    const unheard = { ...(known.webhookEndpoints?.[0] as WebhookEndpoint), id: newId() };
    await deliverer.deliverDue(rows[0]?.receiverId ?? '');
    await mongoose.connection
      .collection<Account>('accounts')
      .updateOne({ _id: known._id }, { $push: { webhookEndpoints: unheard } });
    await deliveries.updateOne({ _id: rows[1]?._id ?? '' }, { $set: { endpointId: unheard.id } });
    await turn(rows.slice(1));
    expect(eventsAt(other.url)).to.deep.equal(['transaction.success']);
  });
});
