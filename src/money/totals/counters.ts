import { lookUp } from '../../shared/collections.js';
import { int64 } from '../../database/typed-collection.js';
import type { StoredCounters } from './daily-totals.model.js';

/** Counts, and rupiah, by path: `bought.count.SUCCESS`. None of them is 0. */
export type Counters = Map<string, number>;

/** What an event adds to the totals of an account; `day` is YYYY-MM-DD in business time. */
export interface TotalsChange {
  accountId: string;
  day: string;
  add: Counters;
}

/** A text as one step of a path: MongoDB's own signs, and whatever else a name may hold, are written as `%2E`. */
export function toPathStep(text: string): string {
  return text === ''
    ? '%'
    : text.replace(/[^A-Za-z0-9-]/gu, (sign) =>
        [...Buffer.from(sign)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
      );
}

export function addToCounter(counters: Counters, path: string, add: number): void {
  const sum = (counters.get(path) ?? 0) + add;
  if (sum === 0) {
    counters.delete(path);
  } else {
    counters.set(path, sum);
  }
}

export function addToCounters(
  counters: Counters,
  added: Iterable<[path: string, add: number]>,
  sign: 1 | -1 = 1,
) {
  for (const [path, add] of added) {
    addToCounter(counters, path, sign * add);
  }
}

/** Every counter of a document by its path. */
export function* flattenCounters(
  stored: StoredCounters,
  prefix = '',
): Generator<[path: string, value: number]> {
  for (const [field, value] of Object.entries(stored)) {
    if (typeof value === 'number') {
      yield [`${prefix}${field}`, value];
    } else {
      yield* flattenCounters(value, `${prefix}${field}.`);
    }
  }
}

/** The document of counters, as it is stored. */
export function nestCounters(counters: Counters): StoredCounters {
  const root: StoredCounters = {};
  for (const [path, value] of counters) {
    const steps = path.split('.');
    const last = steps.pop() ?? '';
    let at = root;
    for (const step of steps) {
      // Names come from the catalogue: `constructor` is one like any other.
      const next = (lookUp(at, step) ?? {}) as StoredCounters;
      at[step] = next;
      at = next;
    }
    at[last] = int64(value);
  }
  return root;
}
