/**
 * A service whose processes are killed with SIGKILL at named points, and the checks after a kill.
 */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { Queue } from '../../../src/jobs/define-job.js';
import { postSellerCreditsJob } from '../../../src/money/credits/seller-credits.js';
import { payOutJob } from '../../../src/settlements/settlement-jobs.js';
import { eventually } from '../../support/eventually.js';
import { expectLedgerToBalance, expectLedgerVerified } from '../../support/ledger.js';
import { startFault, withProxy, type Fault } from '../../support/mongo-faults.js';
import { startPrivateMongo, startTcpGate, type Outage } from '../../support/outage.js';
import { waitUntilAllFinal, inParallel } from '../../support/purchases.js';
import { uniqueRef } from '../../support/api-client.js';
import { startStack, type Stack } from '../../support/stack.js';
import { sendJson, startPlayServer } from '../../providers/play-server.js';
import { startCalledService, type CalledService, type CallOutcome } from './called-service.js';
import { startFleet, type RunningFleet } from './fleet.js';

/**
 * Time in milliseconds for which a command is held. The process dies earlier, and the command's
 * transaction expires meanwhile.
 */
const heldMs = 10_000;

export interface Victim {
  service: CalledService;
  /** The process's own database URI. Faults with this URI affect no other process. */
  uri: string;
  /** The gate on the process's connection to Redis. */
  gate: Outage;
}

/**
 * Holds a process at a point.
 * @returns a function that resolves when the process has reached the point.
 */
export type Hold = (victim: Victim) => Promise<() => Promise<unknown>>;

interface HoldOptions {
  /** The number of movements that must reach the point, each in its own transaction. Default: 1. */
  movements?: number;
}

/** Holds the process before the command is executed. */
export function holdBefore(
  command: string,
  collection: string | null,
  { movements = 1, ms = heldMs }: HoldOptions & { ms?: number } = {},
): Hold {
  return holdAt({ kind: 'pause', commands: [command], times: movements, ms }, collection);
}

/** Executes the command but never returns the reply to the process. */
export function dropReply(
  command: string,
  collection: string | null,
  { movements = 1 }: HoldOptions = {},
): Hold {
  return holdAt({ kind: 'silence', commands: [command], times: movements }, collection);
}

function holdAt(fault: Fault & { times: number }, collection: string | null): Hold {
  return async ({ uri }) => {
    const namespace =
      collection === null ? {} : { namespace: `${new URL(uri).pathname.slice(1)}.${collection}` };
    const running = await startFault({ ...fault, ...namespace, uri });
    return async () => {
      try {
        await eventually('the process is at its point', async () => (await running.count()) === fault.times);
      } finally {
        await running.end();
      }
    };
  };
}

export interface KillWorld {
  stack: Stack;
  /** The processes that are not killed. */
  fleet: RunningFleet;
  shop: { sellerId: string; productCode: string };
  /** The address of a provider that sells every order. */
  providerUrl: string;
  /** The order references that the provider has executed, by purchase id. */
  executed: Map<string, Set<string>>;
  /**
   * Called when the order of a purchase arrives at the provider. If it resolves to `false`, the
   * provider sends no response.
   */
  arrived: Map<string, () => Promise<boolean>>;
  /** Returns a process that is not killed. */
  healthy(): Promise<CalledService>;
  /**
   * Starts a process for `work` and kills it when `work` ends.
   * @param lanes The accounts that each get their own lane in the process.
   */
  withVictim<T>(lanes: string[], work: (victim: Victim) => Promise<T>): Promise<T>;
  walletOf(accountId: string): Promise<unknown>;
  /**
   * Lets workers finish all work, and checks the result.
   * @param expectDone One check for each movement. It throws until the movement is complete and was
   * executed once.
   */
  expectAllDone(expectDone: (() => Promise<void>)[], limitMs: number): Promise<void>;
  stop: () => Promise<void>;
}

