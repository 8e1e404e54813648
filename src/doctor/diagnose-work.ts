/** Checks of queues and of late work, which `topup doctor` and the alarms share. */
import { hangsAfterShare, getLimitMs, type Queue } from '../jobs/define-job.js';
import { type QueueState, inspectQueue } from '../jobs/inspect-queue.js';
import { findJobByName, listFixedQueues, findCurrentQueues, type ProcessType } from '../processes.js';
import { openStatuses } from '../settlements/claim-settlement.js';
import { listSettlements } from '../settlements/find-settlement.js';
import { findAccountsBelowZero } from '../settlements/wallet-below-zero.js';
import { nowMs } from '../shared/clock.js';
import { setTimeout } from 'node:timers/promises';
import { countAttention, countBacklog, formatCount, type Attention, type Backlog } from './attention.js';
import { findLiveProcesses, hasNoLiveProcess } from './diagnose-processes.js';
import { diagnoseProviders } from './diagnose-providers.js';
import { fail, ok, warn, type Diagnosis } from './diagnosis.js';

const dueMaxMs = 60_000;

/**
 * Returns how long the active job has been running, in milliseconds, if it has used most of its
 * time limit. Otherwise 0.
 */
export function getHangingMs({ active }: QueueState): number {
  if (!active) {
    return 0;
  }
  const underWayMs = nowMs() - active.sinceMs;
  return underWayMs >= hangsAfterShare * getLimitMs(findJobByName(active.name) ?? {}) ? underWayMs : 0;
}

/**
 * True if workers are connected but take no job, although a job has been due for a minute.
 *
 * In the queues of providers, orders wait for capacity. So these queues count only while nothing
 * limits or pauses them. A job that is requeued repeatedly can make this true for a moment in a
 * healthy queue.
 */
export function isQueueStuck(
  queue: Queue,
  { counts, workers, isPaused, isLimited, oldestDueMs }: QueueState,
): boolean {
  const isHeldBack = isPaused || (isLimited && !listFixedQueues().some((each) => each.queue === queue));
  const isTaken = workers === 0 || (counts['active'] ?? 0) > 0;
  return !isTaken && !isHeldBack && nowMs() - (oldestDueMs ?? Infinity) > dueMaxMs;
}

const waitingWarn = 1_000;
const lateMs = 60_000;
/**
 * Milliseconds between the two checks of a queue. A job that is requeued repeatedly is at the head
 * of a queue only for a moment.
 */
const secondCheckDelayMs = 1_500;

/** Checks the depth of each queue, and whether a worker takes its jobs. */
export async function diagnoseQueues(): Promise<Diagnosis[]> {
  const [queues, providers] = await Promise.all([findCurrentQueues(), diagnoseProviders()]);
  const seen = await Promise.all(
    queues.map(async (each) => ({
      ...each,
      ...(await inspectQueue(each.queue)),
      isStuck: await isStuck(each.queue),
    })),
  );
  // A connected process without announcements hangs, even if Redis has lost its registration.
  const served = seen.filter(({ workers }) => workers > 0);
  const liveProcesses = await findLiveProcesses(
    (all) => !served.some(({ process }) => hasNoLiveProcess(process, all)),
  );
  const found = seen.map((each) => ({
    ...each,
    isStill: liveProcesses !== null && each.workers > 0 && hasNoLiveProcess(each.process, liveProcesses),
  }));
  const nobodyWorks = found.every(({ workers, isStill }) => workers === 0 || isStill);
  return [...found.map((each) => diagnoseQueue(each, nobodyWorks)), ...providers];
}

/** True if the queue seems stuck in two checks that are `secondCheckDelayMs` apart. */
async function isStuck(queue: Queue): Promise<boolean> {
  const looksSo = async () => isQueueStuck(queue, await inspectQueue(queue));
  return (await looksSo()) && (await setTimeout(secondCheckDelayMs, looksSo))();
}

interface CheckedQueue {
  queue: Queue;
  process: ProcessType;
  isStill: boolean;
  isStuck: boolean;
}

