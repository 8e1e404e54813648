/**
 * Handles jobs with a field in Redis that BullMQ cannot parse, because the field was written by
 * hand. BullMQ throws before any handler gets such a job, and takes the job again and again.
 */
import { Job as BullJob } from 'bullmq';
import { redis } from '../redis/connection.js';
import { logger } from '../shared/logger.js';
import { lookUp } from '../shared/collections.js';
import type { Queue } from './define-job.js';
import { openQueue } from './queues.js';

interface Field {
  isRead: (text: string) => boolean;
  /** Replacement of an unreadable value. If null, the field is deleted. */
  instead: string | null;
}

const number: Field = { isRead: (text) => /^-?\d{1,15}(\.\d+)?$/.test(text), instead: '0' };
const count: Field = { ...number, isRead: (text) => /^-?\d{1,15}$/.test(text) };
const json: Field = { isRead: (text) => text === '' || parseJson(text) !== undefined, instead: null };

/** Fields that BullMQ parses or increments before a handler sees the job. */
const fields = new Map<string, Field>([
  ['data', { ...json, instead: '{}' }],
  ['opts', { isRead: isOptions, instead: '{"removeOnFail":1000}' }],
  ['progress', { ...json, instead: '0' }],
  ['parent', json],
  ...['timestamp', 'delay', 'priority', 'processedOn'].map((name) => [name, number] as const),
  ...['atm', 'ats', 'stc'].map((name) => [name, count] as const),
]);
/** Field that holds the schedule of a job. The period is in the options. */
const scheduleField = 'rjk';

/**
 * Maximum number of characters of an unreadable value that are kept. They stay in Redis, because
 * they may contain anything.
 */
const storedLengthMax = 1_000;
const unreadableReason = 'cannot be read: not in the format of BullMQ.';

/**
 * Reads a job from Redis. If the job is unreadable, returns the readable fields. Undefined if there
 * is no such job.
 * @throws Redis errors.
 */
export async function readJob(queue: Queue, id: string): Promise<BullJob | undefined> {
  const opened = openQueue(queue);
  try {
    return await opened.getJob(id);
  } catch (error) {
    const raw = await redis().hgetall(opened.toKey(id));
    const broken = findBrokenFields(raw);
    if (broken.length === 0) {
      throw error;
    }
    const numberOf = (field: string) => Number(lookUp(raw, field) ?? 0);
    return BullJob.fromJSON(opened, {
      id,
      name: raw['name'] ?? '',
      opts: {},
      progress: 0,
      returnvalue: 'null',
      data: broken.includes('data') ? '{}' : (raw['data'] ?? '{}'),
      failedReason: describeProblem(broken),
      timestamp: numberOf('timestamp'),
      delay: numberOf('delay'),
      priority: numberOf('priority'),
      ...(raw['processedOn'] !== undefined && { processedOn: numberOf('processedOn') }),
      attemptsMade: numberOf('atm'),
      attemptsStarted: numberOf('ats'),
      stalledCounter: numberOf('stc'),
    });
  }
}

/**
 * True if the job is unreadable, or failed for that reason. BullMQ's types declare `failedReason`
 * as always present, but most jobs have none.
 */
export function isUnreadable({ failedReason }: { failedReason?: string }): boolean {
  return failedReason?.endsWith(unreadableReason) ?? false;
}

/**
 * Repairs an unreadable job so that BullMQ fails it with the reason when a worker takes it. Any
 * other job is unchanged.
 * @throws Redis errors.
 */
export async function failUnreadable(queue: Queue, id: string): Promise<void> {
  const key = openQueue(queue).toKey(id);
  const raw = await redis().hgetall(key);
  const broken = findBrokenFields(raw);
  if (broken.length === 0) {
    return;
  }
  const instead = broken.map((field) => [field, fields.get(field)?.instead ?? null] as const);
  await redis()
    .multi()
    .hdel(key, ...broken)
    .hset(key, {
      ...Object.fromEntries(
        broken.map((field) => [`unreadable-${field}`, lookUp(raw, field)?.slice(0, storedLengthMax)]),
      ),
      ...Object.fromEntries(instead.filter(([, text]) => text !== null)),
      // BullMQ's field for a deferred failure, which the next worker applies.
      defa: describeProblem(broken),
    })
    .exec();
  logger.error('unreadable job will fail', { queue: queue.name, jobId: id, fields: broken });
}

function describeProblem(broken: string[]): string {
  return `Its ${broken.join(' and ')} ${unreadableReason}`;
}

function findBrokenFields(raw: Record<string, string>): string[] {
  const broken = [...fields].flatMap(([name, { isRead }]) => {
    const text = lookUp(raw, name);
    return text === undefined || isRead(text) ? [] : [name];
  });
  const isOfNone = raw[scheduleField] && !hasPeriod(parseJson(raw['opts'] ?? ''));
  return isOfNone ? [...broken, scheduleField] : broken;
}

function isOptions(text: string): boolean {
  if (text === '') {
    return true;
  }
  const options = parseJson(text);
  return isRecord(options) && (options['repeatJobKey'] === undefined || hasPeriod(options));
}

/**
 * True if the options have exactly one period. BullMQ uses it to plan the next job of the schedule
 * before it runs this job.
 */
function hasPeriod(options: unknown): boolean {
  const repeat = isRecord(options) ? options['repeat'] : undefined;
  return (
    isRecord(repeat) && (typeof repeat['every'] === 'number') !== (typeof repeat['pattern'] === 'string')
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
