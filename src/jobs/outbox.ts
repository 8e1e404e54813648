/**
 * Transactional outbox. A document that needs work sets `nextActionAt` in the same write that makes
 * the work necessary. Its job is only the fast path. If the job is lost (a crash between commit and
 * job, an emptied Redis), the sweep finds the document and adds the job again. No other code does
 * this.
 */
import type { AnyBulkWriteOperation, Collection, Filter } from 'mongodb';
import { nowMs } from '../shared/clock.js';
import { groupBy } from '../shared/collections.js';
import { withLease } from '../redis/lease.js';
import { addJobs, findQueuedSubjects } from './add-job.js';
import type { Job } from './define-job.js';

export interface OutboxDocument {
  _id: string;
  accountId: string;
  /** Number of times that the job was added again. */
  epoch: number;
  /** When the sweep handles the document, unless a job has handled it before. Null if never. */
  nextActionAt: Date | null;
}

/** A kind of job that documents of the outbox may need. */
interface OutboxJob<T, Data extends object> {
  /** A function if documents use different queues. */
  job: Job<Data> | ((document: T) => Job<Data>);
  dataOf: (document: T) => Data;
  /** Returns the request id of the HTTP call that created a document, if it is stored. */
  requestIdOf?: (document: T) => string | undefined;
  /** True if the document needs this kind of job. */
  isNeededBy: (document: T) => boolean;
}

export interface Outbox<T extends OutboxDocument> {
  /** Name of the sweep in logs and of its lease. */
  name: string;
  collection: Collection<T>;
  /**
   * Matches documents that the sweep handles. All others are final or wait for a person, and are
   * neither read nor written.
   */
  open: Filter<T>;
  /** Fields for `dataOf` in addition to those of `OutboxDocument`. */
  fields: readonly (keyof T & string)[];
  jobs: OutboxJob<T, never>[];
  /**
   * Returns the time in milliseconds before the sweep adds another job, after the job was lost
   * `epoch` times.
   */
  graceMs(epoch: number, document: T): number;
}

export function defineOutboxJob<T, Data extends object>(kind: OutboxJob<T, Data>): OutboxJob<T, never> {
  // The list contains jobs with different data types. Each job is added only with data from its own
  // `dataOf`.
  return kind as unknown as OutboxJob<T, never>;
}

const batchSize = 1_000;
const leaseMs = 30_000;
/** Time in milliseconds after which a document is checked again if its job is still queued. */
const recheckDelayMs = 20_000;

/**
 * Adds lost jobs until no document is overdue. A job that is still waiting is not added again.
 *
 * @param options.part Concurrent sweeps share the work by parts. Each part covers a different
 *   window of the overdue documents.
 * @param options.callForHelp Called once if there is more than one batch.
 * @returns The number of jobs added. Also 0 if another process sweeps this part.
 * @throws Error while MongoDB or Redis is unavailable. The next sweep continues.
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
      total += await addLostJobs(outbox, overdue);
      if (overdue.length < batchSize) {
        return total;
      }
    }
  });
  return added ?? 0;
}

/**
 * Finds overdue documents. If a document changes during the read, its conditional update fails or
 * the next sweep finds the document.
 */
async function findOverdue<T extends OutboxDocument>(outbox: Outbox<T>, skip: number): Promise<T[]> {
  const projection = Object.fromEntries(
    ['accountId', 'epoch', 'nextActionAt', ...outbox.fields].map((field) => [field, 1]),
  );
  const filter = { ...outbox.open, nextActionAt: { $lte: new Date(nowMs()) } } as Filter<T>;
  return outbox.collection.find(filter, { projection }).skip(skip).limit(batchSize).toArray() as Promise<T[]>;
}

async function addLostJobs<T extends OutboxDocument>(outbox: Outbox<T>, overdue: T[]): Promise<number> {
  if (overdue.length === 0) {
    return 0;
  }
  const waiting = await findStillWaiting(outbox, overdue);
  const lost = overdue.filter((each) => !waiting.has(each._id));
  // Write to MongoDB first. If Redis fails now, the next attempt follows after the grace period and
  // not at once.
  await outbox.collection.bulkWrite(buildNextActionUpdates(outbox, overdue, waiting), { ordered: false });
  for (const kind of outbox.jobs) {
    for (const [job, documents] of groupByJob(kind, lost)) {
      const requestIds = documents.map((each) => kind.requestIdOf?.(each));
      await addJobs(job, documents.map(kind.dataOf), requestIds);
    }
  }
  return lost.length;
}

/**
 * Builds one update per kind of change. An update matches only open documents, so final ones are
 * not changed. It matches only overdue documents, because every other writer sets a later
 * `nextActionAt`.
 */
function buildNextActionUpdates<T extends OutboxDocument>(
  outbox: Outbox<T>,
  overdue: T[],
  waiting: Set<string>,
): AnyBulkWriteOperation<T>[] {
  const latestMs = Math.max(...overdue.map(({ nextActionAt }) => nextActionAt?.getTime() ?? 0));
  const changes = groupBy(overdue, (each) => {
    const [by, ms] = waiting.has(each._id) ? [0, recheckDelayMs] : [1, outbox.graceMs(each.epoch + 1, each)];
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

/** Returns the ids of documents whose job BullMQ still has. */
async function findStillWaiting<T extends OutboxDocument>(
  outbox: Outbox<T>,
  overdue: T[],
): Promise<Set<string>> {
  const waiting = new Set<string>();
  for (const kind of outbox.jobs) {
    for (const [job, needing] of groupByJob(kind, overdue)) {
      const subjectOf = (document: T) => job.subject(kind.dataOf(document));
      const inQueue = await findQueuedSubjects(job, needing.map(subjectOf));
      needing.filter((each) => inQueue.has(subjectOf(each))).forEach((each) => waiting.add(each._id));
    }
  }
  return waiting;
}

/**
 * Groups documents by the job that they need, and omits documents that do not need this kind of
 * job.
 */
function groupByJob<T>({ job, isNeededBy }: OutboxJob<T, never>, documents: T[]): Map<Job<never>, T[]> {
  const jobOf = (document: T) => (typeof job === 'function' ? job(document) : job);
  return groupBy(documents.filter(isNeededBy), jobOf);
}
