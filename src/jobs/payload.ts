/** Payloads on their way through Redis: written with their version, checked on both sides. */
import { UnrecoverableError } from 'bullmq';
import type { Job } from './define-job.js';

/** What stands in Redis. */
export type Payload = Record<string, unknown>;

/** @throws Error if the data does not fit the job: a bug, found before anything waits for it. */
export function payloadOf<Data extends object>(job: Job<Data>, data: Data): Payload {
  return { v: job.version, ...checked(job, data) };
}

/**
 * The data of a job that came out of Redis, whichever release put it there.
 * @throws UnrecoverableError for a name or version that this release does not know. It is refused, not guessed: the
 *   job ends as failed, where an operator sees it, and what is due is found again in MongoDB.
 */
export function readPayload<Data extends object>(job: Job<Data>, name: string, payload: unknown): Data {
  const { v, ...fields } = payload as Payload;
  try {
    if (name === job.name && v === job.version) {
      return checked(job, fields);
    }
    const earlier = job.earlier?.find((each) => each.name === name && each.version === v);
    if (earlier) {
      return checked(job, earlier.read(fields));
    }
  } catch (error) {
    throw new UnrecoverableError(error instanceof Error ? error.message : String(error));
  }
  throw new UnrecoverableError(`This release does not know version ${String(v)} of job ${name}.`);
}

/** True if a job of this name, now or in an earlier release, is one of these. */
export function isNamed(job: Job<never>, name: string): boolean {
  return job.name === name || (job.earlier ?? []).some((each) => each.name === name);
}

function checked<Data extends object>(job: Job<Data>, data: object): Data {
  const { value, error } = job.data.validate(data, { convert: false, presence: 'required' }) as {
    value: Data;
    error?: Error;
  };
  if (error) {
    throw new Error(`Job ${job.name} has no valid data: ${error.message}`, { cause: error });
  }
  return value;
}
