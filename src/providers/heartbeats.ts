/**
 * Says that this process lives while its orders are under way. A process that is killed leaves its orders in the count of
 * those under way until their time is over; without this they would look like those of a provider that hangs.
 */
import { newId } from '../shared/ids.js';
import { redis } from '../redis/connection.js';
import { processId } from '../redis/process-id.js';
import { getHeartbeatsKey } from './circuit.js';

/** Well below the age at which an order hangs (circuit.ts); most are over before the first beat, which then costs nothing. */
const beatEveryMs = 400;
const keptMs = 60_000;

/** By seller: the tokens of orders under way. */
const tokensBySeller = new Map<string, Set<string>>();
let heartbeatTimer: NodeJS.Timeout | null = null;

const beatScript = `
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/** Names a call, and the process that makes it, before the colon. */
export function createCallToken(): string {
  return `${processId}:${newId()}`;
}

/** @returns the function that ends it, when the order has been answered. */
export function startHeartbeat(sellerId: string, token: string): () => void {
  const tokens = tokensBySeller.get(sellerId) ?? new Set();
  tokensBySeller.set(sellerId, tokens.add(token));
  heartbeatTimer ??= setInterval(sendHeartbeats, beatEveryMs).unref();
  return () => {
    tokens.delete(token);
    if (tokens.size === 0 && tokensBySeller.get(sellerId) === tokens) {
      tokensBySeller.delete(sellerId);
    }
    if (tokensBySeller.size === 0 && heartbeatTimer !== null) {
      clearInterval(heartbeatTimer);
      heartbeatTimer = null;
    }
  };
}

function sendHeartbeats(): void {
  for (const sellerId of tokensBySeller.keys()) {
    // The outage is reported by the connection itself.
    redis()
      .eval(beatScript, 1, getHeartbeatsKey(sellerId), processId, keptMs)
      .catch(() => undefined);
  }
}
