import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import type { Role } from '../../src/accounts/account.model.js';
import { describedInterface } from '../../src/api/openapi/document.js';
import { testableEvents, testEndpointFor, testWebhookFor } from '../../src/api/webhooks/test-events.js';
import { deliveries } from '../../src/webhooks/deliver/delivery.model.js';
import { WalletModel } from '../../src/money/wallets/wallet.model.js';
import { PurchaseModel } from '../../src/purchases/purchase.model.js';
import { useApi } from '../api/support/api.js';
import { expectFailure, expectSuccess } from '../api/support/expect-answer.js';
import { problemsOf } from '../support/json-schema.js';
import { sendResponse, acceptRequest, startReceiver, type TestReceiver } from './support/receiver.js';

for (const role of ['buyer', 'seller'] as const satisfies Role[]) {
  describe(`test events of a ${role}`, () => {
    const api = useApi();
    const path = `/api/${role}/webhooks/test`;
    let receiver: TestReceiver;
    before(async () => {
      receiver = await startReceiver();
    });
    after(() => receiver.close());
    beforeEach(() => receiver.behave(acceptRequest));

    const account = () => api.newAccount(role, { webhookUrl: `${receiver.url}/hook` });
    const lastReceived = () => {
      const last = receiver.received.at(-1);
      if (!last) {
        throw new Error('nothing came');
      }
      return last;
    };

    for (const event of testableEvents[role]) {
      it(`${event}: sent once, signed, valid against its schema, with a new subject`, async () => {
        const { key, webhookSecret, account: owner } = await account();
        const subjects = new Set<string>();
        for (let time = 0; time < 2; time++) {
          const sent = await api.call({ method: 'POST', path, key, body: { event } });
          expectSuccess(sent, testWebhookFor(role));
          expect(sent.body.data).to.include({ delivered: true });
          const { raw, headers } = lastReceived();
          expect(headers['x-event']).to.equal(event);
          new Webhook(webhookSecret).verify(raw, headers);
          const body = JSON.parse(raw) as { event: string; data: Record<string, unknown> };
          expect(body.event).to.equal(event);
          const { post } = describedInterface().webhooks[event] ?? {};
          const schema = post?.requestBody?.content['application/json']?.schema;
          expect(problemsOf(schema ?? {}, body)).to.deep.equal([]);
          const { ref_id: refId, transaction_id: id, settlement_id: settlement } = body.data;
          if (typeof refId === 'string') {
            expect(refId).to.match(/^test-/);
          }
          const named = [refId, id, settlement].filter((each) => typeof each === 'string');
          named.forEach((each) => expect(subjects.has(each), 'known subject').to.equal(false));
          named.forEach((each) => subjects.add(each));
        }
        // The event is sent, but apart from the delivery rows the database does not change.
        expect(await PurchaseModel.countDocuments({ accountId: owner._id })).to.equal(0);
        expect(await WalletModel.findById(owner._id).lean()).to.include({ balance: 0 });
        expect(await deliveries.countDocuments({ accountId: owner._id })).to.equal(2);
      });
    }

    it('does not retry a refused test event', async () => {
      const { key, account: owner } = await account();
      receiver.behave((_request, response) => sendResponse(response, 500));
      const event = testableEvents[role][0];
      const sent = await api.call({ method: 'POST', path, key, body: { event } });
      expect(sent.body.data.delivered).to.equal(false);
      const [row] = await deliveries.find({ accountId: owner._id }).toArray();
      expect(row).to.include({ state: 'dead', event, nextAttemptAt: null, attemptCount: 1 });
    });

    it("sends to the named endpoint whatever its filter, never to another account's", async () => {
      const { key } = await account();
      const body = { url: `${receiver.url}/books`, events: ['webhook.disabled'] };
      const made = await api.call({ method: 'POST', path: `/api/${role}/webhooks`, key, body });
      const one = `/api/${role}/webhooks/${String(made.body.data.id)}/test`;
      const event = testableEvents[role][0];
      const sent = await api.call({ method: 'POST', path: one, key, body: { event } });
      expectSuccess(sent, testEndpointFor(role));
      expect(lastReceived()).to.include({ path: '/books' });
      new Webhook(String(made.body.data.secret)).verify(lastReceived().raw, lastReceived().headers);
      const before = receiver.received.length;
      const stranger = await account();
      expectFailure(await api.call({ method: 'POST', path: one, key: stranger.key, body: { event } }), {
        status: 404,
        code: '02',
      });
      expect(receiver.received.length).to.equal(before);
    });

    it('accepts only events of the role', async () => {
      const { key } = await account();
      const others = role === 'buyer' ? 'settlement.completed' : 'transaction.success';
      for (const event of [others, 'callback.wallet', 'transaction.*', 7, null]) {
        const refused = await api.call({ method: 'POST', path, key, body: { event } });
        expectFailure(refused, { status: 400, code: '01', field: 'event' });
      }
    });
  });
}
