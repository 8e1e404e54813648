/**
 * A TTL ends at a time of Redis's clock. If that clock is set back, a key lives longer than any
 * code intended, and a lock or a limit would hold for hours. Readers of such keys therefore bound
 * the TTL by the longest one that the code writes.
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

const takeScript = `${boundedPttlLua}
if boundedPttl(KEYS[1], ARGV[3]) ~= -2 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/**
 * Takes a key for `ms`, unless it is taken.
 * @param maxMs The longest TTL that any code gives to the key. Default: `ms`.
 * @throws Redis errors.
 */
export async function takeKey(key: string, value: string, ms: number, maxMs = ms): Promise<boolean> {
  return (await redis().eval(takeScript, 1, key, value, ms, maxMs)) === 1;
}
