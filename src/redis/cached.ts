import { limits } from '../../config/limits.js';
import { collectionNameOf, type AnyReadOnlyModel } from '../database/read-only-model.js';
import { hearingNow, listen, type Change } from './hear-changes.js';

interface Kept<V> {
  answer: Promise<V>;
  value: NonNullable<V>;
  hearing: number;
  until: number;
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
  /** What a value weighs; left out: nothing. */
  weightOf?: (value: NonNullable<V>) => number;
  /** What all that is kept may weigh together. */
  weightMax?: number;
}

/** What was not found is kept apart and shortly, so that guesses push nothing out. */
const missingMax = 1_000;

/**
 * Remembers what `load` returned: for `limits.cacheMs` while this process hears of changes, for `limits.cacheDeafMs`
 * while it does not, and until a change of what it is made from (decision 051). The least recently used go first.
 * Callers at the same time share one load; errors are not remembered. For facts, never for balances.
 */
export function cached<K, V>(options: CacheOptions<K, V>): (key: K) => Promise<V> {
  const ask = remembering(options);
  // What others name as they like must not fill our memory.
  return (key) =>
    typeof key === 'string' && key.length > limits.cacheKeyLengthMax
      ? Promise.resolve(options.load(key))
      : ask(key);
}

function remembering<K, V>(options: CacheOptions<K, V>): (key: K) => Promise<V> {
  const { load, isAbout = () => true, keepMs = limits.cacheMs, entriesMax = 10_000 } = options;
  const { weightOf = () => 0, weightMax = Infinity } = options;
  const collections = options.from.map(collectionNameOf);
  const kept = boundedMap<K, Kept<V>>({ entriesMax, weightOf: ({ value }) => weightOf(value), weightMax });
  const missing = boundedMap<K, { answer: Promise<V>; until: number }>({ entriesMax: missingMax });
  const loading = new Map<K, Promise<V>>();
  const begun = begunChanges();
  /** What was being loaded when it was raised may be from before a change: it is answered, and not kept. */
  let generation = 0;

  const forget = (isStale: (value: NonNullable<V>) => boolean): void => {
    generation += 1;
    loading.clear();
    missing.clear();
    for (const [key, { value }] of kept.entries()) {
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
      missing.set(key, { answer, until: at + limits.cacheDeafMs });
      return;
    }
    const isChanging = begun.at(at).some((change) => isTouched(value, change));
    const longest = hearing === 0 || isChanging ? limits.cacheDeafMs : keepMs;
    kept.set(key, { answer, value, hearing, until: at + Math.min(longest, keepMs) });
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
    const at = performance.now();
    const hearing = hearingNow();
    const found = kept.get(key);
    if (found && found.until > at && found.hearing === hearing) {
      kept.touch(key, found);
      return found.answer;
    }
    const nothing = missing.get(key);
    return nothing && nothing.until > at ? nothing.answer : (loading.get(key) ?? loadNow(key, at, hearing));
  };
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

/** The last one set or touched is the last to go. */
function boundedMap<K, E>(bounds: {
  entriesMax: number;
  weightOf?: (entry: E) => number;
  weightMax?: number;
}) {
  const { entriesMax, weightOf = () => 0, weightMax = Infinity } = bounds;
  const map = new Map<K, E>();
  let weight = 0;

  const remove = (key: K): void => {
    const found = map.get(key);
    if (found !== undefined) {
      weight -= weightOf(found);
      map.delete(key);
    }
  };
  return {
    get: (key: K) => map.get(key),
    entries: () => map.entries(),
    delete: remove,
    clear: () => {
      weight = 0;
      map.clear();
    },
    touch: (key: K, entry: E) => {
      map.delete(key);
      map.set(key, entry);
    },
    set: (key: K, entry: E) => {
      remove(key);
      map.set(key, entry);
      weight += weightOf(entry);
      for (const oldest of map.keys()) {
        if (map.size <= entriesMax && weight <= weightMax) {
          return;
        }
        remove(oldest);
      }
    },
  };
}
