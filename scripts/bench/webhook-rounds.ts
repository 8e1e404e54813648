/** The two things that `bench:webhooks` compares, each measured over the same number of events. */
import { AccountModel, type Account } from '../../src/accounts/account.model.js';
import { createAccount } from '../../src/accounts/create-account.js';
import '../../src/all-models.js';
import { newId } from '../../src/shared/ids.js';
import { migrate } from '../../src/database/migrate.js';
import { connectMongo, disconnectMongo } from '../../src/database/mongo.js';
import { handle } from '../../src/jobs/define-job.js';
import { closeQueues } from '../../src/jobs/queues.js';
import { startWorkers } from '../../src/jobs/start-workers.js';
import { deliverDueJob } from '../../src/webhooks/deliver-due.job.js';
import { connectRedis, disconnectRedis } from '../../src/redis/connection.js';
import { announceDeliveries } from '../../src/webhooks/announce-deliveries.js';
import { createDeliverer, type Deliverer } from '../../src/webhooks/deliver-due.js';
import { deliveries, type Delivery } from '../../src/webhooks/delivery.model.js';
import { newDelivery } from '../../src/webhooks/new-delivery.js';
import { createSender, type Sender } from '../../src/webhooks/send-request.js';
import { deliveryHeaders } from '../../src/webhooks/sign-delivery.js';
import { createUrlGuard } from '../../src/webhooks/url-guard.js';
import { webhookLimits } from '../../src/webhooks/webhook-limits.js';
import { signingKeys } from '../../src/webhooks/webhook-secret.js';

export interface Measured {
  perSecond: number;
  /** Of this process, in microseconds an event. */
  cpuUs: number;
}

export interface Rounds {
  /** The HTTP client alone, with signatures: as many requests under way as all receivers may have. */
  bare(): Promise<Measured>;
  /** From the announcement of stored rows to the last one marked as delivered. */
  whole(): Promise<Measured>;
  close(): Promise<void>;
}

export async function prepareRounds(
  url: string,
  size: { events: number; receivers: number },
): Promise<Rounds> {
  await Promise.all([connectMongo(), connectRedis()]);
  await migrate();
  const accounts: Account[] = [];
  for (let index = 0; index < size.receivers; index++) {
    const created = await createAccount(
      { username: `bench-${newId().slice(12)}`, role: 'buyer', webhookUrl: `${url}/hook-${index}` },
      { actor: 'bench', from: null, reason: null },
    );
    accounts.push(created.account);
  }
  const sender = createSender(createUrlGuard({ allowPrivate: true }));
  const deliverer = createDeliverer(sender);
  const makeRows = () =>
    Array.from({ length: size.events }, (_each, index) => accounts[index % accounts.length]).flatMap(
      (account) => (account ? [row(account)] : []),
    );
  return {
    bare: () => measureBare(sender, accounts, makeRows()),
    whole: () => measureWhole(deliverer, makeRows()),
    close: async () => {
      await sender.close();
      const accountIds = accounts.map((account) => account._id);
      await deliveries.deleteMany({ accountId: { $in: accountIds } });
      await AccountModel.deleteMany({ _id: { $in: accountIds } });
      await closeQueues();
      await disconnectRedis();
      await disconnectMongo();
    },
  };
}

function row(account: Account): Delivery {
  const id = newId();
  return newDelivery({
    id,
    accountId: account._id,
    channel: 'webhook',
    url: account.webhookUrl ?? '',
    event: 'transaction.success',
    refId: id,
    orderKey: id,
    orderRank: 1,
    payload: {
      event: 'transaction.success',
      data: {
        ref_id: id,
        transaction_id: id,
        code: 'S10',
        status: 'success',
        sn: '0041002345678901',
        price: 10_500,
      },
    },
  });
}

async function measureBare(sender: Sender, accounts: Account[], rows: Delivery[]): Promise<Measured> {
  const keys = accounts.slice(0, 1).flatMap(signingKeys);
  const inFlight = accounts.length * webhookLimits.inFlightPerReceiver;
  return measured(rows.length, async () => {
    const loop = async () => {
      for (let next = rows.pop(); next; next = rows.pop()) {
        await sender.send({ url: next.url, headers: deliveryHeaders(next, keys), body: next.body });
      }
    };
    await Promise.all(Array.from({ length: inFlight }, loop));
  });
}

async function measureWhole(deliverer: Deliverer, rows: Delivery[]): Promise<Measured> {
  await deliveries.insertMany(rows);
  const receiverId = { $in: [...new Set(rows.map((each) => each.receiverId))] };
  const worker = startWorkers([handle(deliverDueJob, ({ receiverId: id }) => deliverer.deliverDue(id))]);
  const result = await measured(rows.length, async () => {
    await announceDeliveries(rows);
    while ((await deliveries.findOne({ receiverId, state: 'due' })) !== null) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  await deliverer.drain();
  await worker.close();
  return result;
}

async function measured(count: number, work: () => Promise<void>): Promise<Measured> {
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  await work();
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: (1_000 * count) / tookMs, cpuUs: (user + system) / count };
}
