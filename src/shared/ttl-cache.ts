import { limits } from '../../config/limits.js';
import { nowMs } from './clock.js';

/**
 * Remembers what `load` returned for `limits.cacheTtlMs`, and lets callers at the same time share one load.
 * Errors are not remembered. For facts that may be a second old: keys, accounts, products, never balances.
 */
export function ttlCache<K, V>(load: (key: K) => PromiseLike<V>, entriesMax = 10_000) {
  const entries = new Map<K, { until: number; value: Promise<V> }>();

  function get(key: K): Promise<V> {
    const found = entries.get(key);
    const at = nowMs();
    if (found && found.until > at) {
      return found.value;
    }
    if (entries.size >= entriesMax) {
      entries.clear();
    }
    // A mongoose query runs again with each `then`: share the promise of its one run.
    const value = (async () => load(key))();
    entries.set(key, { until: at + limits.cacheTtlMs, value });
    value.catch(() => entries.delete(key));
    return value;
  }

  return {
    get,
    drop: (key: K) => entries.delete(key),
    clear: () => {
      entries.clear();
    },
  };
}
