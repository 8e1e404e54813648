import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { addJob, subjectsInQueue } from '../../jobs/add-job.js';
import { businessDay } from '../../shared/business-time.js';
import { now } from '../../shared/clock.js';
import { verifyNowJob } from './verify-now.job.js';

/**
 * Lets a worker verify the ledger now. One that waits or is under way is enough.
 * @throws DependencyError while Redis is away.
 */
export async function requestVerification(by: ChangedBy): Promise<void> {
  await addJob(verifyNowJob, {});
  await recordAudit(null, {
    ...by,
    action: 'ledger.verify',
    subject: { kind: 'ledger', id: businessDay(now()) },
  });
}

/** Whether one that was asked for waits or is under way. */
export async function isVerificationRequested(): Promise<boolean> {
  return (await subjectsInQueue(verifyNowJob, ['all'])).size > 0;
}
