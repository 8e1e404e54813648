/**
 * The outbox: a document that needs work says so itself, by `nextActionAt`, in the same write that makes the work
 * necessary. Its job only saves time. Should the job get lost (a process that died between commit and job, a Redis
 * that was emptied), the sweep finds the document and adds the job again. This is the only code that does.
 */
import type { AnyBulkWriteOperation, Collection, Filter } from 'mongodb';
import { nowMs } from '../shared/clock.js';
import { groupBy } from '../shared/collections.js';
import { withLease } from '../redis/lease.js';
import { addJobs, subjectsInQueue } from './add-job.js';
import type { Job } from './define-job.js';

export interface OutboxDocument {
  _id: string;
  accountId: string;
  /** How often its job had to be added again. */
  epoch: number;
  /** When somebody must look at it if nobody has; null: nobody must. */
  nextActionAt: Date | null;
}

/** A kind of job that documents of the outbox may need. */
interface OutboxJob<T, Data extends object> {
  /** A function where documents wait in queues of their own. */
  job: Job<Data> | ((document: T) => Job<Data>);
  dataOf: (document: T) => Data;
  /** Of the call that a document comes from, where it says so. */
  requestIdOf?: (document: T) => string | undefined;
  /** Whether it is this kind that a document needs when its job is lost. */
  isNeededBy: (document: T) => boolean;
}

export interface Outbox<T extends OutboxDocument> {
  /** For logs and the lease. */
  name: string;
  collection: Collection<T>;
  /** Whatever does not match is final, or waits for a person: it is neither found nor ever written to. */
  open: Filter<T>;
  /** What `dataOf` needs, beside the fields of `OutboxDocument`. */
  fields: readonly (keyof T & string)[];
  jobs: OutboxJob<T, never>[];
  /** How long a job that was added for the `epoch`th time has before the sweep adds another. */
  graceMs(epoch: number, document: T): number;
}

export function outboxJob<T, Data extends object>(kind: OutboxJob<T, Data>): OutboxJob<T, never> {
  // A list holds jobs of many kinds of data; each is only ever given what its own `dataOf` has made.
  return kind as unknown as OutboxJob<T, never>;
}

/** Documents that one step of a sweep takes on. */
const batchSize = 1_000;
const leaseMs = 30_000;
/** A job that waits in a long queue is not lost; its document is looked at again after this. */
const lookAgainMs = 20_000;

/**
 * Adds the jobs that got lost, and goes on until nothing is overdue. A job that still waits is not added again.
 * @param options.part Sweeps of several parts at once share the work: each takes another window of what is overdue.
 * @param options.callForHelp Called once when there is more than one batch to do.
 * @returns how many jobs were added; 0 too when another process sweeps this part just now.
 * @throws Error while MongoDB or Redis is away: nothing is lost, the next sweep comes.
 */
export async function sweepOutbox<T extends OutboxDocument>(
  outbox: Outbox<T>,
  { part = 0, callForHelp }: { part?: number; callForHelp?: () => Promise<void> } = {},
): Promise<number> {
  const added = await withLease(`sweep:${outbox.name}:${part}`, leaseMs, async () => {
    let total = 0;
    for (let batch = 0; ; batch++) {
      const overdue = await findOverdue(outbox, part * batchSize);
      if (overdue.length === batchSize && batch === 0) {
        await callForHelp?.();
      }
      total += await addLost(outbox, overdue);
      if (overdue.length < batchSize) {
        return total;
      }
    }
  });
  return added ?? 0;
}

/** One that moves in the index meanwhile is written to as it was read last, or found by the next sweep. */
async function findOverdue<T extends OutboxDocument>(outbox: Outbox<T>, skip: number): Promise<T[]> {
  const projection = Object.fromEntries(
    ['accountId', 'epoch', 'nextActionAt', ...outbox.fields].map((field) => [field, 1]),
  );
  const filter = { ...outbox.open, nextActionAt: { $lte: new Date(nowMs()) } } as Filter<T>;
  return outbox.collection.find(filter, { projection }).skip(skip).limit(batchSize).toArray() as Promise<T[]>;
}

async function addLost<T extends OutboxDocument>(outbox: Outbox<T>, overdue: T[]): Promise<number> {
  if (overdue.length === 0) {
    return 0;
  }
  const waiting = await findStillWaiting(outbox, overdue);
  const lost = overdue.filter((each) => !waiting.has(each._id));
  // MongoDB first: should Redis go away now, the next sweep comes after the grace, not in a tight loop.
  await outbox.collection.bulkWrite(checkAgainLater(outbox, overdue, waiting), { ordered: false });
  for (const kind of outbox.jobs) {
    for (const [job, documents] of groupByJob(kind, lost)) {
      const requestIds = documents.map((each) => kind.requestIdOf?.(each));
      await addJobs(job, documents.map(kind.dataOf), requestIds);
    }
  }
  return lost.length;
}

/**
 * One update for all that change in the same way. Only while they are open: what has become final meanwhile is not touched.
 * Only while they are overdue: every change of `nextActionAt` sets a time after all that were read.
 */
function checkAgainLater<T extends OutboxDocument>(
  outbox: Outbox<T>,
  overdue: T[],
  waiting: Set<string>,
): AnyBulkWriteOperation<T>[] {
  const latestMs = Math.max(...overdue.map(({ nextActionAt }) => nextActionAt?.getTime() ?? 0));
  const changes = groupBy(overdue, (each) => {
    const [by, ms] = waiting.has(each._id) ? [0, lookAgainMs] : [1, outbox.graceMs(each.epoch + 1, each)];
    return JSON.stringify([each.epoch, each.epoch + by, ms]);
  });
  return [...changes].map(([change, documents]) => {
    const [epoch, nextEpoch, ms] = JSON.parse(change) as [number, number, number];
    const filter = {
      ...outbox.open,
      _id: { $in: documents.map(({ _id }) => _id) },
      accountId: { $in: [...new Set(documents.map(({ accountId }) => accountId))] },
      epoch,
      nextActionAt: { $lte: new Date(latestMs) },
    };
    const update = { $set: { epoch: nextEpoch, nextActionAt: new Date(nowMs() + ms) } };
    return { updateMany: { filter, update, hint: { _id: 1 } } } as unknown as AnyBulkWriteOperation<T>;
  });
}

/** The ids of documents that BullMQ still has the job for that they need. */
async function findStillWaiting<T extends OutboxDocument>(
  outbox: Outbox<T>,
  overdue: T[],
): Promise<Set<string>> {
  const waiting = new Set<string>();
  for (const kind of outbox.jobs) {
    for (const [job, needing] of groupByJob(kind, overdue)) {
      const subjectOf = (document: T) => job.subject(kind.dataOf(document));
      const inQueue = await subjectsInQueue(job, needing.map(subjectOf));
      needing.filter((each) => inQueue.has(subjectOf(each))).forEach((each) => waiting.add(each._id));
    }
  }
  return waiting;
}

/** Those that need this kind of job, by the job that each of them needs. */
function groupByJob<T>({ job, isNeededBy }: OutboxJob<T, never>, documents: T[]): Map<Job<never>, T[]> {
  const jobOf = (document: T) => (typeof job === 'function' ? job(document) : job);
  return groupBy(documents.filter(isNeededBy), jobOf);
}
