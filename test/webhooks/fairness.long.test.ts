import { expect } from 'chai';
import { announceDeliveries } from '../../src/webhooks/deliver/delivery-jobs.js';
import { buildPurchaseDeliveries } from '../../src/purchases/purchase-notifications.js';
import { eventually } from '../support/eventually.js';
import { sizes } from '../support/sizes.js';
import { startProgram, type RunningProgram } from '../support/start-program.js';
import { newAccount, someTransaction, storeDeliveries, type TestAccount } from './support/accounts.js';
import { useDatabase } from './support/database.js';
import { acceptRequest, startReceiver, type TestReceiver } from './support/receiver.js';

const { seconds, perTick, limitMs } = sizes.fairness;
const receiverCount = 200;
const hangingCount = 40;
const tickMs = 25;
/**
 * Limit for the p99 of healthy receivers in milliseconds, from the commit to the arrival at the
 * receiver.
 */
const failMs = 1_000;

interface Client {
  client: TestAccount;
  receiver: TestReceiver;
}

/** Each receiver listens on its own loopback address. */
describe('fairness among 200 receivers, 40 of them hanging', function () {
  this.timeout(limitMs);
  useDatabase();
  const all: Client[] = [];
  const workers: RunningProgram[] = [];

  before(async () => {
    for (let index = 0; index < receiverCount; index++) {
      const receiver = await startReceiver(
        acceptRequest,
        `127.1.${Math.floor(index / 100)}.${(index % 100) + 1}`,
      );
      all.push({ receiver, client: await newAccount({ webhookUrl: `${receiver.url}/hook` }) });
    }
    workers.push(
      ...(await Promise.all(
        ['follow-up', 'webhooks'].map((kind) =>
          startProgram('workers/run.js', [kind], { ...process.env, LOG_LEVEL: 'error' }),
        ),
      )),
    );
  });
  after(async () => {
    await Promise.all(all.map(({ receiver }) => receiver.close()));
    await Promise.all(workers.map((worker) => worker.stop()));
  });

  /**
   * Sends events to all receivers in turn, at a steady rate.
   * @returns the sorted latencies of the healthy receivers in milliseconds.
   */
  async function phase(healthy: Client[]): Promise<number[]> {
    const committedAt = new Map<string, number>();
    const before = new Map(healthy.map(({ receiver }) => [receiver, receiver.received.length]));
    const expected = new Map(healthy.map((each) => [each.client.account._id, 0]));
    const endMs = Date.now() + seconds * 1_000;
    let next = 0;
    while (Date.now() < endMs) {
      const tickEndMs = Date.now() + tickMs;
      const rows = Array.from({ length: perTick }, () => all[next++ % all.length]).flatMap((each) =>
        each
          ? buildPurchaseDeliveries({
              purchase: someTransaction({ accountId: each.client.account._id }),
              buyer: each.client.account,
              seller: null,
              event: 'success',
            })
          : [],
      );
      await storeDeliveries(rows);
      const at = Date.now();
      for (const row of rows) {
        committedAt.set(row._id, at);
        if (expected.has(row.accountId)) {
          expected.set(row.accountId, (expected.get(row.accountId) ?? 0) + 1);
        }
      }
      await announceDeliveries(rows);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, tickEndMs - Date.now())));
    }
    const fresh = ({ receiver }: Client) => receiver.received.slice(before.get(receiver) ?? 0);
    await eventually(
      'the healthy receivers have everything',
      () => healthy.every((each) => fresh(each).length >= (expected.get(each.client.account._id) ?? 0)),
      30_000,
    );
    return healthy
      .flatMap(fresh)
      .map((item) => item.atMs - (committedAt.get(item.headers['webhook-id'] ?? '') ?? NaN))
      .sort((a, b) => a - b);
  }

  it('hanging receivers do not slow down healthy ones', async () => {
    await phase(all);
    const alone = await phase(all);
    const hanging = all.filter((_each, index) => index % (receiverCount / hangingCount) === 0);
    const answered = new Map(hanging.map(({ receiver }) => [receiver, receiver.hits()]));
    hanging.forEach(({ receiver }) => receiver.behave(() => undefined));
    const healthy = all.filter((each) => !hanging.includes(each));
    const withHanging = await phase(healthy);
    // eslint-disable-next-line no-console -- the figures are what this test is for
    console.log(`      none hanging: ${figures(alone)}; 40 of 200 hanging: ${figures(withHanging)}`);
    expect(withHanging).not.to.include(NaN);
    // On a busy machine both phases are slow, so compare only the difference.
    expect(percentile(withHanging, 0.99)).to.be.below(Math.max(failMs, 2 * percentile(alone, 0.99)));
    const left = hanging.map(({ receiver }) => receiver.hits() - (answered.get(receiver) ?? 0));
    expect(Math.min(...left), 'calls of hanging receivers').to.be.at.least(1);
    const open = hanging.map(({ receiver }) => receiver.mostOpen());
    expect(Math.max(...open), 'requests left hanging at one receiver').to.be.at.most(4);
  });
});

function percentile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

function figures(sorted: number[]): string {
  return `p50 ${percentile(sorted, 0.5)} ms, p99 ${percentile(sorted, 0.99)} ms, ${sorted.length} events`;
}
