import type { Redis } from 'ioredis';

/**
 * What the script of the fleet's clock is told by Redis, so much later: as where this process stood still meanwhile. Other
 * scripts tell no time.
 * @param byMs Asked for at each answer.
 * @returns what ends it.
 */
export function shiftRedisTime(client: Redis, byMs: () => number): () => void {
  const ask = client.eval.bind(client) as (...given: unknown[]) => Promise<unknown>;
  client.eval = async (...given: unknown[]) => {
    const told = await ask(...given);
    const isTime = Array.isArray(told) && told.length === 2 && /^\d{10}$/.test(String(told[0]));
    return isTime ? [String(Number(told[0]) + byMs() / 1_000), String(told[1])] : told;
  };
  return () => {
    delete (client as Partial<Redis>).eval;
  };
}
