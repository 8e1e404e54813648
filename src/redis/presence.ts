/**
 * Which processes there are, as they say themselves through Redis: one that stands still (an event loop that is blocked, a host
 * that hangs) cannot say that it does, so the others see it by its silence.
 */
import { env } from '../../config/env.js';
import { beforeDisconnect, redis, redisServers } from './connection.js';
import { connectionNameOf, processId } from './process-id.js';
import { sayRedisError } from './say-error.js';
import { repeat } from '../shared/repeat.js';

const sayEveryMs = 5_000;
/** Three times not heard. */
export const silentAfterMs = 20_000;
/** Silence is no more than that of one whose connection stands: what was killed has none. */
const forgottenAfterMs = 6 * 3_600_000;
/** Where connections cannot be told apart, what was killed is forgotten after this, and so is what stands still. */
const guessedForMs = 120_000;

const key = `${env.QUEUE_PREFIX}:processes`;

const sayScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/** Writes nothing: it is asked of a Redis in trouble. */
const lookScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local forgotten = string.format('(%.0f', now - ARGV[1])
local silent = string.format('%.0f', now - ARGV[2])
return { redis.call('ZRANGEBYSCORE', KEYS[1], silent, '+inf'), redis.call('ZRANGEBYSCORE', KEYS[1], forgotten, '(' .. silent) }`;

/** Says from now on that this process lives. Ends with `disconnectRedis`. */
export function sayPresence(type: string): { stop(): Promise<void> } {
  const member = `${type}:${processId}`;
  const saying = repeat({
    name: 'presence',
    everyMs: sayEveryMs,
    async run() {
      // The connection itself tells of an outage.
      if (redis().status === 'ready') {
        await redis()
          .eval(sayScript, 1, key, member, forgottenAfterMs)
          .catch((error: unknown) => {
            sayRedisError('a process cannot say that it lives', error);
          });
      }
    },
  });
  beforeDisconnect(() => redis().zrem(key, member));
  return saying;
}

export interface Processes {
  alive: number;
  silent: number;
}

/** By process type. Silent is who still has its connection and says nothing: it stands still. @throws Redis's own errors. */
export async function processesNow(): Promise<Map<string, Processes>> {
  const { alive, silent } = await look(forgottenAfterMs);
  const found = new Map<string, Processes>();
  const count = (member: string, state: keyof Processes): void => {
    const type = member.slice(0, member.indexOf(':'));
    const counts = found.get(type) ?? { alive: 0, silent: 0 };
    found.set(type, { ...counts, [state]: counts[state] + 1 });
  };
  alive.forEach((member) => {
    count(member, 'alive');
  });
  (silent.length === 0 ? [] : await thoseConnected(silent)).forEach((member) => {
    count(member, 'silent');
  });
  return found;
}

async function look(rememberedMs: number): Promise<{ alive: string[]; silent: string[] }> {
  const [alive, silent] = (await redis().eval(lookScript, 1, key, rememberedMs, silentAfterMs)) as [
    string[],
    string[],
  ];
  return { alive, silent };
}

async function thoseConnected(silent: string[]): Promise<string[]> {
  const lists = await Promise.all(redisServers().map((server) => server.client('LIST')));
  const connections = lists.join('\n');
  // A proxy, or a Redis that lets nobody name a connection.
  if (!connections.includes(connectionNameOf(processId))) {
    return (await look(guessedForMs)).silent;
  }
  return silent.filter((member) =>
    connections.includes(connectionNameOf(member.slice(member.indexOf(':') + 1))),
  );
}
