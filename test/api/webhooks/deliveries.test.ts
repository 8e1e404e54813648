import { expect } from 'chai';
import type { Role } from '../../../src/accounts/account.model.js';
import { enableWebhooksFor } from '../../../src/api/webhooks/endpoints.js';
import {
  listDeliveriesFor,
  replayDeliveriesFor,
  replayDeliveryFor,
} from '../../../src/api/webhooks/deliveries.js';
import { rotateSecretFor } from '../../../src/api/webhooks/rotate-secret.js';
import { testWebhookFor } from '../../../src/api/webhooks/test-events.js';
import {
  deliveries,
  type Delivery,
  type DeliveryState,
} from '../../../src/webhooks/deliver/delivery.model.js';
import { buildDelivery } from '../../../src/webhooks/new-delivery.js';
import { uniqueRef } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { storeDeliveries } from '../../webhooks/support/accounts.js';
import { startReceiver, type TestReceiver } from '../../webhooks/support/receiver.js';
import { useApi, type ApiAccount } from '../support/api.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';

for (const role of ['buyer', 'seller'] as const) {
  describe(`/api/${role}/webhooks`, () => {
    const api = useApi();
    const root = `/api/${role}/webhooks`;
    let receiver: TestReceiver;

    before(async () => {
      receiver = await startReceiver();
    });
    after(() => receiver.close());

    const withUrl = (of: Role = role) => api.newAccount(of, { webhookUrl: `${receiver.url}/hook` });

    /** Stores a delivery of the account in the given state, after its first attempt. */
    async function delivery({ account }: ApiAccount, state: DeliveryState, over: Partial<Delivery> = {}) {
      const url = account.webhookUrl ?? 'https://shop.example/gone';
      const id = uniqueRef('delivery');
      const row = buildDelivery({
        id,
        accountId: account._id,
        channel: 'webhook',
        url,
        refId: id,
        payload: { id },
        event: role === 'buyer' ? 'transaction.success' : 'settlement.completed',
      });
      const settled = state === 'due' ? {} : { state, nextAttemptAt: null, settledAt: new Date() };
      const [stored] = await storeDeliveries([{ ...row, ...settled, ...over }]);
      return stored as Delivery;
    }
    const stateOf = async (id: string) => (await deliveries.findOne({ _id: id }))?.state;

    it('GET deliveries by event uses its own index and examines only matching documents', async () => {
      const account = await withUrl();
      for (let n = 0; n < 30; n++) {
        await delivery(account, 'delivered', n === 7 ? { event: 'config.updated' } : {});
      }
      const plan = await deliveries
        .find({ accountId: account.account._id, event: 'config.updated' })
        .sort({ createdAt: -1, _id: -1 })
        .explain('executionStats');
      expect(JSON.stringify(plan)).to.include('"account_event_newest"');
      const { totalDocsExamined } = plan['executionStats'] as { totalDocsExamined: number };
      expect(totalDocsExamined).to.equal(1);
    });

    it('GET deliveries: newest first, by status, event and ref_id, with pages', async () => {
      const account = await withUrl();
      const at = Date.now();
      const rows = [];
      for (const [n, state] of (['dead', 'delivered', 'held', 'dropped'] as const).entries()) {
        rows.push(await delivery(account, state, { createdAt: new Date(at - n * 1_000) }));
      }
      const list = async (query: string) => {
        const answer = await api.call({ path: `${root}/deliveries${query}`, key: account.key });
        expectSuccess(answer, listDeliveriesFor(role));
        return (answer.body.data.deliveries as { id: string }[]).map((each) => each.id);
      };
      const ids = rows.map((each) => each._id);
      expect(await list('')).to.deep.equal(ids);
      expect(await list('?status=held')).to.deep.equal(ids.slice(2, 3));
      expect(await list(`?ref_id=${String(ids[1])}`)).to.deep.equal(ids.slice(1, 2));
      expect(await list('?limit=1&page=2')).to.deep.equal(ids.slice(1, 2));
      expect(await list('?limit=100&page=2')).to.deep.equal([]);
      expect(await list('?event=ping')).to.deep.equal([]);
    });

    it('POST replay makes a delivery due; unknown: 404; superseded or without URL: 409', async () => {
      const account = await withUrl();
      const replay = (id: string, key = account.key) =>
        api.call({ method: 'POST', path: `${root}/deliveries/${id}/replay`, key });
      for (const state of ['delivered', 'dead', 'held'] as const) {
        const { _id } = await delivery(account, state);
        const answer = await replay(_id);
        expectSuccess(answer, replayDeliveryFor(role));
        expect(answer.body.data).to.include({ id: _id, status: 'due' });
      }
      expectFailure(await replay('no-such-delivery'), { status: 404, code: '02' });
      const dropped = await delivery(account, 'dropped');
      expectFailure(await replay(dropped._id), { status: 409, code: '01', message: /newer/ });
      expect(await stateOf(dropped._id)).to.equal('dropped');
      const order = `purchase-${account.account._id}`;
      const first = await delivery(account, 'delivered', { orderKey: order, orderRank: 1 });
      const last = await delivery(account, 'delivered', { orderKey: order, orderRank: 2 });
      expectFailure(await replay(first._id), { status: 409, code: '01', reason: 'delivery_superseded' });
      expect(await stateOf(first._id), 'state of the superseded delivery').to.equal('delivered');
      expectSuccess(await replay(last._id), replayDeliveryFor(role));
      const without = await api.newAccount(role);
      const homeless = await delivery(without, 'dead');
      expectFailure(await replay(homeless._id, without.key), { status: 409, code: '01', message: /URL/ });
      expect(await stateOf(homeless._id)).to.equal('dead');
    });

    it('POST replay of many replays only deliveries of the status since a time or day', async () => {
      const account = await withUrl();
      const on = (time: string) => ({ createdAt: new Date(time) });
      const early = await delivery(account, 'dead', on('2024-02-29T23:59:59.999+07:00'));
      const first = await delivery(account, 'dead', on('2024-03-01T00:00:00.000+07:00'));
      const held = await delivery(account, 'held', on('2024-03-02T00:00:00.000+07:00'));
      const replay = async (since: string, status: string) => {
        const body = { since, status };
        const answer = await api.call({ path: `${root}/replay`, key: account.key, body });
        expectSuccess(answer, replayDeliveriesFor(role));
        return answer.body.data.replayed as number;
      };
      expect(await replay('2024-03-01T00:00:00.001+07:00', 'dead')).to.equal(0);
      expect(await replay('2024-03-01', 'dead'), 'replayed since a business day').to.equal(1);
      expect(await stateOf(early._id)).to.equal('dead');
      expect(await stateOf(first._id)).to.equal('due');
      expect(await replay('2024-03-01', 'held')).to.equal(1);
      expect(await stateOf(held._id)).to.equal('due');
    });

    it('POST test without a URL: 409/01 and nothing is stored', async () => {
      const without = await api.newAccount(role);
      const refused = await api.call({ method: 'POST', path: `${root}/test`, key: without.key });
      expectFailure(refused, { status: 409, code: '01', message: /webhook_url/ });
      expect(await deliveries.countDocuments({ accountId: without.account._id })).to.equal(0);
    });

    it('POST test during another test: 429/06 with Retry-After', async () => {
      const account = await withUrl();
      const test = () => api.call({ method: 'POST', path: `${root}/test`, key: account.key });
      const releases: (() => void)[] = [];
      receiver.behave((_request, response) => releases.push(() => response.end('{"status":"received"}')));
      const first = test();
      await eventually('the ping arrives', () => releases.length > 0);
      expectFailure(await test(), { status: 429, code: '06' });
      receiver.behave((_request, response) => response.end('{"status":"received"}'));
      releases.forEach((release) => release());
      expectSuccess(await first, testWebhookFor(role));
      expectSuccess(await test(), testWebhookFor(role));
    });

    it('POST enable returns the number of held deliveries', async () => {
      const account = await withUrl();
      await delivery(account, 'held');
      const answer = await api.call({ method: 'POST', path: `${root}/enable`, key: account.key });
      expectSuccess(answer, enableWebhooksFor(role));
      expect(answer.body.data).to.deep.equal({ webhook_status: 'enabled', held: 1 });
    });

    it('POST webhook-secret/rotate: concurrent calls return the new secret or 409', async () => {
      const account = await api.newAccount(role);
      const rotate = () =>
        api.call({ method: 'POST', path: `/api/${role}/api/webhook-secret/rotate`, key: account.key });
      const secretShown = async () =>
        (await api.call({ path: `/api/${role}/api/config`, key: account.key })).body.data
          .webhook_secret as string;
      await eventually('two rotations overlap', async () => {
        const answers = await Promise.all(Array.from({ length: 5 }, rotate));
        const [good, refused] = [200, 409].map((status) => answers.filter((each) => each.status === status));
        expect((good?.length ?? 0) + (refused?.length ?? 0)).to.equal(5);
        good?.forEach((each) => expectSuccess(each, rotateSecretFor(role)));
        expect(good?.map((each) => each.body.data.webhook_secret)).to.include(await secretShown());
        refused?.forEach((each) => expectFailure(each, { status: 409, code: '01' }));
        return refused?.length !== 0;
      });
    });
  });
}
