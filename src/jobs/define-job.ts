import { UnrecoverableError } from 'bullmq';
import type Joi from 'joi';

/**
 * Thrown by a handler whose job cannot run yet. The job goes back to the head of its queue, before
 * all later jobs. If the queue has a rate limit, no job of the queue runs meanwhile.
 */
export class RequeueJobError extends Error {
  constructor(readonly retryAfterMs: number) {
    super(`Requeued: retry in ${retryAfterMs} ms`);
  }
}

/**
 * Thrown by a handler whose job must run later. Other jobs of the queue continue. When the delay
 * ends, the job runs before all waiting jobs, because it was already at the head of the queue.
 */
export class DeferJobError extends Error {
  constructor(readonly afterMs: number) {
    super(`Deferred: retry in ${afterMs} ms`);
  }
}

/**
 * Returned by a handler whose job ran too early and was rescheduled. The handler did no work, so
 * earlier failed rounds still count (decision 047).
 */
export const tooEarly = Symbol('too early');

/**
 * A queue as BullMQ and the operator see it. Workers, the queue board, `topup doctor` and the
 * process table use the same object.
 */
export interface Queue {
  /**
   * The queue name, which is also part of its keys in Redis. It never changes, because jobs wait
   * under these keys across releases.
   */
  name: string;
  /** Title in the operator console, if the name is not clear. */
  title?: string;
  /** Description in the operator console. */
  does: string;
  /** Number of concurrent jobs in one process. */
  concurrency: number;
  /**
   * Limits for all processes together, which BullMQ enforces in Redis. If absent, there is no
   * limit.
   */
  fleet?: FleetLimits;
}

/** Limits of a queue for all processes together. A null field means no limit. */
export interface FleetLimits {
  concurrency: number | null;
  /** Jobs started per second, evenly spaced. */
  perSecond: number | null;
}

/** A payload of an earlier release, which may still wait in Redis after an upgrade. */
export interface EarlierPayload {
  name: string;
  version: number;
  /** Converts the payload to the current schema. The result is validated afterwards. */
  read(payload: Record<string, unknown>): object;
}

export interface Job<Data extends object> {
  queue: Queue;
  name: string;
  /**
   * Version of the schema of `data`. Each change of the schema increments it, and the previous
   * schema moves to `earlier`.
   */
  version: number;
  /**
   * Joi schema, validated when a job is added and when it runs. Payloads contain ids, never money
   * or secrets; handlers read the current state from MongoDB.
   */
  data: Joi.ObjectSchema<Data>;
  earlier?: EarlierPayload[];
  /**
   * Returns the subject of the job, which is its deduplication id. If a job of the same subject
   * waits, a second one is not added.
   */
  subject(data: Data): string;
  /**
   * Behaviour if a job of the same subject is delayed. `keep` drops the new job; `replace` puts the
   * new job in place of the delayed one.
   */
  whileDelayed: 'keep' | 'replace';
  /**
   * Behaviour if a job of the same subject is active. With `follow`, the new job runs after it;
   * with `skip`, the new job is dropped.
   */
  whileActive: 'follow' | 'skip';
  /**
   * False if no sweep adds the job again. The job then stays in its queue until it is done or needs
   * a person.
   */
  isSwept?: false;
  /** True if a client waits for the job and retries itself. A failed job is then not retried. */
  mayBeLost?: true;
  /**
   * Maximum duration of one run in milliseconds, two minutes by default. After that the job fails,
   * so that another job of its subject can run.
   */
  limitMs?: number;
  /** The period of scheduled work. In each period, one process runs one job. */
  clock?: { everyMs: number; data: Data };
}

export function defineQueue(queue: Queue): Queue {
  return queue;
}

/**
 * Defines a job. By default, a new job is dropped if a job of the same subject is waiting or
 * active.
 */
export function defineJob<Data extends object>(
  job: Omit<Job<Data>, 'whileDelayed' | 'whileActive'> &
    Partial<Pick<Job<Data>, 'whileDelayed' | 'whileActive'>>,
): Job<Data> {
  return { whileDelayed: 'keep', whileActive: 'skip', ...job };
}

