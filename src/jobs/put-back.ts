/**
 * Thrown by a handler whose job's turn has not come after all: the job goes back to the head of its queue, before all
 * that came later. Where the queue has a rate, none of its jobs is taken meanwhile.
 */
export class PutBackError extends Error {
  constructor(readonly retryAfterMs: number) {
    super(`Not yet: again in ${retryAfterMs} ms`);
  }
}
