/**
 * Webhooks in the console: failing receivers, deliveries, replays, and enabling an endpoint again.
 */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { topup } from '../support/topup.js';
import { callerAs, reason, type Caller } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';

describe('webhooks in the console', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let caller: Caller;

  before(async () => {
    shop = await startOperatedStack();
    caller = await callerAs(shop, 'support');
  });
  after(() => shop.stack.stop());

  const deliveriesOf = (orderKey: string) => ({ orderKey, channel: 'webhook', event: 'transaction.success' });
  async function waitUntilDelivered(purchaseId: string) {
    const deliveries = shop.stack.db.collection<StoredDelivery>('deliveries');
    return eventually('the webhook is delivered', () =>
      deliveries.findOne({ ...deliveriesOf(purchaseId), state: 'delivered' }),
    );
  }

  it('lists dead deliveries of all accounts, and a replay delivers one', async () => {
    const id = await shop.buySuccessfully();
    const { _id } = await waitUntilDelivered(id);
    const deliveries = shop.stack.db.collection<StoredDelivery>('deliveries');
    await deliveries.updateOne({ _id }, { $set: { state: 'dead', settledAt: new Date(), expireAt: null } });
    const { deliveries: dead } = await caller.ask('listDeliveries', '/deliveries');
    expect(dead).to.have.length(1);
    expect(dead[0]).to.include({ id: _id, transaction_id: id, state: 'dead' });
    expect(dead[0].account).to.match(/^(buyer|seller\d?)$/);
    expect(dead[0].attempts).to.have.length(1);
    await caller.ask('replayDelivery', `/deliveries/${_id}/replay`, { reason });
    await caller.expectAudited(_id, 'webhook.replay');
    await eventually('the replay', () => deliveries.findOne({ _id, state: 'delivered', attemptCount: 2 }));
    expect((await caller.ask('listDeliveries', '/deliveries')).deliveries).to.deep.equal([]);
  });

  it('shows the sent headers of an attempt with truncated signatures', async () => {
    const id = await shop.buySuccessfully();
    const { _id } = await waitUntilDelivered(id);
    const { deliveries } = await caller.ask('getPurchase', `/purchases/${id}`);
    const { attempts } = deliveries.find((each: { id: string }) => each.id === _id);
    const headers = Object.fromEntries(
      attempts[0].headers.map(({ name, value }: { name: string; value: string }) => [name, value]),
    );
    expect(headers).to.include({ 'x-event': 'transaction.success', 'x-attempt': '1', 'webhook-id': _id });
    expect(headers['webhook-timestamp']).to.match(/^\d{10}$/);
    expect(headers['x-signature']).to.match(/^sha256=[0-9a-f]{9}…$/);
    expect(headers['webhook-signature']).to.match(/^v1,.{13}…$/);
  });

  it('replays many deliveries in one call, with a result and an audit entry each', async () => {
    const [one, other] = [
      await waitUntilDelivered(await shop.buySuccessfully()),
      await waitUntilDelivered(await shop.buySuccessfully()),
    ];
    const deliveries = shop.stack.db.collection<StoredDelivery>('deliveries');
    const attemptsOf = (_id: string, attemptCount: number) =>
      eventually('the replay arrives', () => deliveries.findOne({ _id, state: 'delivered', attemptCount }));
    const ids = [one._id, 'unknown', other._id];
    const answer = await caller.ask('replayDeliveries', '/deliveries/replay', { ids, reason });
    expect(
      answer.deliveries.map(({ refusal }: { refusal: string | null }) => refusal === null),
    ).to.deep.equal([true, false, true]);
    for (const { _id } of [one, other]) {
      await caller.expectAudited(_id, 'webhook.replay');
      await attemptsOf(_id, 2);
    }
    const command = await topup(['webhooks', 'replay', ...ids, '--reason', reason, '--json'], shop.stack.env);
    expect(command.code).to.equal(1);
    expect(command.json<{ status?: string }[]>().map(({ status }) => status)).to.deep.equal([
      'due',
      undefined,
      'due',
    ]);
    await attemptsOf(one._id, 3);
    await attemptsOf(other._id, 3);
    const tooMany = { ids: Array.from({ length: 101 }, (_, n) => `${n}`), reason };
    expect((await caller.call('/deliveries/replay', tooMany)).status).to.equal(400);
  });

  it('counts and replays all dead deliveries of an account once, except pings', async () => {
    const mine = [
      await waitUntilDelivered(await shop.buySuccessfully()),
      await waitUntilDelivered(await shop.buySuccessfully()),
    ];
    const deliveries = shop.stack.db.collection<StoredDelivery>('deliveries');
    const ping = {
      ...mine[0],
      _id: `ping-${mine[0]?._id ?? ''}`,
      event: 'ping',
      state: 'dead',
      orderKey: null,
    };
    await deliveries.insertOne(ping as StoredDelivery);
    const ids = mine.map(({ _id }) => _id);
    const dead = { $set: { state: 'dead', settledAt: new Date(), expireAt: null } };
    await deliveries.updateMany({ _id: { $in: ids } }, dead);
    expect(await caller.ask('countDeadDeliveries', '/deliveries/dead-count?account=buyer')).to.include({
      count: 2,
    });
    for (const filter of ['ref_id=nothing', 'to=2020-01-01']) {
      const counted = await caller.ask(
        'countDeadDeliveries',
        `/deliveries/dead-count?account=buyer&${filter}`,
      );
      expect(counted.count, filter).to.equal(0);
      expect((await caller.call(`/deliveries/dead-count?${filter}`)).status, filter).to.equal(400);
    }
    const both: { replayed: number }[] = await Promise.all(
      [1, 2].map(() =>
        caller.ask('replayDeadDeliveries', '/deliveries/replay-dead', { account: 'buyer', reason }),
      ),
    );
    expect(both.reduce((sum, { replayed }) => sum + replayed, 0)).to.equal(2);
    await caller.expectAudited(mine[0]?.accountId ?? '', 'webhook.replay-dead');
    for (const _id of ids) {
      await eventually('the replays', () => deliveries.findOne({ _id, state: 'delivered', attemptCount: 2 }));
    }
    expect((await deliveries.findOne({ _id: ping._id }))?.state).to.equal('dead');
    await deliveries.deleteOne({ _id: ping._id });
    await deliveries.updateOne({ _id: ids[0] ?? '' }, dead);
    const command = await topup(['webhooks', 'replay-dead', '--reason', reason, '--json'], shop.stack.env);
    expect(command.json()).to.deep.equal({ replayed: 1, without_url: 0, left: 0 });
  });

  it('lists every URL with its health, by account and by pages', async () => {
    const { receivers } = await caller.ask('listAllReceivers', '/receivers/all');
    expect(receivers.map(({ account }: { account: string }) => account)).to.include('buyer');
    const of = await caller.ask('listAllReceivers', '/receivers/all?account=buyer');
    expect(of.next).to.equal(null);
    expect(of.receivers.length).to.be.greaterThan(0);
    for (const each of of.receivers) {
      expect(each).to.deep.include({ account: 'buyer', state: 'healthy', failures: 0 });
    }
    const accounts = shop.stack.db.collection<{ _id: string; username: string }>('accounts');
    const buyer = await accounts.findOne({ username: 'buyer' });
    const made = Array.from({ length: 30 }, (_, n) => ({
      ...buyer,
      _id: `zz-${String(n).padStart(2, '0')}`,
      username: `page-${n}`,
    }));
    await accounts.insertMany(made);
    const seen: string[] = [];
    let after = '';
    do {
      const page = await caller.ask('listAllReceivers', `/receivers/all${after}`);
      seen.push(...page.receivers.map((each: { account: string }) => each.account));
      after = page.next === null ? '' : `?receivers_after=${page.next}`;
    } while (after !== '');
    expect(seen).to.include.members(made.map(({ username }) => username));
    expect(new Set(seen).size).to.equal(
      new Set((await accounts.find({ webhookUrl: { $ne: null } }).toArray()).map((each) => each.username))
        .size,
    );
    await accounts.deleteMany({ _id: { $in: made.map(({ _id }) => _id) } });
  });

  it('pages deliveries of an account by state, reference and day', async () => {
    const id = await shop.buySuccessfully();
    await waitUntilDelivered(await shop.buySuccessfully());
    await waitUntilDelivered(id);
    const refId = (await shop.purchaseOf(id))?.refId ?? '';
    const accountId = (await shop.purchaseOf(id))?.accountId ?? '';
    const ofAccount = shop.stack.db.collection<StoredDelivery>('deliveries');
    await eventually('no delivery is due', async () => {
      return (await ofAccount.countDocuments({ accountId, state: 'due' })) === 0;
    });
    const all = await ofAccount.find({ accountId }).sort({ createdAt: -1, _id: -1 }).toArray();
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Jakarta' }).format(new Date());
    const idsWhere = (fits: (each: StoredDelivery) => boolean) => all.filter(fits).map((each) => each._id);
    for (const [filter, wanted] of [
      ['', idsWhere(() => true)],
      ['&state=delivered', idsWhere(({ state }) => state === 'delivered')],
      ['&state=held', []],
      [`&ref_id=${refId}`, idsWhere((each) => each.refId === refId)],
      [`&from=${day}&to=${day}`, idsWhere(() => true)],
      ['&to=2020-01-01', []],
    ] as const) {
      const ids = await caller.idsOf(
        'listDeliveries',
        `/deliveries?account=buyer&limit=2${filter}`,
        'deliveries',
      );
      expect(ids, filter).to.deep.equal(wanted);
    }
    expect(all.length).to.be.greaterThan(2);
    for (const filter of ['state=held', `ref_id=${refId}`, `from=${day}`, 'after=1-x']) {
      const answer = await caller.call(`/deliveries?${filter}`);
      expect(answer.status, filter).to.equal(400);
      expect(JSON.parse(answer.text).errors[0].field).to.equal('account');
    }
  });

  it('enables a disabled receiver with a reason; held deliveries stay held', async () => {
    const first = await waitUntilDelivered(await shop.buySuccessfully());
    const account = await shop.stack.db
      .collection<{ _id: string; username: string }>('accounts')
      .findOne({ _id: first.accountId });
    const username = account?.username ?? '';
    await shop.disableReceiverOf(username);
    const heldOf = await shop.buySuccessfully();
    const deliveries = shop.stack.db.collection<StoredDelivery>('deliveries');
    const heldDelivery = await eventually('the delivery is held', () =>
      deliveries.findOne({ ...deliveriesOf(heldOf), receiverId: first.receiverId, state: 'held' }),
    );
    const { receivers: listed } = await caller.ask('listReceivers', '/receivers');
    expect(listed).to.have.length(1);
    expect(listed[0]).to.include({ account: username, state: 'disabled', disabled_because: 'failing' });

    const path = `/accounts/${username}/enable-webhooks`;
    const { receivers: all } = await caller.ask('listAllReceivers', '/receivers/all');
    expect(all[0], 'the worst URL first').to.include({ account: username, state: 'disabled', failures: 40 });
    const enabled = await caller.ask('enableWebhooks', path, { reason });
    expect(enabled.held).to.be.at.least(1);
    await caller.expectAudited(first.accountId, 'webhook.enable');
    expect((await caller.ask('listReceivers', '/receivers')).receivers).to.deep.equal([]);
    await waitUntilDelivered(await shop.buySuccessfully());
    expect((await deliveries.findOne({ _id: heldDelivery._id }))?.state).to.equal('held');
    await caller.ask('replayDelivery', `/deliveries/${heldDelivery._id}/replay`, { reason });
    await waitUntilDelivered(heldOf);
  });
});

interface StoredDelivery {
  _id: string;
  accountId: string;
  receiverId: string;
  refId: string | null;
  orderKey: string | null;
  channel: string;
  event: string;
  url: string;
  state: string;
  attemptCount: number;
  settledAt: Date | null;
  expireAt: Date | null;
  createdAt: Date;
}
