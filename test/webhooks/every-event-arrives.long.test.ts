import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { createRandom } from '../../scripts/support/random.js';
import { runInTransaction } from '../../src/database/mongo.js';
import { PurchaseModel, type Purchase } from '../../src/purchases/purchase.model.js';
import { announceDeliveries } from '../../src/webhooks/deliver/delivery-jobs.js';
import { deliveries } from '../../src/webhooks/deliver/delivery.model.js';
import { insertDeliveries, getReceiverId } from '../../src/webhooks/new-delivery.js';
import { receivers } from '../../src/webhooks/receivers/receiver.model.js';
import { buildPurchaseDeliveries, type PurchaseEvent } from '../../src/purchases/purchase-notifications.js';
import { eventually } from '../support/eventually.js';
import { sizes } from '../support/sizes.js';
import { startProgram, type RunningProgram } from '../support/start-program.js';
import { newAccount, someTransaction, type TestAccount } from './support/accounts.js';
import { useDatabase } from './support/database.js';
import { sendResponse, startReceiver, type Received, type TestReceiver } from './support/receiver.js';

const { events, kills, timeoutMs, limitMs } = sizes.everyEvent;
const accounts = 100;
const atOnce = 20;

/** The requests for one event that the client's servers received. */
interface EventRequests {
  requests: number;
  accepted: number;
  bodies: Set<string>;
}

