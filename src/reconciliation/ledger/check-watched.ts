import { businessTime } from '../../shared/business-time.js';
import { nowMs } from '../../shared/clock.js';

/**
 * Nothing waits as long as this by itself: the longest pause between two questions to a provider is an hour, and a sweep
 * that is behind looks again after a minute.
 */
const waitMaxMs = 24 * 60 * 60_000;

/** Something open must be looked at again, and soon. @param otherwise Who else looks at it: a person. */
export function checkNextAction(nextActionAt: Date | null, otherwise: boolean): string[] {
  if (nextActionAt === null) {
    return otherwise ? [] : ['it is open but nobody will ever look at it'];
  }
  return nextActionAt.getTime() > nowMs() + waitMaxMs
    ? [`it is open but nobody will look at it before ${businessTime(nextActionAt)}`]
    : [];
}