const limitDefaultMs = 120_000;

/**
 * Share of the time limit after which an active job counts as hanging, for example because a
 * response never arrives.
 */
export const hangsAfterShare = 0.75;

/** Returns the time limit of a run in milliseconds. */
export function getLimitMs({ limitMs = limitDefaultMs }: Pick<Job<never>, 'limitMs'>): number {
  return limitMs;
}

/** Handles jobs of one kind. `close` is called when no job of this kind is active any more. */
export interface Handler {
  job: Job<never>;
  /**
   * Called when several rounds of a job have failed (decision 047). Returns true if the subject
   * itself now shows that it needs a person, or needs no more work. If the result is false or the
   * method is absent, the job is listed as needing a person. Must be safe to call twice, and must
   * not move money.
   */
  setAside?: ((data: never, reason: string) => Promise<boolean>) | undefined;
  open(): { run(data: never): Promise<unknown>; close(): Promise<void> };
}

/**
 * Handlers that are added and removed while the process runs, with one queue for each configured
 * item. Like all queue names, the names in Redis never change.
 */
export interface HandlerFamily {
  /** Name in logs. */
  name: string;
  /**
   * Returns the current handlers, one per queue. Called every second, so implementations read from
   * memory.
   */
  handlersNow(): Promise<Handler[]>;
}

/**
 * Creates a handler. `run` must be safe to run twice and concurrently: BullMQ repeats the jobs of a
 * killed worker.
 */
export function handle<Data extends object>(
  job: Job<Data>,
  run: (data: Data) => Promise<unknown>,
  setAside?: (data: Data, reason: string) => Promise<boolean>,
): Handler {
  return handleWith(job, () => ({ run, close: () => Promise.resolve() }), setAside);
}

/** Creates a handler for work that keeps a resource open for the lifetime of the process. */
export function handleWith<Data extends object>(
  job: Job<Data>,
  open: () => { run(data: Data): Promise<unknown>; close(): Promise<void> },
  setAside?: (data: Data, reason: string) => Promise<boolean>,
): Handler {
  // The list contains handlers with different data types. Each handler is called only with data
  // that its own job has validated.
  return { job, open, setAside } as unknown as Handler;
}

/** A payload as stored in Redis. */
export type Payload = Record<string, unknown>;

/**
 * Builds the payload of a job.
 * @throws Error if the data does not match the schema. This finds bugs before the job is queued.
 */
export function buildPayload<Data extends object>(job: Job<Data>, data: Data): Payload {
  return { v: job.version, ...parseData(job, data) };
}

/**
 * Reads the data of a job from Redis, as written by this or an earlier release.
 * @throws UnrecoverableError for an unknown name or version. The job then fails, which operators
 *   see, and the sweep finds overdue work again in MongoDB.
 */
export function readPayload<Data extends object>(job: Job<Data>, name: string, payload: unknown): Data {
  const { v, ...fields } = (payload ?? {}) as Payload;
  try {
    if (name === job.name && v === job.version) {
      return parseData(job, fields);
    }
    const earlier = job.earlier?.find((each) => each.name === name && each.version === v);
    if (earlier) {
      return parseData(job, earlier.read(fields));
    }
  } catch (error) {
    throw new UnrecoverableError(error instanceof Error ? error.message : String(error));
  }
  throw new UnrecoverableError(`This release does not know version ${String(v)} of job ${name}.`);
}

/** True if the job has this name now, or had it in an earlier release. */
export function isNamed(job: Job<never>, name: string): boolean {
  return job.name === name || (job.earlier ?? []).some((each) => each.name === name);
}

function parseData<Data extends object>(job: Job<Data>, data: object): Data {
  const { value, error } = job.data.validate(data, { convert: false, presence: 'required' }) as {
    value: Data;
    error?: Error;
  };
  if (error) {
    throw new Error(`Job ${job.name} has no valid data: ${error.message}`, { cause: error });
  }
  return value;
}
