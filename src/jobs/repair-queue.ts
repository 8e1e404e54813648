/**
 * BullMQ stores times of Redis's clock without a bound. If that clock is set back, the lock of a
 * dead worker's job, the pause between two checks for such jobs, and every delay last longer by the
 * step. Each process with workers of a queue bounds these times.
 */
import { redis } from '../redis/connection.js';
import { boundedPttlLua } from '../redis/bounded-times.js';
import { logger } from '../shared/logger.js';
import type { Queue } from './define-job.js';
import { openQueue } from './queues.js';
import { readJob } from './read-job.js';

/** Options of every worker. Jobs of a killed worker are taken over after about 15 s. */
export const workerTimes = { lockDuration: 10_000, stalledInterval: 3_000 } as const;
/** Longest pause of a queue in milliseconds, other than its own rate limit, after a requeued job. */
const requeueMaxMs = 5_000;
/** Maximum number of delayed and of active jobs that one repair examines. */
const examinedMax = 500;
/** A job counts as too late only beyond this many milliseconds, because clocks differ a little. */
const slackMs = 5_000;

/**
 * Bounds the TTLs of a queue, and returns the ids of jobs that are due later than their own delay.
 *
 * KEYS: stalled-check, limiter, meta, active, delayed.
 *
 * ARGV: prefix of the jobs' keys, interval of checks, duration of a lock, longest pause after a
 * requeued job, slack, maximum number of jobs. BullMQ multiplies the scores of delayed jobs by
 * 4096.
 */
const repairScript = `${boundedPttlLua}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
boundedPttl(KEYS[1], ARGV[2])
local period = tonumber(redis.call('HGET', KEYS[3], 'duration') or '0')
boundedPttl(KEYS[2], math.ceil(math.max(period, tonumber(ARGV[4]))))
for _, id in ipairs(redis.call('LRANGE', KEYS[4], 0, ARGV[6] - 1)) do
  boundedPttl(ARGV[1] .. id .. ':lock', ARGV[3])
end
local late = {}
local last = redis.call('ZREVRANGE', KEYS[5], 0, ARGV[6] - 1, 'WITHSCORES')
for i = 1, #last, 2 do
  local delay = tonumber(redis.call('HGET', ARGV[1] .. last[i], 'delay') or '0')
  if last[i + 1] / 4096 - now > delay + ARGV[5] then table.insert(late, last[i]) end
end
return late`;

/**
 * Bounds the times of a queue and promotes jobs that are due later than their own delay.
 * @throws Redis errors.
 */
export async function repairQueue(queue: Queue): Promise<void> {
  const opened = openQueue(queue);
  const keys = ['stalled-check', 'limiter', 'meta', 'active', 'delayed'].map((each) => opened.toKey(each));
  const late = (await redis().eval(
    repairScript,
    keys.length,
    ...keys,
    opened.toKey(''),
    workerTimes.stalledInterval,
    workerTimes.lockDuration,
    requeueMaxMs,
    slackMs,
    examinedMax,
  )) as string[];
  // The schedules of scheduled jobs are restored separately.
  const ids = late.filter((id) => !id.startsWith('repeat:'));
  const promote = async (id: string): Promise<void> => {
    const job = await readJob(queue, id);
    // Another process may have promoted the job meanwhile.
    await job?.promote().catch(() => undefined);
  };
  await Promise.all(ids.map(promote));
  if (ids.length > 0) {
    logger.warn('delayed jobs were promoted: the clock of redis was set back', {
      queue: queue.name,
      jobs: ids.length,
    });
  }
}
