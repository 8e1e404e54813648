/**
 * Who reads and who locks: the part of a transaction that records refer to. An explicit one is a client's transaction
 * (or snapshot), which reads one moment; an implicit one is a single statement, which reads what is committed.
 */
export interface Reader {
  readonly explicit: boolean;
  /** The newest commit that an explicit one sees. */
  readonly snapshot: number;
  /** Committed or aborted. */
  hasEnded: boolean;
  /** Set while somebody waits for its end. */
  waiters: { promise: Promise<void>; wake: () => void } | null;
}

/** Resolves when it has committed or aborted. */
export function endOf(holder: Reader): Promise<void> {
  if (holder.waiters === null) {
    let wake: () => void = () => undefined;
    const promise = new Promise<void>((resolve) => {
      wake = resolve;
    });
    holder.waiters = { promise, wake };
  }
  return holder.waiters.promise;
}
