/**
 * Jobs of which BullMQ itself cannot read a field in Redis, because somebody wrote it by hand. It throws before anybody sees such a
 * job, and so takes it again and again.
 */
import { Job as BullJob } from 'bullmq';
import { redis } from '../redis/connection.js';
import { logger } from '../shared/logger.js';
import { lookUp } from '../shared/collections.js';
import type { Queue } from './define-job.js';
import { openQueue } from './queues.js';

interface Field {
  isRead: (text: string) => boolean;
  /** What stands there in place of what cannot be read; null: the field goes. */
  instead: string | null;
}

const number: Field = { isRead: (text) => /^-?\d{1,15}(\.\d+)?$/.test(text), instead: '0' };
const count: Field = { ...number, isRead: (text) => /^-?\d{1,15}$/.test(text) };
const json: Field = { isRead: (text) => text === '' || parsed(text) !== undefined, instead: null };

/** What BullMQ reads, or counts in, before anybody sees the job. */
const fields = new Map<string, Field>([
  ['data', { ...json, instead: '{}' }],
  ['opts', { isRead: isOptions, instead: '{"removeOnFail":1000}' }],
  ['progress', { ...json, instead: '0' }],
  ['parent', json],
  ...['timestamp', 'delay', 'priority', 'processedOn'].map((name) => [name, number] as const),
  ...['atm', 'ats', 'stc'].map((name) => [name, count] as const),
]);
/** It names the schedule that a job is of, whose period is in the options. */
const ofSchedule = 'rjk';

/** Of what stood there so many characters stay, in Redis alone: nobody knows what it holds. */
const keptMax = 1_000;
const because = 'cannot be read: not such as BullMQ writes.';

/**
 * A job as it stands in Redis; of one that cannot be read what can. Undefined: there is none.
 * @throws Redis's own errors.
 */
export async function readJob(queue: Queue, id: string): Promise<BullJob | undefined> {
  const opened = openQueue(queue);
  try {
    return await opened.getJob(id);
  } catch (error) {
    const raw = await redis().hgetall(opened.toKey(id));
    const broken = brokenIn(raw);
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

/** Also of one that has failed for that. Of most BullMQ has no reason, whatever its types say. */
export function isUnreadable({ failedReason }: { failedReason?: string }): boolean {
  return failedReason?.endsWith(because) ?? false;
}

/**
 * A job that nobody could read is made one that BullMQ fails with the reason as soon as a worker takes it. Nothing of any other.
 * @throws Redis's own errors.
 */
export async function failUnreadable(queue: Queue, id: string): Promise<void> {
  const key = openQueue(queue).toKey(id);
  const raw = await redis().hgetall(key);
  const broken = brokenIn(raw);
  if (broken.length === 0) {
    return;
  }
  const instead = broken.map((field) => [field, fields.get(field)?.instead ?? null] as const);
  await redis()
    .multi()
    .hdel(key, ...broken)
    .hset(key, {
      ...Object.fromEntries(
        broken.map((field) => [`unreadable-${field}`, lookUp(raw, field)?.slice(0, keptMax)]),
      ),
      ...Object.fromEntries(instead.filter(([, text]) => text !== null)),
      // BullMQ's own field of a failure that the next worker is to carry out.
      defa: describeProblem(broken),
    })
    .exec();
  logger.error('a job cannot be read, and fails', { queue: queue.name, jobId: id, fields: broken });
}

function describeProblem(broken: string[]): string {
  return `Its ${broken.join(' and ')} ${because}`;
}

function brokenIn(raw: Record<string, string>): string[] {
  const broken = [...fields].flatMap(([name, { isRead }]) => {
    const text = lookUp(raw, name);
    return text === undefined || isRead(text) ? [] : [name];
  });
  const isOfNone = raw[ofSchedule] && !hasPeriod(parsed(raw['opts'] ?? ''));
  return isOfNone ? [...broken, ofSchedule] : broken;
}

function isOptions(text: string): boolean {
  if (text === '') {
    return true;
  }
  const options = parsed(text);
  return isRecord(options) && (options['repeatJobKey'] === undefined || hasPeriod(options));
}

/** One period, by which BullMQ plans the next job of the schedule before it does this one. */
function hasPeriod(options: unknown): boolean {
  const repeat = isRecord(options) ? options['repeat'] : undefined;
  return (
    isRecord(repeat) && (typeof repeat['every'] === 'number') !== (typeof repeat['pattern'] === 'string')
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
