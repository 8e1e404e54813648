import { lookUp } from '../../shared/collections.js';
import { toInt64 } from '../../database/typed-collection.js';
import type { StoredCounters } from './daily-totals.model.js';

/**
 * Counts and amounts in rupiah by path, such as `bought.count.SUCCESS`. Counters that are 0 are
 * absent.
 */
export type Counters = Map<string, number>;

/** A change of an account's totals. `day` is YYYY-MM-DD in business time. */
export interface TotalsChange {
  accountId: string;
  day: string;
  add: Counters;
}

/**
 * Escapes a text as one path step. Letters, digits and hyphens stay; any other character is
 * percent-encoded, such as `%2E`.
 */
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

/** Yields every counter of a stored document with its path. */
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

/** Builds the stored document of counters. */
export function nestCounters(counters: Counters): StoredCounters {
  const root: StoredCounters = {};
  for (const [path, value] of counters) {
    const steps = path.split('.');
    const last = steps.pop() ?? '';
    let at = root;
    for (const step of steps) {
      // Names come from the catalogue, so a step can be `constructor`. `lookUp` ignores inherited
      // properties.
      const next = (lookUp(at, step) ?? {}) as StoredCounters;
      at[step] = next;
      at = next;
    }
    at[last] = toInt64(value);
  }
  return root;
}
