import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { runInTransaction } from '../../database/mongo.js';
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
 * Retries a job that was set aside, and resets its failed rounds to 0. Safe to call twice, because
 * only one job per subject can wait.
 * @throws NotFoundError if the job is not, or is no longer, set aside.
 * @throws DependencyError while Redis is unavailable. Call it again then.
 */
export async function retryFailingJob(id: string, by: ChangedBy): Promise<FailingJob> {
  const failing = await FailingJobModel.findById(id).lean<FailingJob>();
  const named = failing && findJobByName(failing.job);
  if (!failing || !named) {
    throw new NotFoundError(asWritten(`There is no failing job ${id}. See them: topup job list`));
  }
  const job = { ...named, queue: { ...named.queue, name: failing.queue } };
  const data = readPayload(job, failing.job, failing.payload);
  await runInTransaction(async (session) => {
    await FailingJobModel.updateOne({ _id: id }, { $set: { rounds: 0 } }, { session });
    const { rounds, reason, queue } = failing;
    await recordAudit(session, {
      ...by,
      action: 'job.retry',
      subject: { kind: 'queue', id: queue },
      before: { job: id, rounds, failure: reason },
    });
  });
  // The schedule adds scheduled jobs again.
  if (!job.clock && !(await promoteJob(job, data))) {
    await addJob(job, data);
  }
  // Delete the row last, because the job must stay listed while Redis is unavailable. If the job
  // has failed again meanwhile, `rounds` is above 0 and the row stays.
  await FailingJobModel.deleteOne({ _id: id, rounds: 0 });
  return failing;
}

export interface RetryResult {
  id: string;
  /** Why the job was not retried. Null if it runs again. */
  refusal: Refusal | null;
}

/**
 * Maximum number of jobs retried in one call. If more jobs fail, they have a common cause that must
 * be fixed first.
 */
export const retriedMax = 100;

/**
 * Retries jobs one after another, each with an audit entry. A job that cannot be retried has a
 * refusal in the result.
 *
 * A job that failed permanently is added again with its current payload. Its subject still has only
 * one job, which reads the current state as after any retry. So no money moves twice.
 *
 * @param ids Ids as shown to operators: `812@settlements`, or name and subject of a job that failed
 *   repeatedly.
 * @throws DependencyError while a database is unavailable. Earlier jobs of the list were retried,
 *   and it is safe to call again.
 */
export async function retryJobs(ids: string[], by: ChangedBy): Promise<RetryResult[]> {
  const retried: RetryResult[] = [];
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
    // If the job is listed as failing, `retryFailingJob` adds it. Do not add it twice.
    await (row ? retryFailingJob(row._id, by) : runAgain(raw, by));
    if (raw.state === 'failed') {
      // Remove the old job last, so that a crash loses nothing. A second call does not find it any
      // more.
      await raw.bullJob.remove().catch((error: unknown) => {
        throw new DependencyError(error);
      });
    }
  }
  return refusal;
}

/** Retries a job from the list of failing jobs. */
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