describe(`${events.toLocaleString('en')} events with 30 % failing responses, 5 % hanging ones and killed workers`, function () {
  this.timeout(limitMs);
  useDatabase();
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
  const random = createRandom(seed);
  const seen = new Map<string, EventRequests>();
  /** The transactions whose final event was accepted by the receiver. */
  const finished = new Set<string>();
  const wrong: string[] = [];
  let receiver: TestReceiver;
  let clients: TestAccount[];
  const workers: RunningProgram[] = [];

  before(async () => {
    receiver = await startReceiver((request, response) => {
      void respond(request, response);
    });
    clients = [];
    for (let index = 0; index < accounts; index++) {
      clients.push(await newAccount({ webhookUrl: `${receiver.url}/client-${index}` }));
    }
  });
  after(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await receiver.close();
  });

  const startWorker = async (kind: string) => {
    const worker = await startProgram('workers/run.js', [kind], {
      ...process.env,
      LOG_LEVEL: 'error',
      WEBHOOK_TIMEOUT_MS: String(timeoutMs),
    });
    workers.push(worker);
    return worker;
  };

  /**
   * Acts as the client's server. It checks each event against the database and then responds at
   * random.
   */
  async function respond(request: Received, response: ServerResponse): Promise<void> {
    const id = request.headers['webhook-id'] ?? '';
    const { event, data } = JSON.parse(request.raw) as {
      event: string;
      data: { transaction_id: string; status: string };
    };
    const entry = seen.get(id) ?? { requests: 0, accepted: 0, bodies: new Set() };
    seen.set(id, entry);
    entry.requests += 1;
    entry.bodies.add(request.raw);
    const stored = await PurchaseModel.findById(data.transaction_id).lean<Purchase>();
    if (!stored || (event !== 'transaction.pending' && stored.status.toLowerCase() !== data.status)) {
      wrong.push(
        `${event} of ${data.transaction_id} came, the transaction is ${stored?.status ?? 'missing'}`,
      );
    }
    if (event === 'transaction.pending' && finished.has(data.transaction_id)) {
      wrong.push(`pending of ${data.transaction_id} came after its result`);
    }
    const draw = random();
    if (draw < 0.05) {
      return;
    }
    if (draw < 0.35) {
      sendResponse(response, 500);
      return;
    }
    entry.accepted += 1;
    if (event !== 'transaction.pending') {
      finished.add(data.transaction_id);
    }
    sendResponse(response, 200, { status: 'received' });
  }

  /** Writes a transaction and its event in one database transaction. */
  async function write(client: TestAccount, transaction: Purchase, kind: PurchaseEvent, fails: boolean) {
    const rows = buildPurchaseDeliveries({
      purchase: transaction,
      buyer: client.account,
      seller: null,
      event: kind,
    });
    await runInTransaction(async (session) => {
      await PurchaseModel.replaceOne({ _id: transaction._id }, transaction, { upsert: true, session });
      await insertDeliveries(session, rows);
      if (fails) {
        throw new Error('rolled back');
      }
    }).catch((error: unknown) => {
      if (!fails) {
        throw error;
      }
    });
    await announceDeliveries(fails ? [] : rows);
    return rows.map((row) => row._id);
  }

  async function purchase(index: number): Promise<{ expected: string[]; rolledBack: string[] }> {
    const client = clients[index % accounts];
    if (!client) {
      throw new Error('no client');
    }
    const transaction = someTransaction({ accountId: client.account._id });
    if (index % 10 === 9) {
      return { expected: [], rolledBack: await write(client, transaction, 'success', true) };
    }
    if (index % 5 === 0) {
      await write(client, { ...transaction, status: 'PROCESSING', finalAt: null }, 'pending', false);
    }
    const failed = index % 3 === 0;
    const final = { ...transaction, status: failed ? ('FAILED' as const) : ('SUCCESS' as const) };
    return { expected: await write(client, final, failed ? 'failed' : 'success', false), rolledBack: [] };
  }

  it('all arrive with stable ids, in order, and duplicates only after lost responses', async () => {
    const [sweeper] = await Promise.all([
      startWorker('follow-up'),
      startWorker('webhooks'),
      startWorker('webhooks'),
    ]);
    // Make a failed row due immediately, because other tests cover the delays of the retry schedule
    // and of the circuit breaker. Three consecutive timeouts would open a breaker for 30 s. In
    // every fourth run, that would happen to one of 2,000 events.
    const receiverIds = clients.map(({ account }) => getReceiverId(account._id, account.webhookUrl ?? ''));
    const hurry = setInterval(() => {
      void deliveries.updateMany(
        {
          receiverId: { $in: receiverIds },
          state: 'due',
          leaseToken: null,
          attemptCount: { $gt: 0 },
          nextAttemptAt: { $gt: new Date() },
        },
        { $set: { nextAttemptAt: new Date() } },
      );
      void receivers.updateMany(
        { _id: { $in: receiverIds }, openUntil: { $gt: new Date() } },
        { $set: { openUntil: new Date() } },
      );
    }, 500);
    const expected: string[] = [];
    const rolledBack: string[] = [];
    let heldAtKills = 0;
    let killed = 0;
    const everyNth = Math.floor((events / 0.9) * (1 / (kills + 1)));
    const total = Math.ceil(events / 0.9);
    const startedMs = performance.now();
    for (let index = 0; index < total; index += atOnce) {
      const results = await Promise.all(
        Array.from({ length: Math.min(atOnce, total - index) }, (_each, offset) => purchase(index + offset)),
      );
      expected.push(...results.flatMap((result) => result.expected));
      rolledBack.push(...results.flatMap((result) => result.rolledBack));
      if (Math.floor(index / everyNth) > killed && killed < kills) {
        killed += 1;
        const victims = workers.filter((each) => each.process.exitCode === null && each !== sweeper);
        await victims[Math.floor(random() * victims.length)]?.stop('SIGKILL');
        // The receiver may have responded to a leased row before the kill.
        heldAtKills += await deliveries.countDocuments({
          receiverId: { $in: receiverIds },
          state: 'due',
          leaseToken: { $ne: null },
        });
        await startWorker('webhooks');
      }
    }
    const writtenMs = performance.now();
    const accepted = () => expected.filter((id) => (seen.get(id)?.accepted ?? 0) > 0).length;
    // The total time depends on the machine, so limit only the time without progress.
    for (let known = -1; known < expected.length; known = accepted()) {
      await eventually(
        `more than ${known} of ${expected.length} are delivered`,
        () => accepted() > known,
        timeoutMs * 2 + 60_000,
      );
    }
    await eventually(
      'no delivery is due',
      async () => (await deliveries.findOne({ receiverId: { $in: receiverIds }, state: 'due' })) === null,
      timeoutMs * 2 + 60_000,
    );
    clearInterval(hurry);

    const duplicates = expected.reduce((sum, id) => sum + Math.max(0, (seen.get(id)?.accepted ?? 0) - 1), 0);
    const requests = [...seen.values()].reduce((sum, each) => sum + each.requests, 0);
    // eslint-disable-next-line no-console -- the figures are what this test is for
    console.log(
      `      seed ${seed}: ${expected.length} events, ${requests} requests, ${killed} workers killed, ` +
        `${heldAtKills} rows in flight at the kills, ${duplicates} duplicates; written in ${Math.round(writtenMs - startedMs)} ms, ` +
        `delivered ${Math.round(performance.now() - writtenMs)} ms later`,
    );
    expect(wrong).to.deep.equal([]);
    for (const id of expected) {
      expect(seen.get(id)?.accepted ?? 0, id).to.be.at.least(1);
      expect(seen.get(id)?.bodies.size, `bodies of ${id}`).to.equal(1);
    }
    expect(rolledBack.filter((id) => seen.has(id))).to.deep.equal([]);
    expect(duplicates).to.be.at.most(heldAtKills);
    const stored = await deliveries.find({ _id: { $in: expected } }).toArray();
    for (const row of stored) {
      expect(row.state, row._id).to.equal('delivered');
      expect(row.attemptCount, `attempts of ${row._id}`).to.be.at.most(seen.get(row._id)?.requests ?? 0);
    }
  });
});
