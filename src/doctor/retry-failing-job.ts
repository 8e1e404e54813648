import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { inTransaction } from '../database/mongo.js';
import { addJob } from '../jobs/add-job.js';
import { readPayload } from '../jobs/define-job.js';
import { FailingJobModel, type FailingJob } from '../jobs/failing-job.model.js';
import { promoteJob } from '../jobs/promote-job.js';
import { findJobByName } from '../processes.js';
import { NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';

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
