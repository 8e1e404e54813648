import { findLastClosedDay, type ClosedDay } from '../../money/closes/find-close.js';
import { withLease } from '../../redis/lease.js';
import { businessDay, daysAfter, getStartOfDay } from '../../shared/business-time.js';
import { now, nowMs } from '../../shared/clock.js';
import { ValidationError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { logger } from '../../shared/logger.js';
import { closeDay } from './close-day.js';

/** After midnight, so that what was begun before it is committed. What comes later falls into the next day's close. */
const graceMs = 600_000;
const leaseMs = 60_000;

/** The clocked job: closes every day that is over, unless another process is at it. */
export async function closeDueDays(): Promise<void> {
  await withLease('close-ledger', leaseMs, () => closeLedger());
}

/**
 * Closes every day that is over and not closed, the earliest first. The first close ever takes all that was before it
 * into one day.
 * @param until YYYY-MM-DD, the last day to close.
 * @returns the days that it closed, or found closed by somebody else meanwhile.
 * @throws ValidationError for a day that is not over.
 */
export async function closeLedger(until = getLastDayOver()): Promise<ClosedDay[]> {
  if (until > getLastDayOver()) {
    throw new ValidationError([
      {
        field: 'date',
        message: asWritten(`${until} is not over: a day is closed from 10 minutes after its end`),
      },
    ]);
  }
  const closed: ClosedDay[] = [];
  let last = await findLastClosedDay();
  while (last === null || last._id < until) {
    const day: string = last === null ? until : daysAfter(last._id, 1);
    last = await closeDay({ day, end: getStartOfDay(daysAfter(day, 1)), now: now() }, last);
    closed.push(last);
    const { wallets, journals } = last.content;
    logger.info('ledger day closed', {
      day,
      root: last.root,
      wallets,
      journals,
      signed: last.signature !== null,
    });
  }
  return closed;
}

/** When the clock closes next, if nothing keeps it. */
export function getNextClose(last: ClosedDay | null): Date {
  const over = getLastDayOver();
  return last !== null && last._id < over
    ? now()
    : new Date(getStartOfDay(daysAfter(over, 2)).getTime() + graceMs);
}

function getLastDayOver(): string {
  return daysAfter(businessDay(new Date(nowMs() - graceMs)), -1);
}
