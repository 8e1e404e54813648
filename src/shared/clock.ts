/**
 * The only source of time. A process sets it to the clock that all processes share
 * (src/redis/fleet-clock.ts), and tests set their own time. Money rules and schedules never read
 * Date.now themselves.
 */
let readClock: () => number = Date.now;

/** Returns milliseconds since the epoch. */
export function nowMs(): number {
  return readClock();
}

export function now(): Date {
  return new Date(readClock());
}

/**
 * Returns this machine's own clock in milliseconds since the epoch. Use this only to compare
 * clocks.
 */
export function hostMs(): number {
  return Date.now();
}

/**
 * Sets the source of time.
 * @param clock Returns milliseconds since the epoch. Null to use the machine's clock.
 */
export function setClock(clock: (() => number) | null): void {
  readClock = clock ?? Date.now;
}
