/**
 * The number of concurrent requests to one receiver. It adapts to what the receiver handles, within
 * the account's limit.
 */
import { expect } from 'chai';
import { limits } from '../../config/limits.js';
import { AccountModel } from '../../src/accounts/account.model.js';
import { defaultEndpointSettings } from '../../src/accounts/webhook-endpoint.js';
import { buildPurchaseDeliveries } from '../../src/purchases/purchase-notifications.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { createDeliverer } from '../../src/webhooks/deliver/deliver-due.js';
import { deliveries, type Delivery } from '../../src/webhooks/deliver/delivery.model.js';
import { getReceiverId } from '../../src/webhooks/new-delivery.js';
import { adjustPace } from '../../src/webhooks/deliver/in-flight-limits.js';
import { createSender } from '../../src/webhooks/deliver/send-request.js';
import { createUrlGuard } from '../../src/webhooks/deliver/url-guard.js';
import { newAccount, someTransaction, storeDeliveries, type TestAccount } from './support/accounts.js';
import { useDatabase } from './support/database.js';
import {
  sendResponse,
  acceptRequest,
  startReceiver,
  type Behaviour,
  type TestReceiver,
} from './support/receiver.js';

const answerMs = 20;

describe('pace of a receiver', () => {
  useDatabase();
  const sender = createSender(createUrlGuard({ allowPrivate: true }), { totalTimeoutMs: 1_500 });
  // Two deliverers, as two processes with one deliverer each would have.
  const [first, second] = [createDeliverer(sender), createDeliverer(sender)];
  let receiver: TestReceiver;
  let client: TestAccount;
  let url: string;
  let receiverId: string;

  beforeEach(async () => {
    receiver = await startReceiver(withDelay(acceptRequest));
    url = `${receiver.url}/hook`;
    client = await newAccount({ webhookUrl: url });
    receiverId = getReceiverId(client.account._id, url);
  });
  afterEach(async () => {
    await Promise.all([first.drain(), second.drain()]);
    await deliveries.deleteMany({ receiverId });
    await receiver.close();
  });
  after(() => sender.close());

  /** Sets the limit as PATCH …/webhooks/default does. */
  async function limitTo(inFlightLimit: number | null): Promise<void> {
    const { _id } = client.account;
    await writeAndInvalidate([AccountModel], [_id], (accounts) =>
      accounts.updateOne(
        { _id },
        { $set: { webhookSettings: { ...defaultEndpointSettings, inFlightLimit } } },
      ),
    );
  }

  function withDelay(behaviour: Behaviour): Behaviour {
    return (request, response) => void setTimeout(() => behaviour(request, response), answerMs);
  }

  async function storeEvents(count: number): Promise<Delivery[]> {
    const { account } = client;
    return storeDeliveries(
      Array.from({ length: count }, () => someTransaction({ accountId: account._id })).flatMap((purchase) =>
        buildPurchaseDeliveries({ purchase, buyer: account, seller: null, event: 'success' }),
      ),
    );
  }

  async function deliverAll(...deliverers: (typeof first)[]): Promise<void> {
    while ((await deliveries.findOne({ receiverId, state: 'due' })) !== null) {
      for (const deliverer of deliverers) {
        await deliverer.deliverDue(receiverId);
      }
    }
    await Promise.all(deliverers.map((each) => each.drain()));
  }

  const paceNow = () => adjustPace(receiverId, limits.inFlightDefault, { good: 0 });
  const paced = (pace: number) => adjustPace(receiverId, limits.inFlightDefault, { good: pace * pace });

  it('grows with good responses up to the limit, and every event arrives once', async () => {
    const rows = await storeEvents(700);
    const startedMs = performance.now();
    await deliverAll(first);
    const tookMs = performance.now() - startedMs;
    // eslint-disable-next-line no-console -- the figure is what this test is for
    console.log(
      `      ${rows.length} events in ${Math.round(tookMs)} ms, up to ${receiver.mostOpen()} at once`,
    );
    expect(receiver.mostOpen()).to.be.within(2 * limits.inFlightStart, limits.inFlightDefault);
    expect(receiver.received.map((each) => each.headers['webhook-id'])).to.have.members(
      rows.map(({ _id }) => _id),
    );
  });

  it('grows also if few responses fit into a turn', async () => {
    receiver.behave((request, response) => void setTimeout(() => acceptRequest(request, response), 300));
    await storeEvents(50);
    await deliverAll(first);
    expect(receiver.mostOpen()).to.be.at.least(limits.inFlightStart + 2);
    expect(await paceNow()).to.be.at.least(limits.inFlightStart + 2);
  });

  it('does not grow with a few events at a time', async () => {
    for (let round = 0; round < 3; round++) {
      await storeEvents(limits.inFlightStart);
      await deliverAll(first);
    }
    expect(receiver.mostOpen()).to.be.at.most(limits.inFlightStart);
    expect(await paceNow()).to.equal(limits.inFlightStart);
  });

  it('applies to all processes together', async () => {
    expect(await paced(12)).to.be.within(12, limits.inFlightDefault);
    receiver.behave((request, response) => void setTimeout(() => acceptRequest(request, response), 300));
    await storeEvents(80);
    await deliverAll(first, second);
    expect(receiver.mostOpen()).to.be.within(12, limits.inFlightDefault);
  });

  it('is halved once a round by 429 and 5xx, not by other 4xx', async () => {
    const before = await paced(20);
    receiver.behave(withDelay((_request, response) => sendResponse(response, 400)));
    await storeEvents(1);
    await first.deliverDue(receiverId);
    expect(await paceNow()).to.equal(before);
    receiver.behave(withDelay((_request, response) => sendResponse(response, 429)));
    await storeEvents(before);
    await first.deliverDue(receiverId);
    expect(await paceNow()).to.equal(Math.floor(before / 2));
  });

  it('restarts after a timeout of the receiver', async () => {
    await paced(20);
    receiver.behave(() => undefined);
    await storeEvents(1);
    await first.deliverDue(receiverId);
    await first.drain();
    expect(await paceNow()).to.equal(limits.inFlightStart);
  });

  it("respects the account's limit, down to one request at a time", async () => {
    await limitTo(1);
    await storeEvents(30);
    await deliverAll(first);
    expect(receiver.mostOpen()).to.equal(1);
    await limitTo(60);
    await storeEvents(800);
    await deliverAll(first);
    expect(receiver.mostOpen()).to.be.within(limits.inFlightDefault + 1, 60);
    await limitTo(null);
    await paced(100);
    receiver.behave(withDelay(acceptRequest));
    await storeEvents(200);
    await deliverAll(first);
    expect(receiver.mostOpen()).to.be.at.most(limits.inFlightDefault);
  });
});
