import type { Timestamp } from 'bson';
import type { Collection } from './collection.js';

/**
 * The replication progress of a majority of the replica set. The set has only one member, so the
 * replication lag is simulated: commits become visible to `majority` reads after a delay, in commit
 * order. Commits that wait at the same time arrive together.
 */
export interface Majority {
  /** The number of the newest commit that a majority has. Infinity while there is no lag. */
  readonly point: number;
  /** The cluster time of the newest commit that a majority has. Null while there is no lag. */
  readonly time: Timestamp | null;
  /** Reports a new commit with this number. */
  reportCommit: (commit: number, written: Iterable<Collection>) => void;
  /**
   * Returns undefined if a majority has this commit. Otherwise a promise that resolves once it has.
   */
  reached: (commit: number) => Promise<void> | undefined;
  /** Like `reached`, but for a cluster time. */
  reachedTime: (time: Timestamp) => Promise<void> | undefined;
  /** Lets all waiting commits reach the majority immediately. */
  release: () => void;
  /** Called after `point` has increased. */
  onAdvance: () => void;
}

/**
 * The range of milliseconds after which a commit reaches the majority. With Infinity, the commit
 * waits for `release`.
 */
export interface Lag {
  minMs: number;
  maxMs: number;
}

/**
 * Commits that reach the majority together: all commits up to `upTo` that no earlier group
 * contains.
 */
interface Group {
  upTo: number;
  time: Timestamp;
  dueMs: number;
  arrival: Promise<void>;
  arrive: () => void;
}

interface MajorityOptions {
  /** Returns the cluster time of the commit with this number. */
  timeOf: (commit: number) => Timestamp;
  /** Returns the lag of a commit to these collections, or null for no lag. */
  lagOf: (written: Iterable<Collection>) => Lag | null;
}

export function createMajority({ timeOf, lagOf }: MajorityOptions): Majority {
  const groups: Group[] = [];
  let point = Infinity;
  let time: Timestamp | null = null;
  let timer: NodeJS.Timeout | undefined;

  const schedule = (): void => {
    clearTimeout(timer);
    const due = groups[0]?.dueMs ?? Infinity;
    // Unreferenced, because a waiting commit must not keep the process of a stopped server alive.
    timer = due === Infinity ? undefined : setTimeout(advance, Math.max(0, due - Date.now())).unref();
  };

  const advance = (): void => {
    const now = Date.now();
    const arrived = groups.splice(
      0,
      countWhile(groups, ({ dueMs }) => dueMs <= now),
    );
    const last = arrived.at(-1);
    if (last !== undefined) {
      point = groups.length === 0 ? Infinity : last.upTo;
      time = groups.length === 0 ? null : last.time;
      majority.onAdvance();
      for (const { arrive } of arrived) {
        arrive();
      }
    }
    schedule();
  };

  const majority: Majority = {
    get point() {
      return point;
    },
    get time() {
      return time;
    },
    onAdvance: () => undefined,
    reportCommit(commit, written) {
      const lag = lagOf(written);
      const newest = groups.at(-1);
      if (lag === null && newest === undefined) {
        return;
      }
      const earliestMs = Date.now() + (lag?.minMs ?? 0);
      if (newest !== undefined && newest.dueMs >= earliestMs) {
        newest.upTo = commit;
        newest.time = timeOf(commit);
        return;
      }
      if (newest === undefined) {
        point = commit - 1;
        time = timeOf(point);
      }
      const spreadMs = lag === null || lag.maxMs === lag.minMs ? 0 : Math.random() * (lag.maxMs - lag.minMs);
      groups.push(groupOf(commit, { time: timeOf(commit), dueMs: earliestMs + spreadMs }));
      if (groups.length === 1) {
        schedule();
      }
    },
    reached: (commit) => (commit <= point ? undefined : groups.find(({ upTo }) => upTo >= commit)?.arrival),
    reachedTime: (wanted) =>
      groups.find((group) => wanted.greaterThan(time ?? wanted) && group.time.greaterThanOrEqual(wanted))
        ?.arrival,
    release() {
      for (const group of groups) {
        group.dueMs = 0;
      }
      advance();
    },
  };
  return majority;
}

function groupOf(upTo: number, { time, dueMs }: { time: Timestamp; dueMs: number }): Group {
  let arrive: () => void = () => undefined;
  const arrival = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  return { upTo, time, dueMs, arrival, arrive };
}

function countWhile<T>(items: readonly T[], condition: (item: T) => boolean): number {
  const end = items.findIndex((item) => !condition(item));
  return end < 0 ? items.length : end;
}
