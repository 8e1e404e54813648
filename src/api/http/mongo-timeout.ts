import { limits } from '../../../config/limits.js';
import { DependencyError } from '../../shared/errors.js';
import { pingMongo } from '../../database/mongo.js';

/**
 * Waits for work as long as MongoDB responds, so that a busy machine causes no timeout. If MongoDB
 * stops responding, the client gets 503/03 within 3 s and can repeat the call with the same ref_id.
 */
export async function failWhenMongoIsDown<T>(work: Promise<T>): Promise<T> {
  // Abandoned work may still fail. Its error must not end the process.
  work.catch(() => undefined);
  const settled = work.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([settled, resolveFalseAfter(limits.patienceMs)]))) {
    if (!(await Promise.race([settled, pingMongoOnce()]))) {
      throw new DependencyError(new Error('MongoDB stopped responding'));
    }
  }
  return work;
}

let pendingPing: Promise<boolean> | null = null;

/** All waiting requests share one ping. */
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

/**
 * Resolves to false after `ms`, but reads responses that have already arrived first. After a busy
 * period, the event loop runs expired timers before it reads them.
 */
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
