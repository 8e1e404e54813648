/**
 * Thrown by a handler whose job's turn has not come after all: the job goes back to the head of its queue, before all
 * that came later. Where the queue has a rate, none of its jobs is taken meanwhile.
 */
export class RequeueJobError extends Error {
  constructor(readonly retryAfterMs: number) {
    super(`Not yet: again in ${retryAfterMs} ms`);
  }
}

/**
 * Thrown by a handler whose job alone has to come later: its queue is not at fault, and others of it are done meanwhile. When its
 * time has come it goes before all that wait: it had its turn already.
 */
export class DeferJobError extends Error {
  constructor(readonly afterMs: number) {
    super(`Later: again in ${afterMs} ms`);
  }
}
