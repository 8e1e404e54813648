/**
 * Lists jobs of a queue in a state, page by page, from BullMQ's lists and sorted sets. A page reads
 * only its own jobs.
 */
import type { Queue } from '../../jobs/define-job.js';
import { openQueue } from '../../jobs/queues.js';
import { readJob } from '../../jobs/read-job.js';
import { findCurrentQueues } from '../../processes.js';
import { redis } from '../../redis/connection.js';
import { DependencyError, NotFoundError, ValidationError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import {
  buildRawJob,
  describeJobs,
  type JobState,
  type RawJob,
  type JobDescription,
} from './describe-job.js';

export interface JobFilter {
  queue: string;
  state: JobState;
  /** Kind of job, by its current name. */
  name?: string | undefined;
}

export interface JobPage {
  jobs: JobDescription[];
  /** Cursor of the next page. Null on the last page. */
  next: string | null;
}

/** Maximum number of jobs to read for a page that is filtered by kind, because few may match. */
const jobsReadMax = 200;

/**
 * Lists the jobs of one state. The order is the next to run first, or the last to end first for
 * `failed` and `completed`. `waiting` and `active` jobs move while they are read, so their cursor
 * is a position.
 *
 * @throws NotFoundError if the queue does not exist.
 * @throws ValidationError if `after` is not a cursor of an earlier page.
 * @throws DependencyError while a database is unavailable.
 */
export async function listJobs(
  filter: JobFilter,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<JobPage> {
  const found = (await findCurrentQueues()).find(({ queue: { name } }) => name === filter.queue);
  if (!found) {
    throw new NotFoundError(asWritten(`There is no queue ${filter.queue}.`));
  }
  const { queue } = found;
  const { state, name } = filter;
  try {
    const entries = await readEntries(queue, state, after, name === undefined ? limit : jobsReadMax);
    const raw: RawJob[] = [];
    let end: Entry | undefined;
    for (const { entry, job } of await readJobs(queue, state, entries)) {
      if (raw.length === limit) {
        break;
      }
      end = entry;
      if (job && (name === undefined || job.job?.name === name)) {
        raw.push(job);
      }
    }
    const isOver = entries.length < (name === undefined ? limit : jobsReadMax) && end === entries.at(-1);
    return { jobs: await describeJobs(raw), next: isOver ? null : (end?.key ?? null) };
  } catch (error) {
    throw error instanceof ValidationError ? error : new DependencyError(error);
  }
}

interface Entry {
  id: string;
  /** Cursor of the page that starts after this entry. */
  key: string;
}

async function readJobs(queue: Queue, state: JobState, entries: Entry[]) {
  return Promise.all(
    entries.map(async (entry) => {
      const found = await readJob(queue, entry.id);
      return { entry, job: found ? buildRawJob(queue, found, state) : null };
    }),
  );
}

async function readEntries(
  queue: Queue,
  state: JobState,
  after: string | undefined,
  count: number,
): Promise<Entry[]> {
  if (state === 'waiting' || state === 'active') {
    return readListEntries(queue, state, after, count);
  }
  const isNewestFirst = state === 'failed' || state === 'completed';
  const key = openQueue(queue).toKey(state);
  const start = after === undefined ? 0 : await findRankAfter(key, after, isNewestFirst);
  const end = start + count - 1;
  const found = isNewestFirst
    ? await redis().zrevrange(key, start, end, 'WITHSCORES')
    : await redis().zrange(key, start, String(end), 'WITHSCORES');
  return found.flatMap((id, place) =>
    place % 2 === 0 ? [{ id, key: `${found[place + 1] ?? ''}_${id}` }] : [],
  );
}

const cursorPattern = /^(\d{1,20})_(.{1,120})$/;

/** Maximum number of jobs with the same score, which are due or ended in the same millisecond. */
const tiesMax = 1_000;

/** Returns the rank after the last job of the previous page, even if that job no longer exists. */
async function findRankAfter(key: string, after: string, isNewestFirst: boolean): Promise<number> {
  const [, score, id] = cursorPattern.exec(after) ?? [];
  if (score === undefined || id === undefined) {
    throw createCursorError();
  }
  const rank = isNewestFirst ? await redis().zrevrank(key, id) : await redis().zrank(key, id);
  if (rank !== null) {
    return rank + 1;
  }
  const [before, ties] = await Promise.all([
    isNewestFirst ? redis().zcount(key, `(${score}`, '+inf') : redis().zcount(key, '-inf', `(${score}`),
    redis().zrangebyscore(key, score, score, 'LIMIT', 0, tiesMax),
  ]);
  return before + ties.filter((each) => (isNewestFirst ? each > id : each < id)).length;
}

/** Reads from the tail, because BullMQ adds jobs at the head and takes them at the tail. */
async function readListEntries(
  queue: Queue,
  state: 'waiting' | 'active',
  after: string | undefined,
  count: number,
): Promise<Entry[]> {
  if (after !== undefined && !/^\d{1,9}$/.test(after)) {
    throw createCursorError();
  }
  const opened = openQueue(queue);
  const waiting = (await opened.isPaused()) ? 'paused' : 'wait';
  const key = opened.toKey(state === 'active' ? 'active' : waiting);
  const start = Number(after ?? 0);
  const found = await redis().lrange(key, -start - count, -start - 1);
  return found.reverse().map((id, place) => ({ id, key: String(start + place + 1) }));
}

function createCursorError(): ValidationError {
  return new ValidationError([{ field: 'after', message: asWritten('must be the `next` of a page') }]);
}
