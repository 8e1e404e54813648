import { UnrecoverableError } from 'bullmq';
import type Joi from 'joi';

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

/**
 * What a handler returns whose job came before its time and has put it off: nothing was tried, so the rounds that failed
 * before are not forgotten (decision 047).
 */
export const tooEarly = Symbol('too early');

/**
 * Work as data. A job says what it is for, where it waits, what its payload holds and how it is told apart; workers,
 * the queue board, `topup doctor` and the table of processes are made from the same objects. Payloads carry ids and a
 * version, never money or secrets: state is read from MongoDB.
 */

/** A queue, as BullMQ and an operator know it. */
export interface Queue {
  /** Also its key in Redis: jobs wait under it over a release, so it never changes. */
  name: string;
  /** What the operator's console calls it, where the name says little. */
  title?: string;
  /** Words for the operator's console. */
  does: string;
  /** Jobs that one process works on at the same time. */
  concurrency: number;
  /** What all processes together keep to; BullMQ holds it in Redis. Absent: no limit. */
  fleet?: FleetLimits;
}

/** Null: no limit. */
export interface FleetLimits {
  /** Jobs worked on at the same time. */
  concurrency: number | null;
  /** Jobs begun in a second, evenly spaced. */
  perSecond: number | null;
}

/** A payload of an earlier release, which may still wait in Redis when this one starts. */
export interface EarlierPayload {
  name: string;
  version: number;
  /** The same in the shape of today, which is checked afterwards. */
  read(payload: Record<string, unknown>): object;
}

export interface Job<Data extends object> {
  queue: Queue;
  name: string;
  /** Rises with each change of the shape of `data`; the shape before it then goes to `earlier`. */
  version: number;
  /** Checked when a job is added and again when it is run. */
  data: Joi.ObjectSchema<Data>;
  earlier?: EarlierPayload[];
  /** What it is about: one job of a subject waits at any time, a second one is not added. */
  subject(data: Data): string;
  /**
   * When one of the same subject waits with a delay. `keep`: the new one is not needed. `replace`: the new one knows
   * better when.
   */
  whileDelayed: 'keep' | 'replace';
  /** When one of the same subject is being worked on. `follow`: the new one comes after it. `skip`: it is not needed. */
  whileActive: 'follow' | 'skip';
  /** False for work that no sweep finds again: it stays in its queue until it is done or needs a person. */
  isSwept?: false;
  /** A client waits for it and asks again itself: what fails is not tried again. */
  mayBeLost?: true;
  /** How long one run may take, two minutes without this. Then the job has failed, so that another of its subject may come. */
  limitMs?: number;
  /** Work by the clock: one job for the whole fleet in each period. */
  clock?: { everyMs: number; data: Data };
}

export function defineQueue(queue: Queue): Queue {
  return queue;
}

/** A job of a subject that is in good hands as soon as one waits or is being worked on, unless it says otherwise. */
export function defineJob<Data extends object>(
  job: Omit<Job<Data>, 'whileDelayed' | 'whileActive'> &
    Partial<Pick<Job<Data>, 'whileDelayed' | 'whileActive'>>,
): Job<Data> {
  return { whileDelayed: 'keep', whileActive: 'skip', ...job };
}

const limitDefaultMs = 120_000;

/** The part of its time after which a job that is under way counts as hanging, as on an answer that never comes. */
export const hangsAfterShare = 0.75;

/** In milliseconds. */
export function getLimitMs({ limitMs = limitDefaultMs }: Pick<Job<never>, 'limitMs'>): number {
  return limitMs;
}

/** What a process does with the jobs of a kind. `close` is called when no job of it is under way any more. */
export interface Handler {
  job: Job<never>;
  /**
   * Called when rounds of it have failed again and again (decision 047). True: what it is about now shows by itself that
   * it waits for a person, and why, or needs nobody any more. Otherwise, and without this, the job is kept among those that
   * need a person. It is safe to call twice, and moves no money.
   */
  setAside?: ((data: never, reason: string) => Promise<boolean>) | undefined;
  open(): { run(data: never): Promise<unknown>; close(): Promise<void> };
}

/**
 * Handlers that come and go while the process runs: a queue for each of something that people add and remove. Their
 * names in Redis never change, as those of other queues.
 */
export interface HandlerFamily {
  /** For logs. */
  name: string;
  /** The handlers that this process should have now, one a queue. Asked every second, so from memory. */
  handlersNow(): Promise<Handler[]>;
}

/** The function that does a job. It is safe to run twice, and at once: BullMQ repeats what a killed worker held. */
export function handle<Data extends object>(
  job: Job<Data>,
  run: (data: Data) => Promise<unknown>,
  setAside?: (data: Data, reason: string) => Promise<boolean>,
): Handler {
  return handleWith(job, () => ({ run, close: () => Promise.resolve() }), setAside);
}

/** As `handle`, for work that keeps something open in its process from its start to its end. */
export function handleWith<Data extends object>(
  job: Job<Data>,
  open: () => { run(data: Data): Promise<unknown>; close(): Promise<void> },
  setAside?: (data: Data, reason: string) => Promise<boolean>,
): Handler {
  // A list holds handlers of many kinds of data; each is only ever given what its own job has read.
  return { job, open, setAside } as unknown as Handler;
}

/** What stands in Redis. */
export type Payload = Record<string, unknown>;

/** @throws Error if the data does not fit the job: a bug, found before anything waits for it. */
export function buildPayload<Data extends object>(job: Job<Data>, data: Data): Payload {
  return { v: job.version, ...checked(job, data) };
}

/**
 * The data of a job that came out of Redis, whichever release put it there.
 * @throws UnrecoverableError for a name or version that this release does not know. It is refused, not guessed: the
 *   job ends as failed, where an operator sees it, and what is due is found again in MongoDB.
 */
export function readPayload<Data extends object>(job: Job<Data>, name: string, payload: unknown): Data {
  const { v, ...fields } = (payload ?? {}) as Payload;
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
