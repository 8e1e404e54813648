/**
 * The one source of time. Tests move it with `setClock` to play days in milliseconds; the money rules and the
 * schedules never read Date.now themselves.
 */
let read: () => number = Date.now;

/** Milliseconds since the epoch. */
export function nowMs(): number {
  return read();
}

export function now(): Date {
  return new Date(read());
}

/** @param clock Milliseconds since the epoch, or null for the real time. */
export function setClock(clock: (() => number) | null): void {
  read = clock ?? Date.now;
}
