import { LRUCache } from 'lru-cache';
import { limits } from '../../config/limits.js';
import { collectionNameOf, type AnyReadOnlyModel } from '../database/read-only-model.js';
import { hearingNow, listen, type Change } from './hear-changes.js';

interface Kept<V> {
  answer: Promise<V>;
  value: NonNullable<V>;
  hearing: number;
}

export interface CacheOptions<K, V> {
  /** What it is made from: a change of one of these drops it. */
  from: readonly AnyReadOnlyModel[];
  load: (key: K) => PromiseLike<V>;
  /** Whether a value is made from this account or product; without it a change drops all. */
  isAbout?: (value: NonNullable<V>, subject: string) => boolean;
  /** The longest that a value is kept. */
  keepMs?: number;
  entriesMax?: number;
  /** The weight of a value, and the most that all kept values weigh together. A heavier one is not kept. */
  weight?: { of: (value: NonNullable<V>) => number; max: number };
}

/** What was not found is kept apart and shortly, so that guesses push nothing out. */
const missingMax = 1_000;

/**
 * Remembers what `load` returned: for `limits.cacheMs` while this process hears of changes, for `limits.cacheDeafMs`
 * while it does not, and until a change of what it is made from (decision 051). The least recently used go first.
 * Callers at the same time share one load; errors are not remembered. For facts, never for balances.
 */
export function cached<K extends string, V>(options: CacheOptions<K, V>): (key: K) => Promise<V> {
  const ask = remembering(options);
  // What others name as they like must not fill our memory.
  return (key) => (key.length > limits.cacheKeyLengthMax ? Promise.resolve(options.load(key)) : ask(key));
}

function remembering<K extends string, V>(options: CacheOptions<K, V>): (key: K) => Promise<V> {
  const { load, isAbout = () => true, keepMs = limits.cacheMs } = options;
  const collections = options.from.map(collectionNameOf);
  const kept = createStore(options);
  const missing = new LRUCache<K, Promise<V>>({
    max: missingMax,
    ttl: limits.cacheDeafMs,
    ttlResolution: 0,
  });
  const loading = new Map<K, Promise<V>>();
  const begun = begunChanges();
  /** What was being loaded when it was raised may be from before a change: it is answered, and not kept. */
  let generation = 0;

  const forget = (isStale: (value: NonNullable<V>) => boolean): void => {
    generation += 1;
    loading.clear();
    missing.clear();
    // A copy: lru-cache does not promise to continue correctly after a deletion.
    for (const [key, { value }] of [...kept.entries()]) {
      if (isStale(value)) {
        kept.delete(key);
      }
    }
  };
  const isTouched = (value: NonNullable<V>, { subjects }: Change): boolean =>
    subjects === null || subjects.some((subject) => isAbout(value, subject));

  listen({
    onChange(change) {
      if (change.collections.some((each) => collections.includes(each))) {
        forget((value) => isTouched(value, change));
        begun.note(change);
      }
    },
    onGap: () => forget(() => true),
  });

  function keep(key: K, loaded: { answer: Promise<V>; value: V; hearing: number; at: number }): void {
    const { answer, value, hearing, at } = loaded;
    if (value === null || value === undefined) {
      missing.set(key, answer, { start: at });
      return;
    }
    const isChanging = begun.at(at).some((change) => isTouched(value, change));
    const longest = hearing === 0 || isChanging ? limits.cacheDeafMs : keepMs;
    kept.set(key, { answer, value, hearing }, { start: at, ttl: Math.min(longest, keepMs) });
  }

  function loadNow(key: K, at: number, hearing: number): Promise<V> {
    const began = generation;
    // A mongoose query runs again with each `then`: share the promise of its one run.
    const answer: Promise<V> = Promise.resolve().then(async () => {
      try {
        const value = await load(key);
        if (generation === began && hearingNow() === hearing) {
          keep(key, { answer, value, hearing, at });
        }
        return value;
      } finally {
        if (loading.get(key) === answer) {
          loading.delete(key);
        }
      }
    });
    loading.set(key, answer);
    return answer;
  }

  return (key) => {
    const hearing = hearingNow();
    const found = kept.get(key);
    if (found?.hearing === hearing) {
      return found.answer;
    }
    return missing.get(key) ?? loading.get(key) ?? loadNow(key, performance.now(), hearing);
  };
}

function createStore<K extends string, V>({ entriesMax = 10_000, weight }: CacheOptions<K, V>) {
  return new LRUCache<K, Kept<V>>({
    max: entriesMax,
    ttlResolution: 0,
    ...(weight && {
      maxSize: weight.max,
      sizeCalculation: ({ value }) => Math.max(1, weight.of(value)),
    }),
  });
}

/** Changes that have begun and are not over: what is read meanwhile may be from before them. */
function begunChanges() {
  const begun = new Map<string, { change: Change; until: number }>();
  return {
    note(change: Change): void {
      if (change.phase === 'end') {
        begun.delete(change.id);
      } else {
        // Whose process died can't come to hold any more after this.
        begun.set(change.id, { change, until: performance.now() + limits.cacheMs });
      }
    },
    at(ms: number): Change[] {
      for (const [id, { until }] of begun) {
        if (until <= ms) {
          begun.delete(id);
        }
      }
      return [...begun.values()].map(({ change }) => change);
    },
  };
}
