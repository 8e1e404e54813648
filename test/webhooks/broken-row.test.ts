/**
 * A delivery row with invalid data ends as dead, where an operator sees it. Other rows are still
 * delivered.
 */
import { expect } from 'chai';
import type { UpdateFilter } from 'mongodb';
import { buildPurchaseDeliveries } from '../../src/purchases/purchase-notifications.js';
import { setClock } from '../../src/shared/clock.js';
import { createDeliverer } from '../../src/webhooks/deliver/deliver-due.js';
import { retrySchedule } from '../../src/webhooks/deliver/retry-schedule.js';
import { deliveries, type Delivery } from '../../src/webhooks/deliver/delivery.model.js';
import { createSender } from '../../src/webhooks/deliver/send-request.js';
import { createUrlGuard } from '../../src/webhooks/deliver/url-guard.js';
import { newAccount, someTransaction, storeDeliveries } from './support/accounts.js';
import { useDatabase } from './support/database.js';
import { sendResponse, startReceiver } from './support/receiver.js';

describe('deliveries with invalid stored data', () => {
  useDatabase();
  const sender = createSender(createUrlGuard({ allowPrivate: true }));
  const deliverer = createDeliverer(sender);
  after(() => sender.close());
  afterEach(() => setClock(null));

  const read = (id: string) => deliveries.findOne({ _id: id }) as Promise<Delivery>;

  const broken: Record<string, { update: UpdateFilter<Delivery>; requests: number }> = {
    'an invalid body': { update: { $set: { body: 5 as never } }, requests: 0 },
    'a missing start of its schedule': { update: { $unset: { scheduleStartedAt: 1 } }, requests: 1 },
  };
  for (const [what, { update, requests }] of Object.entries(broken)) {
    it(`${what}: dead by the end of the schedule, while other rows are delivered at once`, async () => {
      const receiver = await startReceiver();
      try {
        const { account } = await newAccount({ webhookUrl: `${receiver.url}/hook` });
        const event = async () => {
          const purchase = someTransaction({ accountId: account._id });
          const [row] = await storeDeliveries(
            buildPurchaseDeliveries({ purchase, buyer: account, seller: null, event: 'success' }),
          );
          return row as Delivery;
        };
        const bad = await event();
        await deliveries.updateOne({ _id: bad._id }, update);
        receiver.behave(({ headers }, response) =>
          sendResponse(response, headers['webhook-id'] === bad._id ? 500 : 200),
        );
        const good = await event();
        let clockMs = Date.now();
        setClock(() => clockMs);
        for (let turns = 0; turns <= retrySchedule.length && (await read(bad._id)).state === 'due'; turns++) {
          clockMs = Math.max(clockMs, (await read(bad._id)).nextAttemptAt?.getTime() ?? 0);
          await deliverer.deliverDue(bad.receiverId);
          await deliverer.drain();
          expect((await read(good._id)).state).to.equal('delivered');
        }
        const { state, leaseToken, attempts } = await read(bad._id);
        expect({ state, leaseToken }).to.deep.equal({ state: 'dead', leaseToken: null });
        expect(attempts.at(-1)?.error).to.equal('an internal error of this service; its operator can see it');
        const sent = receiver.received.filter(({ headers }) => headers['webhook-id'] === bad._id);
        expect(sent).to.have.length(requests);
      } finally {
        await receiver.close();
      }
    });
  }
});
