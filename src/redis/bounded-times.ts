/**
 * TTLs and scores are times of Redis's clock. If that clock is set back, a lock or a limit would
 * hold for as long as the step. Readers therefore bound each stored time by the latest one that
 * the code could have written now.
 */
import { redis } from './connection.js';

/** Lua: `boundedPttl(key, maxMs)` returns PTTL, and shortens a longer TTL to `maxMs`. */
export const boundedPttlLua = `
local function boundedPttl(key, maxMs)
  local ttl = redis.call('PTTL', key)
  if ttl <= tonumber(maxMs) then return ttl end
  redis.call('PEXPIRE', key, maxMs)
  return tonumber(maxMs)
end`;

/** Lua: `boundScores(key, latest, to)` sets the scores of a sorted set above `latest` to `to`. */
export const boundScoresLua = `
local function boundScores(key, latest, to)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. latest, '+inf', 'LIMIT', 0, 1000)) do
    redis.call('ZADD', key, to, member)
  end
end`;

const takeScript = `${boundedPttlLua}
for index, key in ipairs(KEYS) do
  if boundedPttl(key, ARGV[3]) == -2 then
    redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
    return index
  end
end
return 0`;

/**
 * Takes a key for `ms`, unless it is taken.
 * @param maxMs The longest TTL that any code gives to the key. Default: `ms`.
 * @throws Redis errors.
 */
export async function takeKey(key: string, value: string, ms: number, maxMs = ms): Promise<boolean> {
  return (await redis().eval(takeScript, 1, key, value, ms, maxMs)) === 1;
}

/**
 * Takes the first free key of several for `ms`.
 * @returns The index of the key, or -1 if all are taken.
 * @throws Redis errors.
 */
export async function takeFirstKey(keys: string[], value: string, ms: number): Promise<number> {
  return Number(await redis().eval(takeScript, keys.length, ...keys, value, ms, ms)) - 1;
}
