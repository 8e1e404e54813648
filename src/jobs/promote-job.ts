import { logRedisError } from '../redis/connection-errors.js';
import { DependencyError } from '../shared/errors.js';
import { getDeduplicationId } from './add-job.js';
import type { Job } from './define-job.js';
import { openQueue } from './queues.js';

/**
 * Runs a delayed job at once, for example a job that waits after a failed round.
 * @returns False if there is no such job.
 * @throws DependencyError while Redis is unavailable.
 */
export async function promoteJob<Data extends object>(job: Job<Data>, data: Data): Promise<boolean> {
  const queue = openQueue(job.queue);
  try {
    const id = await queue.getDeduplicationJobId(getDeduplicationId(job, job.subject(data)));
    const waiting = id === null ? undefined : await queue.getJob(id);
    if (!waiting || !(await waiting.isDelayed())) {
      return false;
    }
    // A worker may have taken the job meanwhile.
    await waiting.promote().catch(async (error: unknown) => {
      if (await waiting.isDelayed()) {
        throw error;
      }
    });
    return true;
  } catch (error) {
    throw new DependencyError(error);
  }
}

/**
 * Moves a prioritised job to the front of its queue. Never throws, because a failure only delays
 * the job.
 */
export async function moveToFront<Data extends object>(job: Job<Data>, data: Data): Promise<void> {
  const queue = openQueue(job.queue);
  try {
    const id = await queue.getDeduplicationJobId(getDeduplicationId(job, job.subject(data)));
    const waiting = id === null ? undefined : await queue.getJob(id);
    if (waiting && waiting.priority > 0) {
      await waiting.changePriority({ priority: 0, lifo: true });
    }
  } catch (error) {
    logRedisError('job not moved to the front', error, { job: job.name, subject: job.subject(data) });
  }
}