function diagnoseQueue(seen: QueueState & CheckedQueue, nobodyWorks: boolean): Diagnosis {
  const { queue, process, counts, workers, isPaused, isStill, isStuck, unreadable } = seen;
  const waiting = (counts['wait'] ?? 0) + (counts['prioritized'] ?? 0);
  const detail = `${waiting} waiting, ${counts['active'] ?? 0} active, ${counts['delayed'] ?? 0} delayed, ${counts['failed'] ?? 0} failed, ${workers} worker${workers === 1 ? '' : 's'}${unreadable === null ? '' : `; job ${unreadable} cannot be read`}`;
  const title = `queue ${queue.title ?? queue.name}`;
  const start = `node dist/workers/run.js ${process.name}`;
  if (isPaused) {
    return warn(title, `paused; ${detail}`, 'Resume it in the console (/admin/queues) when it may continue.');
  }
  if (workers === 0 && waiting > 0) {
    return fail(title, detail, `No worker takes its jobs. Start one: ${start}`);
  }
  const overdueMs = nowMs() - (seen.delayedUntilMs ?? Infinity);
  if (workers === 0 && overdueMs > lateMs) {
    const problem = `${detail}; a job has been due for ${Math.round(overdueMs / 1_000)} s`;
    return fail(title, problem, `No worker runs to take it. Start one: ${start}`);
  }
  if (isStill) {
    const problem = `${detail}, and no process that takes its jobs sends a heartbeat`;
    return fail(title, problem, `They hang. Kill them (kill -9) and start one: ${start}`);
  }
  const hangingMs = getHangingMs(seen);
  if (hangingMs > 0) {
    return fail(
      title,
      `${detail}; a job has been running for ${Math.round(hangingMs / 1_000)} s`,
      `It hangs, for example on a response that never arrives. /readyz of ${process.name} shows in which process. Restart that process.`,
    );
  }
  if (isStuck) {
    return fail(
      title,
      `${detail}; a job has been due for a minute, and none is taken`,
      `Its workers are stuck: see /readyz and the logs of ${process.name}, and restart them.`,
    );
  }
  if (nobodyWorks) {
    return fail(
      title,
      detail,
      `No worker runs at all. Start one: ${start}, or \`all\` for every type. If some do run, their QUEUE_PREFIX or REDIS_URL differs from the one used here.`,
    );
  }
  if (workers === 0) {
    return warn(title, detail, `No worker runs. Start one: ${start}`);
  }
  if (unreadable !== null) {
    return warn(
      title,
      detail,
      `It was added manually. It fails automatically; then remove it at /admin/queues. To find it: topup job find --queue ${queue.name} --state failed`,
    );
  }
  return waiting > waitingWarn
    ? warn(title, detail, `It is growing long. Start another worker: ${start}`)
    : ok(title, detail);
}

/** Checks MongoDB for late work, independently of the queues. */
export async function diagnoseBacklog(): Promise<Diagnosis[]> {
  const backlog = await countBacklog(lateMs);
  const worker: Record<keyof Backlog, string> = {
    purchases: 'fulfilment and follow-up',
    deliveries: 'webhooks and follow-up',
    postings: 'sellers and follow-up',
  };
  return (Object.keys(worker) as (keyof Backlog)[]).map((kind) =>
    backlog[kind] === 0
      ? ok(`late ${kind}`, 'none')
      : fail(
          `late ${kind}`,
          `${formatCount(backlog[kind])} over a minute late`,
          `Check that the ${worker[kind]} workers run. follow-up finds late work.`,
        ),
  );
}

/** Reports the work that waits for a person. */
export async function diagnoseAttention(): Promise<Diagnosis[]> {
  const attention = await countAttention();
  const todo: Record<keyof Attention, { name: string; advice: string }> = {
    openCases: { name: 'open cases', advice: 'topup case list' },
    reviews: { name: 'purchases to decide', advice: 'topup review list' },
    deadDeliveries: { name: 'webhooks given up', advice: 'See /admin; replay them once the receiver works.' },
    disabledWebhooks: {
      name: 'webhook URLs disabled (7 days)',
      advice: 'Inform their accounts. topup account show lists the URLs, and since when.',
    },
    pendingDeposits: { name: 'deposits to confirm', advice: 'topup deposit list' },
    settlements: { name: 'settlements to decide', advice: 'topup settlement list' },
    adjustments: { name: 'adjustments to approve', advice: 'topup adjust list' },
    failedReports: {
      name: 'reports given up',
      advice: 'The logs of the reports workers show why, at "report given up".',
    },
    failingJobs: { name: 'jobs that fail repeatedly', advice: 'topup job list' },
  };
  const found = (Object.keys(todo) as (keyof Attention)[]).map((kind) =>
    attention[kind] === 0
      ? ok(todo[kind].name, 'none')
      : warn(todo[kind].name, formatCount(attention[kind]), todo[kind].advice),
  );
  return [...found, await diagnoseSettlementsBelowZero()];
}

const settlementsReadMax = 1_000;

/** Warns of open settlements whose seller's wallet is below zero, because they must not be paid. */
async function diagnoseSettlementsBelowZero(): Promise<Diagnosis> {
  const name = 'settlements of wallets below zero';
  const open = await listSettlements({ statuses: openStatuses, limit: settlementsReadMax });
  const belowZero = await findAccountsBelowZero(open.map(({ accountId }) => accountId));
  const count = open.filter(({ accountId }) => belowZero.has(accountId)).length;
  return count === 0
    ? ok(name, 'none')
    : warn(name, String(count), 'Do not pay them. Fail them, or wait: topup settlement list');
}
