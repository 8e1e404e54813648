import { setImmediate } from 'node:timers/promises';

/** So long one slice of work holds up everything else in the process. */
const sliceMs = 10;

/** The items of a long source, with a pause whenever they have held the event loop for a slice. */
export async function* iterateInSlices<T>(source: Iterable<T>): AsyncGenerator<T> {
  let beganMs = performance.now();
  for (const item of source) {
    yield item;
    if (performance.now() - beganMs >= sliceMs) {
      await setImmediate();
      beganMs = performance.now();
    }
  }
}
