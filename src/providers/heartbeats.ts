/**
 * Heartbeats of processes with orders in flight. The orders of a killed process stay in the
 * in-flight count until they expire. Without heartbeats, they would look like calls to a hanging
 * provider.
 */
import { newId } from '../shared/ids.js';
import { redis } from '../redis/connection.js';
import { processId } from '../redis/process-id.js';
import { getHeartbeatsKey } from './circuit.js';

/**
 * Interval in milliseconds. It is well below the age at which an order counts as hanging
 * (circuit.ts). Most orders end before the first heartbeat.
 */
const heartbeatIntervalMs = 400;
const retentionMs = 60_000;

/** The call tokens of the orders in flight, by seller id. */
const tokensBySeller = new Map<string, Set<string>>();
let heartbeatTimer: NodeJS.Timeout | null = null;

const heartbeatScript = `
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/** Returns a unique token for a call, as `<process id>:<id>`. */
export function createCallToken(): string {
  return `${processId}:${newId()}`;
}

/**
 * Sends heartbeats for an order in flight.
 * @returns A function that stops the heartbeats. Call it when the provider has responded.
 */
export function startHeartbeat(sellerId: string, token: string): () => void {
  const tokens = tokensBySeller.get(sellerId) ?? new Set();
  tokensBySeller.set(sellerId, tokens.add(token));
  heartbeatTimer ??= setInterval(sendHeartbeats, heartbeatIntervalMs).unref();
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
    // The Redis connection reports the outage itself.
    redis()
      .eval(heartbeatScript, 1, getHeartbeatsKey(sellerId), processId, retentionMs)
      .catch(() => undefined);
  }
}
