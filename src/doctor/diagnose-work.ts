import { queue, queueNames, type QueueName } from '../jobs/queues.js';
import { countAttention, countBacklog, type Attention, type Backlog } from './attention.js';
import { fail, ok, warn, type Diagnosis } from './diagnosis.js';

const waitingWarn = 1_000;
const lateMs = 60_000;

/** Which process takes a queue's jobs, as `workers/run.js` names it. */
const workerOf: Record<QueueName, string> = {
  fulfilment: 'fulfilment',
  polling: 'polling',
  webhooks: 'webhooks',
  sellerPostings: 'sellers',
  settlements: 'settlements',
  reports: 'reports',
  inquiries: 'inquiries',
};

/** Depth of each queue, and whether somebody takes its jobs. */
export async function diagnoseQueues(): Promise<Diagnosis[]> {
  return Promise.all(queueNames.map(diagnoseQueue));
}

async function diagnoseQueue(name: QueueName): Promise<Diagnosis> {
  const [counts, workers, paused] = await Promise.all([
    queue(name).getJobCounts('wait', 'active', 'delayed', 'failed'),
    queue(name).getWorkersCount(),
    queue(name).isPaused(),
  ]);
  const waiting = counts['wait'] ?? 0;
  const detail = `${waiting} waiting, ${counts['active'] ?? 0} active, ${counts['delayed'] ?? 0} delayed, ${counts['failed'] ?? 0} failed, ${workers} worker${workers === 1 ? '' : 's'}`;
  const title = `queue ${name}`;
  const start = `node dist/workers/run.js ${workerOf[name]}`;
  if (paused) {
    return warn(title, `paused; ${detail}`, 'Resume it in the console (/admin/queues) when it may go on.');
  }
  if (workers === 0 && waiting > 0) {
    return fail(title, detail, `Nobody takes its jobs. Start a worker: ${start}`);
  }
  if (workers === 0) {
    return warn(title, detail, `No worker runs. Start one: ${start}`);
  }
  return waiting > waitingWarn
    ? warn(title, detail, `It grows long. Start one more: ${start}`)
    : ok(title, detail);
}

/** Work that MongoDB says is late, whatever the queues say. */
export async function diagnoseBacklog(): Promise<Diagnosis[]> {
  const backlog = await countBacklog(lateMs);
  const worker: Record<keyof Backlog, string> = {
    purchases: 'fulfilment and polling',
    deliveries: 'webhooks and polling',
    postings: 'sellers and polling',
  };
  return (Object.keys(worker) as (keyof Backlog)[]).map((kind) =>
    backlog[kind] === 0
      ? ok(`late ${kind}`, 'none')
      : fail(
          `late ${kind}`,
          `${backlog[kind]} over a minute late`,
          `See that the workers ${worker[kind]} run; the sweeper lives in polling.`,
        ),
  );
}

/** What waits for a person. */
export async function diagnoseAttention(): Promise<Diagnosis[]> {
  const attention = await countAttention();
  const todo: Record<keyof Attention, { name: string; advice: string }> = {
    openCases: { name: 'open cases', advice: 'topup case list' },
    reviews: { name: 'purchases to decide', advice: 'topup review list' },
    deadDeliveries: { name: 'webhooks given up', advice: 'See /admin; replay them once the receiver works.' },
    pendingDeposits: { name: 'deposits to confirm', advice: 'topup deposit list' },
    settlements: { name: 'settlements to decide', advice: 'topup settlement list' },
  };
  return (Object.keys(todo) as (keyof Attention)[]).map((kind) =>
    attention[kind] === 0
      ? ok(todo[kind].name, 'none')
      : warn(todo[kind].name, String(attention[kind]), todo[kind].advice),
  );
}
