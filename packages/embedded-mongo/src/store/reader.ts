/**
 * The part of a transaction to which records refer. It identifies a reader and the holder of a
 * lock. An explicit reader is a client's transaction or a snapshot and reads one point in time. An
 * implicit reader is a single statement and reads committed data.
 */
export interface Reader {
  readonly explicit: boolean;
  /** The number of the newest commit that an explicit reader sees. */
  readonly snapshot: number;
  /** True once the transaction was committed or aborted. */
  hasEnded: boolean;
  /** Set while statements wait for the end of this transaction. */
  waiters: { promise: Promise<void>; wake: () => void } | null;
}

/** Resolves once the transaction that holds the lock has been committed or aborted. */
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
