/**
 * Jobs of which BullMQ itself cannot read a field in Redis, because somebody wrote it by hand. It throws before anybody sees such a
 * job, and so takes it again and again.
 */
import { Job as BullJob } from 'bullmq';
import { redis } from '../redis/connection.js';
import { logger } from '../shared/logger.js';
import { lookUp } from '../shared/look-up.js';
import type { Queue } from './define-job.js';
import { openQueue } from './queues.js';

/** What stands there in place of a field that cannot be read. */
const empty = { data: '{}', opts: '{"removeOnFail":1000}', progress: '0' };
type Field = keyof typeof empty;
const fields = Object.keys(empty) as Field[];

/** Of what stood there so many characters stay, in Redis alone: nobody knows what it holds. */
const keptMax = 1_000;
const because = 'cannot be read: no JSON such as BullMQ writes.';

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
      ...{ id, name: raw['name'] ?? '', opts: {}, progress: 0, returnvalue: 'null' },
      data: broken.includes('data') ? empty.data : (raw['data'] ?? empty.data),
      failedReason: reasonOf(broken),
      ...{ timestamp: numberOf('timestamp'), delay: numberOf('delay'), priority: numberOf('priority') },
      ...(raw['processedOn'] !== undefined && { processedOn: numberOf('processedOn') }),
      ...{ attemptsMade: numberOf('atm'), attemptsStarted: numberOf('ats'), stalledCounter: numberOf('stc') },
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
  await redis().hset(key, {
    ...Object.fromEntries(broken.map((field) => [`unreadable-${field}`, raw[field]?.slice(0, keptMax)])),
    ...Object.fromEntries(broken.map((field) => [field, empty[field]])),
    // BullMQ's own field of a failure that the next worker is to carry out.
    defa: reasonOf(broken),
  });
  logger.error('a job cannot be read, and fails', { queue: queue.name, jobId: id, fields: broken });
}

function reasonOf(broken: Field[]): string {
  return `Its ${broken.join(' and ')} ${because}`;
}

function brokenIn(raw: Record<string, string>): Field[] {
  return fields.filter((field) => raw[field] && !isRead(field, raw[field]));
}

function isRead(field: Field, text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return field !== 'opts' || (typeof value === 'object' && value !== null);
  } catch {
    return false;
  }
}
