import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { inTransaction } from '../../database/mongo.js';
import { addJob } from '../../jobs/add-job.js';
import { readPayload } from '../../jobs/define-job.js';
import { FailingJobModel, type FailingJob, failingJobs } from '../../jobs/failing-job.model.js';
import { promoteJob } from '../../jobs/promote-job.js';
import { findJobByName } from '../../processes.js';
import { NotFoundError, DependencyError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { findRawJob } from './find-jobs.js';
import { findRefusal, getSubjectId, type RawJob, type Refusal } from './describe-job.js';

/**
 * Lets a job that was set aside run again at once, with its rounds counted from none. Safe to call twice: a subject has one
 * job that waits.
 * @throws NotFoundError if it does not fail (any more), DependencyError while Redis is away: then call it again.
 */
export async function retryFailingJob(id: string, by: ChangedBy): Promise<FailingJob> {
  const failing = await FailingJobModel.findById(id).lean<FailingJob>();
  const named = failing && findJobByName(failing.job);
  if (!failing || !named) {
    throw new NotFoundError(asWritten(`There is no failing job ${id}. See them: topup job list`));
  }
  const job = { ...named, queue: { ...named.queue, name: failing.queue } };
  const data = readPayload(job, failing.job, failing.payload);
  await inTransaction(async (session) => {
    await FailingJobModel.updateOne({ _id: id }, { $set: { rounds: 0 } }, { session });
    const { rounds, reason, queue } = failing;
    await recordAudit(session, {
      ...by,
      action: 'job.retry',
      subject: { kind: 'queue', id: queue },
      before: { job: id, rounds, failure: reason },
    });
  });
  // What runs by the clock comes by itself.
  if (!job.clock && !(await promoteJob(job, data))) {
    await addJob(job, data);
  }
  // Not before: without Redis it would be in nobody's list. One that has failed again meanwhile stays.
  await FailingJobModel.deleteOne({ _id: id, rounds: 0 });
  return failing;
}

export interface Retried {
  id: string;
  /** Null: it runs again. */
  refusal: Refusal | null;
}

/** More at once is a cause to mend first. */
export const retriedMax = 100;

/**
 * Lets jobs run again at once, one after the other, each with its entry in the audit log; those that cannot say why. A job that has
 * failed for good is added anew, so that its subject still has one job at a time, and by its payload of today: it reads what is
 * so by now, as after any repetition, and moves no money a second time.
 * @param ids As they are shown: `812@settlements`, or name and subject of one that failed again and again.
 * @throws DependencyError while a database is away: those before have gone on, and it is safe to call again.
 */
export async function retryJobs(ids: string[], by: ChangedBy): Promise<Retried[]> {
  const retried: Retried[] = [];
  for (const id of new Set(ids)) {
    retried.push({ id, refusal: await retryOne(id, by) });
  }
  return retried;
}

async function retryOne(id: string, by: ChangedBy): Promise<Refusal | null> {
  const raw = await findRawJob(id);
  if (!raw) {
    return retryRow(id, by);
  }
  const rowId = getSubjectId(raw);
  const row = rowId === null ? null : await failingJobs.findOne({ _id: rowId });
  const refusal = findRefusal(raw, row);
  if (refusal === null) {
    // What stands in the list is added by that, and once.
    await (row ? retryFailingJob(row._id, by) : runAgain(raw, by));
    if (raw.state === 'failed') {
      // Last: what was added anew is not lost with it, and it is not retried twice.
      await raw.bullJob.remove().catch((error: unknown) => {
        throw new DependencyError(error);
      });
    }
  }
  return refusal;
}

/** One that stands in the list of failing jobs. */
async function retryRow(id: string, by: ChangedBy): Promise<Refusal | null> {
  try {
    await retryFailingJob(id, by);
    return null;
  } catch (error) {
    if (error instanceof NotFoundError) {
      return 'gone';
    }
    throw error;
  }
}

async function runAgain({ job, data, queue, bullJob, state }: RawJob, by: ChangedBy): Promise<void> {
  if (!job || !data || state !== 'failed') {
    return;
  }
  const before = { job: bullJob.name, id: bullJob.id, data };
  await recordAudit(null, { ...by, action: 'job.retry', subject: { kind: 'queue', id: queue.name }, before });
  const here = { ...job, queue };
  if (!(await promoteJob(here, data as never))) {
    await addJob(here, data as never, { priority: bullJob.opts.priority ?? 0 });
  }
}
