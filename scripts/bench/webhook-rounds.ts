/** The two candidates of the webhook benchmark, each measured over the same number of events. */
import { limits } from '../../config/limits.js';
import { AccountModel, type Account } from '../../src/accounts/account.model.js';
import { createAccount } from '../../src/accounts/create-account.js';
import { defaultEndpointSettings } from '../../src/accounts/webhook-endpoint.js';
import '../../src/all-models.js';
import { newId } from '../../src/shared/ids.js';
import { migrate } from '../../src/database/migrate.js';
import { connectMongo, disconnectMongo } from '../../src/database/mongo.js';
import { handle } from '../../src/jobs/define-job.js';
import { closeQueues } from '../../src/jobs/queues.js';
import { startWorkers } from '../../src/jobs/start-workers.js';
import { deliverDueJob, announceDeliveries } from '../../src/webhooks/deliver/delivery-jobs.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { connectRedis, disconnectRedis } from '../../src/redis/connection.js';
import { createDeliverer, type Deliverer } from '../../src/webhooks/deliver/deliver-due.js';
import { deliveries, type Delivery } from '../../src/webhooks/deliver/delivery.model.js';
import { buildDelivery } from '../../src/webhooks/new-delivery.js';
import { adjustPace } from '../../src/webhooks/deliver/in-flight-limits.js';
import { createSender, type Sender } from '../../src/webhooks/deliver/send-request.js';
import { buildDeliveryHeaders, getSigningKeys } from '../../src/webhooks/deliver/sign-delivery.js';
import { createUrlGuard } from '../../src/webhooks/deliver/url-guard.js';

export interface Measurement {
  perSecond: number;
  /** CPU time of this process in microseconds per event. */
  cpuUs: number;
}

export interface Rounds {
  /**
   * Measures the HTTP client alone with signatures, at the total concurrency that all receivers
   * together may have.
   */
  bare(): Promise<Measurement>;
  /** Measures from the announcement of stored rows until the last one is marked as delivered. */
  whole(): Promise<Measurement>;
  /**
   * Measures the backlog of one receiver that starts without history.
   * @param inFlight Maximum number of concurrent requests. Null for the adaptive limit.
   */
  backlog(inFlight: number | null): Promise<Measurement>;
  close(): Promise<void>;
}

/** @param urls.slow A receiver with the response time of a distant server. */
export async function prepareRounds(
  urls: { quick: string; slow: string },
  size: { events: number; receivers: number; backlog: number },
): Promise<Rounds> {
  await Promise.all([connectMongo(), connectRedis()]);
  await migrate();
  const accounts: Account[] = [];
  for (let index = 0; index < size.receivers; index++) {
    accounts.push(await buildAccount(`${urls.quick}/hook-${index}`));
  }
  const behind = await buildAccount(`${urls.slow}/hook`);
  const sender = createSender(createUrlGuard({ allowPrivate: true }));
  const deliverer = createDeliverer(sender);
  const makeRows = () =>
    Array.from({ length: size.events }, (_each, index) => accounts[index % accounts.length]).flatMap(
      (account) => (account ? [buildTestDelivery(account)] : []),
    );
  return {
    bare: () => measureBare(sender, accounts, makeRows()),
    whole: () => measureWhole(deliverer, makeRows()),
    backlog: async (inFlight) => {
      await writeAndInvalidate([AccountModel], [behind._id], (each) =>
        each.updateOne(
          { _id: behind._id },
          { $set: { webhookSettings: { ...defaultEndpointSettings, inFlightLimit: inFlight } } },
        ),
      );
      const rows = Array.from({ length: size.backlog }, () => buildTestDelivery(behind));
      await adjustPace(rows[0]?.receiverId ?? '', limits.inFlightDefault, 'silent');
      return measureWhole(deliverer, rows);
    },
    close: async () => {
      await sender.close();
      const accountIds = [...accounts, behind].map((account) => account._id);
      await deliveries.deleteMany({ accountId: { $in: accountIds } });
      await writeAndInvalidate([AccountModel], accountIds, (each) =>
        each.deleteMany({ _id: { $in: accountIds } }),
      );
      await closeQueues();
      await disconnectRedis();
      await disconnectMongo();
    },
  };
}

async function buildAccount(webhookUrl: string): Promise<Account> {
  const created = await createAccount(
    { username: `bench-${newId().slice(12)}`, role: 'buyer', webhookUrl },
    { actor: 'bench', from: null, reason: null },
  );
  return created.account;
}

function buildTestDelivery(account: Account): Delivery {
  const id = newId();
  return buildDelivery({
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

async function measureBare(sender: Sender, accounts: Account[], rows: Delivery[]): Promise<Measurement> {
  const keys = accounts.slice(0, 1).flatMap((account) => getSigningKeys(account));
  const inFlight = accounts.length * limits.inFlightStart;
  return measure(rows.length, async () => {
    const loop = async () => {
      for (let next = rows.pop(); next; next = rows.pop()) {
        await sender.send({ url: next.url, headers: buildDeliveryHeaders(next, keys), body: next.body });
      }
    };
    await Promise.all(Array.from({ length: inFlight }, loop));
  });
}

async function measureWhole(deliverer: Deliverer, rows: Delivery[]): Promise<Measurement> {
  await deliveries.insertMany(rows);
  const receiverId = { $in: [...new Set(rows.map((each) => each.receiverId))] };
  const worker = startWorkers([handle(deliverDueJob, ({ receiverId: id }) => deliverer.deliverDue(id))]);
  const result = await measure(rows.length, async () => {
    await announceDeliveries(rows);
    while ((await deliveries.findOne({ receiverId, state: 'due' })) !== null) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  await deliverer.drain();
  await worker.close();
  return result;
}

async function measure(count: number, work: () => Promise<void>): Promise<Measurement> {
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  await work();
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: (1_000 * count) / tookMs, cpuUs: (user + system) / count };
}