export async function startKillWorld(): Promise<KillWorld> {
  // The locks of a killed process remain for 2 s, as they remain for a while on a real MongoDB.
  const mongo = await withProxy(await startPrivateMongo({ lockLifetimeS: 2 }));
  const stack = await startStack({ web: false, env: { MONGODB_URI: mongo.url, SETTLEMENT_FEE: '10' } });
  const executed: KillWorld['executed'] = new Map();
  const arrived: KillWorld['arrived'] = new Map();
  const provider = await startPlayServer((call, response) => {
    const ref = call.url.searchParams.get('ref_id') ?? '';
    if (ref === '') {
      // All other requests are for the price list or the balance.
      sendJson(response, 404, {});
      return;
    }
    const purchaseId = ref.replace(/-\d+$/, '');
    const hook = arrived.get(purchaseId) ?? (() => Promise.resolve(true));
    executed.set(purchaseId, (executed.get(purchaseId) ?? new Set()).add(ref));
    void hook().then((answers) => {
      if (answers) {
        sendJson(response, 200, { status: '00', ref_id: ref, sn: ref, transaction_status: 'success' });
      }
    });
  });
  const fleet = await startFleet(1, stack.env);
  const healthy = () => fleet.process(0);
  const shop = await (
    await healthy()
  ).callOrThrow('openShop', {
    baseUrl: provider.url,
    balance: 50_000,
  });

  return {
    stack,
    fleet,
    shop,
    providerUrl: provider.url,
    executed,
    arrived,
    healthy,
    async withVictim(lanes, work) {
      const gate = await startTcpGate(stack.env['REDIS_URL'] ?? '');
      const uri = new URL(stack.env['MONGODB_URI'] ?? '');
      uri.searchParams.set('appName', uniqueRef('victim'));
      const service = await startCalledService({
        ...stack.env,
        MONGODB_URI: uri.href,
        REDIS_URL: gate.url,
        // Each account is on its own shard.
        MONGODB_SHARD_SPLITS: [...lanes].sort().join(','),
      });
      try {
        return await work({ service, uri: uri.href, gate });
      } finally {
        await service.kill();
        await gate.stop();
      }
    },
    walletOf: (accountId) => stack.db.collection<{ _id: string }>('wallets').findOne({ _id: accountId }),
    async expectAllDone(healed, limitMs) {
      // Without this, existing jobs would finish the work and the sweeps would not be tested.
      await loseJobs(stack, [payOutJob.queue, postSellerCreditsJob.queue]);
      await stack.startWorker('fulfilment', 'follow-up', 'sellers', 'settlements');
      await waitUntilAllFinal(stack, limitMs / 2);
      await inParallel(healed, 8, async (each) => {
        await eventually('the movement is done', () => each().then(() => true), 60_000);
      });
      const sold = await stack.db
        .collection<{ _id: string }>('transactions')
        .distinct('_id', { status: 'SUCCESS' });
      const isSold = new Set(sold);
      for (const [purchaseId, refs] of executed) {
        expect(refs.size, `executions of ${purchaseId}`).to.equal(1);
        expect(isSold.has(purchaseId), `${purchaseId} was sold`).to.equal(true);
      }
      await expectLedgerToBalance(stack);
      await expectLedgerVerified(stack);
    },
    async stop() {
      await fleet.stop();
      await stack.stop();
      await provider.stop();
      await mongo.stop();
    },
  };
}

/**
 * Simulates the loss of jobs in Redis before a worker takes them. Only the sweeps over the rows in
 * MongoDB can restore the jobs.
 */
async function loseJobs({ env }: Stack, queues: Queue[]): Promise<void> {
  const redis = new Redis(env['REDIS_URL'] ?? '');
  try {
    for (const { name } of queues) {
      // Delete the deduplication keys as well, because they would block a new job for the same
      // subject.
      const keys = await redis.keys(`${env['QUEUE_PREFIX'] ?? ''}:${name}:*`);
      await redis.del('none', ...keys);
    }
  } finally {
    redis.disconnect();
  }
}

/** The request ids of the killed call and of the repeated call. */
export const callIds = { victim: 'call-of-the-victim', repeat: 'call-of-the-repeat' } as const;

/**
 * Checks `created`. Only the call that created the document may report it as created. The victim's
 * commit may still succeed after its death. A repeat that got a 503 may also have written the
 * document that a later repeat finds.
 */
export function expectSingleCreator(
  { created }: { created: boolean },
  { isOfRepeat, attempts }: { isOfRepeat: boolean; attempts: number },
): void {
  if (created || attempts === 1) {
    expect(created, 'first write by the repeat').to.equal(isOfRepeat);
  }
}

export function valueOf<T>(answer: CallOutcome<T>): T {
  if (!answer.ok) {
    throw new Error(`${answer.refusal}: ${answer.message}`);
  }
  return answer.value;
}
