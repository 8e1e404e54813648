import { expect } from 'chai';
import { setClock } from '../../src/shared/clock.js';
import { createDeliverer } from '../../src/webhooks/deliver/deliver-due.js';
import { jitterMax, computeNextAttemptMs, retrySchedule } from '../../src/webhooks/deliver/retry-schedule.js';
import { deliveries, type Delivery } from '../../src/webhooks/deliver/delivery.model.js';
import { bySystem } from '../../src/audit/record-audit.js';
import { replayDeliveries, replayDelivery } from '../../src/webhooks/replay/replay-deliveries.js';
import { createSender } from '../../src/webhooks/deliver/send-request.js';
import { sweepDeliveries } from '../../src/webhooks/deliver/delivery-jobs.js';
import { createUrlGuard } from '../../src/webhooks/deliver/url-guard.js';
import { enableWebhooks, getWebhookStatus } from '../../src/webhooks/endpoints/endpoint-status.js';
import { newAccount, storeSuccess, type TestAccount } from './support/accounts.js';
import { useDatabase } from './support/database.js';
import { sendResponse, acceptRequest, startReceiver, type TestReceiver } from './support/receiver.js';

const hourMs = 3_600_000;

describe('webhooks through an outage, on a test clock', () => {
  useDatabase();
  const sender = createSender(createUrlGuard({ allowPrivate: true }));
  const deliverer = createDeliverer(sender);
  let receiver: TestReceiver;
  let client: TestAccount;
  let clockMs: number;

  beforeEach(async () => {
    clockMs = Date.now();
    setClock(() => clockMs);
    receiver = await startReceiver();
    client = await newAccount({ webhookUrl: `${receiver.url}/hook` });
  });
  afterEach(async () => {
    await deliverer.drain();
    setClock(null);
    await receiver.close();
  });
  after(() => sender.close());

  const event = () => storeSuccess(client.account);

  async function runTurn(row: Delivery): Promise<void> {
    await deliverer.deliverDue(row.receiverId);
    await deliverer.drain();
  }

  async function read(id: string): Promise<Delivery> {
    const row = await deliveries.findOne({ _id: id });
    if (!row) {
      throw new Error(`no row ${id}`);
    }
    return row;
  }

  /**
   * Moves the clock from one due time to the next until `endMs`, and adds an event every `everyMs`
   * milliseconds.
   */
  async function deliverUntil(first: Delivery, endMs: number, everyMs = Infinity): Promise<Delivery[]> {
    const rows = [first];
    let nextEventMs = clockMs + everyMs;
    for (;;) {
      const due = await deliveries.findOne(
        { receiverId: first.receiverId, state: 'due' },
        { sort: { nextAttemptAt: 1 } },
      );
      const nextMs = Math.min(due?.nextAttemptAt?.getTime() ?? Infinity, nextEventMs);
      if (nextMs > endMs) {
        clockMs = endMs;
        return rows;
      }
      clockMs = Math.max(clockMs, nextMs);
      if (nextMs === nextEventMs) {
        rows.push(await event());
        nextEventMs += everyMs;
      }
      await runTurn(first);
    }
  }

  function expectSchedule(row: Delivery, attempts: number): void {
    const times = row.attempts.map((attempt) => attempt.at.getTime());
    expect(times).to.have.length(attempts);
    expect(times[0]).to.equal(row.createdAt.getTime());
    for (let n = 1; n < times.length; n++) {
      const waitedMs = (times[n] ?? 0) - (times[n - 1] ?? 0);
      const slotMs = retrySchedule[n]?.waitMs ?? 0;
      expect(waitedMs, `wait before attempt ${n + 1}`).to.be.within(slotMs, slotMs * (1 + jitterMax) + 1);
    }
  }

  it('sends a due row in the requested turn, even with a clock slightly behind', async () => {
    const row = await event();
    clockMs -= 500;
    await runTurn(row);
    expect(await read(row._id)).to.include({ state: 'delivered' });
    await replayDelivery(client.account, row._id, bySystem);
    clockMs -= 500;
    await runTurn(row);
    expect(await read(row._id)).to.include({ state: 'delivered', attemptCount: 2 });
  });

  it('48 h down: every attempt is on time, and the first one afterwards arrives', async () => {
    receiver.behave((_request, response) => sendResponse(response, 503));
    const row = await event();
    const startMs = clockMs;
    await deliverUntil(row, startMs + 48 * hourMs);
    const before = await read(row._id);
    expect(before.state).to.equal('due');
    expectSchedule(before, before.attempts.length);
    expect(before.attempts.length).to.be.within(9, 10);
    receiver.behave(acceptRequest);
    await deliverUntil(row, startMs + 100 * hourMs);
    const after = await read(row._id);
    expect(after).to.include({ state: 'delivered', attemptCount: before.attemptCount + 1 });
    expectSchedule(after, after.attemptCount);
    expect(await getWebhookStatus(client.account)).to.equal('enabled');
  });

  it('the sweep finds a retry when it is due, and not earlier', async () => {
    receiver.behave((_request, response) => sendResponse(response, 500));
    const row = await event();
    await runTurn(row);
    const { nextAttemptAt } = await read(row._id);
    clockMs = (nextAttemptAt?.getTime() ?? 0) - 1;
    await runTurn(row);
    expect((await read(row._id)).attemptCount).to.equal(1);
    clockMs += 1;
    expect(await sweepDeliveries()).to.be.at.least(1);
    await runTurn(row);
    expect((await read(row._id)).attemptCount).to.equal(2);
  });

  it('6 days down: warns, disables and holds; enabling and replay deliver everything', async () => {
    receiver.behave((_request, response) => sendResponse(response, 500));
    const first = await event();
    const startMs = clockMs;
    const rows = await deliverUntil(first, startMs + 23 * hourMs, 12 * hourMs);
    expect(await getWebhookStatus(client.account)).to.equal('enabled');
    rows.push(...(await deliverUntil(first, startMs + 48 * hourMs, 12 * hourMs)).slice(1));
    expect(await getWebhookStatus(client.account)).to.equal('failing');
    rows.push(...(await deliverUntil(first, startMs + 119 * hourMs, 12 * hourMs)).slice(1));
    const dead = await read(first._id);
    expect(dead.state).to.equal('dead');
    expectSchedule(dead, retrySchedule.length);
    expect(await getWebhookStatus(client.account)).to.equal('failing');

    rows.push(...(await deliverUntil(first, startMs + 144 * hourMs, 4 * hourMs)).slice(1));
    expect(await getWebhookStatus(client.account)).to.equal('disabled');
    const requests = receiver.received.length;
    const late = await event();
    await runTurn(late);
    expect((await read(late._id)).state).to.equal('held');
    expect(receiver.received).to.have.length(requests);
    rows.push(late);

    receiver.behave(acceptRequest);
    const { held } = await enableWebhooks(client.account);
    expect(held).to.be.at.least(5);
    expect(await getWebhookStatus(client.account)).to.equal('enabled');
    await runTurn(first);
    expect(receiver.received).to.have.length(requests);
    const since = new Date(startMs);
    expect(await replayDeliveries(client.account, { since, state: 'held' }, bySystem)).to.equal(held);
    await replayDeliveries(client.account, { since, state: 'dead' }, bySystem);
    // A row that waited during the outage is due at its own time. That is at most one maximum retry
    // delay away.
    const longestMs = Math.max(...retrySchedule.map(({ waitMs }) => waitMs)) * (1 + jitterMax);
    await deliverUntil(first, clockMs + longestMs);
    for (const row of rows) {
      const { state, attempts: made } = await read(row._id);
      expect(state, `${row._id} ${JSON.stringify(made.at(-1))}`).to.equal('delivered');
    }
    const attempts = receiver.received.filter((each) => each.headers['webhook-id'] === first._id);
    expect(attempts.map((each) => Number(each.headers['x-attempt']))).to.deep.equal(
      Array.from({ length: 13 }, (_each, index) => index + 1),
    );
  });

  it('honours Retry-After from one to two times the normal delay', () => {
    const at = (retryAfterMs: number | null, random = 0) =>
      computeNextAttemptMs({
        attemptsMade: 2,
        startedAtMs: 0,
        nowMs: 10_000,
        retryAfterMs,
        random: () => random,
      });
    expect(at(null)).to.equal(40_000);
    expect(at(null, 1)).to.equal(46_000);
    expect(at(1_000)).to.equal(40_000);
    expect(at(50_000)).to.equal(60_000);
    expect(at(86_400_000)).to.equal(70_000);
  });
});
