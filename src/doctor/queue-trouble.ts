/** What is wrong with a queue whose workers live, by what it holds: the same words for `topup doctor` and for the alarms. */
import { hangsAfterShare, getLimitMs, type Queue } from '../jobs/define-job.js';
import type { SeenQueue } from '../jobs/look-at-queue.js';
import { findJobByName, listFixedQueues } from '../processes.js';
import { nowMs } from '../shared/clock.js';

const dueMaxMs = 60_000;

/** In milliseconds; 0: no job is under way for most of the time that it may take. */
export function hangingForMs({ active }: SeenQueue): number {
  if (!active) {
    return 0;
  }
  const underWayMs = nowMs() - active.sinceMs;
  return underWayMs >= hangsAfterShare * getLimitMs(findJobByName(active.name) ?? {}) ? underWayMs : 0;
}

/**
 * Whether its workers take nothing, though a job has been due for a minute. Orders also wait for their turn at a provider: there
 * it counts where nothing holds them back. True for a moment of a queue that is well: a round that comes again is at the
 * head, and has been due for long.
 */
export function isQueueStuck(
  queue: Queue,
  { counts, workers, isPaused, isLimited, oldestDueMs }: SeenQueue,
): boolean {
  const isHeldBack = isPaused || (isLimited && !listFixedQueues().some((each) => each.queue === queue));
  const isTaken = workers === 0 || (counts['active'] ?? 0) > 0;
  return !isTaken && !isHeldBack && nowMs() - (oldestDueMs ?? Infinity) > dueMaxMs;
}
