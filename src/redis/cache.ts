import { LRUCache } from 'lru-cache';
import { limits } from '../../config/limits.js';
import { getCollectionName, type AnyReadOnlyModel } from '../database/read-only-model.js';
import { getSubscriptionEpoch, addListener, type Change } from './subscribe-changes.js';

interface CacheEntry<V> {
  answer: Promise<V>;
  value: NonNullable<V>;
  hearing: number;
}

export interface CacheOptions<K, V> {
  /** A change of one of these models invalidates the cache. */
  from: readonly AnyReadOnlyModel[];
  load: (key: K) => PromiseLike<V>;
  /**
   * Returns true if a value depends on this account or product. If absent, every change invalidates
   * all values.
   */
  isAbout?: (value: NonNullable<V>, subject: string) => boolean;
  /** Maximum age of a value, in milliseconds. */
  keepMs?: number;
  entriesMax?: number;
  /**
   * Computes the weight of a value. Values heavier than `max`, the maximum total weight, are not
   * cached.
   */
  weight?: { of: (value: NonNullable<V>) => number; max: number };
}

/**
 * Maximum number of cached keys without a value. They are cached separately and briefly, so that
 * guessed keys evict no values.
 */
const missingMax = 1_000;

/**
 * Caches the results of `load`. They live for `limits.cacheMs` while this process is subscribed to
 * changes, otherwise for `limits.cacheDeafMs`. A change of the models in `from` invalidates them
 * (decision 051). The least recently used entries are evicted first.
 *
 * Concurrent callers share one load. Errors are not cached. Use it for settings and catalogue data,
 * never for balances.
 */
export function createCache<K extends string, V>(options: CacheOptions<K, V>): (key: K) => Promise<V> {
  const ask = createMemoryCache(options);
  // Clients choose some keys, and long keys must not fill the memory.
  return (key) => (key.length > limits.cacheKeyLengthMax ? Promise.resolve(options.load(key)) : ask(key));
}

function createMemoryCache<K extends string, V>(options: CacheOptions<K, V>): (key: K) => Promise<V> {
  const { load, isAbout = () => true, keepMs = limits.cacheMs } = options;
  const collections = options.from.map(getCollectionName);
  const store = createStore(options);
  const missing = new LRUCache<K, Promise<V>>({
    max: missingMax,
    ttl: limits.cacheDeafMs,
    ttlResolution: 0,
  });
  const loading = new Map<K, Promise<V>>();
  const begun = trackBegunChanges();
  /**
   * If a load began under an earlier generation, its value may predate a change. The value is then
   * returned but not cached.
   */
  let generation = 0;

  const forget = (isStale: (value: NonNullable<V>) => boolean): void => {
    generation += 1;
    loading.clear();
    missing.clear();
    // Iterate over a copy, because lru-cache does not guarantee iteration during deletion.
    for (const [key, { value }] of [...store.entries()]) {
      if (isStale(value)) {
        store.delete(key);
      }
    }
  };
  const isTouched = (value: NonNullable<V>, { subjects }: Change): boolean =>
    subjects === null || subjects.some((subject) => isAbout(value, subject));

  addListener({
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
    store.set(key, { answer, value, hearing }, { start: at, ttl: Math.min(longest, keepMs) });
  }

  function loadNow(key: K, at: number, hearing: number): Promise<V> {
    const began = generation;
    // A mongoose query runs again with each `then`, so all callers share one promise.
    const answer: Promise<V> = Promise.resolve().then(async () => {
      try {
        const value = await load(key);
        if (generation === began && getSubscriptionEpoch() === hearing) {
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
    const hearing = getSubscriptionEpoch();
    const found = store.get(key);
    if (found?.hearing === hearing) {
      return found.answer;
    }
    return missing.get(key) ?? loading.get(key) ?? loadNow(key, performance.now(), hearing);
  };
}

function createStore<K extends string, V>({ entriesMax = 10_000, weight }: CacheOptions<K, V>) {
  return new LRUCache<K, CacheEntry<V>>({
    max: entriesMax,
    ttlResolution: 0,
    ...(weight && {
      maxSize: weight.max,
      sizeCalculation: ({ value }) => Math.max(1, weight.of(value)),
    }),
  });
}

/**
 * Changes that have begun and not ended. A value that is read meanwhile may predate such a change.
 */
function trackBegunChanges() {
  const begun = new Map<string, { change: Change; until: number }>();
  return {
    note(change: Change): void {
      if (change.phase === 'end') {
        begun.delete(change.id);
      } else {
        // If the writing process died, its change can no longer be committed after this time.
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
