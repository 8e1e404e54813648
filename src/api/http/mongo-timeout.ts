import { limits } from '../../../config/limits.js';
import { DependencyError } from '../../shared/errors.js';
import { pingMongo } from '../../database/mongo.js';

/**
 * Waits for work while MongoDB answers, however busy the machine is; when it has stopped answering, the client
 * hears 503/03 within 3 s instead of hanging, and repeats the call with the same ref_id.
 */
export async function whileMongoAnswers<T>(work: Promise<T>): Promise<T> {
  // The late result of work that was given up has nobody to go to; its error must not end the process.
  work.catch(() => undefined);
  const settled = work.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([settled, resolveFalseAfter(limits.patienceMs)]))) {
    if (!(await Promise.race([settled, pingMongoOnce()]))) {
      throw new DependencyError(new Error('MongoDB stopped answering'));
    }
  }
  return work;
}

let pendingPing: Promise<boolean> | null = null;

/** One question at a time for all the requests that wait. */
function pingMongoOnce(): Promise<boolean> {
  pendingPing ??= Promise.race([
    pingMongo().then(
      () => true,
      () => false,
    ),
    resolveFalseAfter(limits.pingPatienceMs),
  ]).finally(() => {
    pendingPing = null;
  });
  return pendingPing;
}

/** False after a time, but only once the answers that have already arrived were read: a busy loop fires timers first. */
function resolveFalseAfter(ms: number): Promise<false> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      setImmediate(() => {
        setImmediate(() => {
          resolve(false);
        });
      });
    }, ms);
    timer.unref();
  });
}
