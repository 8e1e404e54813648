/**
 * The one source of time. A running process sets it to the fleet's clock (src/redis/fleet-clock.ts), tests move it to
 * play days in milliseconds; the money rules and the schedules never read Date.now themselves.
 */
let read: () => number = Date.now;

/** Milliseconds since the epoch. */
export function nowMs(): number {
  return read();
}

export function now(): Date {
  return new Date(read());
}

/** What this machine's own clock says, in milliseconds since the epoch: for comparing it with others, never to go by. */
export function hostMs(): number {
  return Date.now();
}

/** @param clock Milliseconds since the epoch, or null for the real time. */
export function setClock(clock: (() => number) | null): void {
  read = clock ?? Date.now;
}
