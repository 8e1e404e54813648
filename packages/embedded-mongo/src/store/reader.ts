/**
 * The part of a transaction that records refer to: a reader and lock holder. An explicit one is a
 * client's transaction or snapshot and reads one point in time. An implicit one is a single
 * statement and reads committed data.
 */
export interface Reader {
  readonly explicit: boolean;
  /** The newest commit that an explicit reader sees. */
  readonly snapshot: number;
  /** Committed or aborted. */
  hasEnded: boolean;
  /** Set while a statement waits for its end. */
  waiters: { promise: Promise<void>; wake: () => void } | null;
}

/** Resolves when the holder has committed or aborted. */
export function waitForEnd(holder: Reader): Promise<void> {
  if (holder.waiters === null) {
    let wake: () => void = () => undefined;
    const promise = new Promise<void>((resolve) => {
      wake = resolve;
    });
    holder.waiters = { promise, wake };
  }
  return holder.waiters.promise;
}
