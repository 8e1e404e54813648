import { nowMs } from '../shared/clock.js';

/** More than the clocks of two processes differ: each is known by half a trip to Redis, and those of one that starts are long. */
const clockSkewMs = 1_000;

/**
 * The time of a row that may be sent now: also by the clock of a process that is a little behind. It would find nothing due in
 * the turn that it was asked for, and the row would wait for the sweep.
 */
export function getImmediateDueTime(): Date {
  return new Date(nowMs() - clockSkewMs);
}
