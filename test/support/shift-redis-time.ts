import type { Redis } from 'ioredis';

/**
 * Shifts the time that Redis returns to the script of the fleet's clock, as if this process had
 * paused. Other scripts return no time.
 * @param byMs Called for each reply. Milliseconds.
 * @returns a function that ends the shift.
 */
export function shiftRedisTime(client: Redis, byMs: () => number): () => void {
  const ask = client.eval.bind(client) as (...given: unknown[]) => Promise<unknown>;
  client.eval = async (...given: unknown[]) => {
    const reply = await ask(...given);
    const isTime = Array.isArray(reply) && reply.length === 2 && /^\d{10}$/.test(String(reply[0]));
    return isTime ? [String(Number(reply[0]) + byMs() / 1_000), String(reply[1])] : reply;
  };
  return () => {
    delete (client as Partial<Redis>).eval;
  };
}
