import type { Redis } from 'ioredis';

/**
 * Shifts the time that Redis returns to the fleet clock's script, as if this process had been
 * suspended. Other scripts are unaffected, because they return no time.
 * @param byMs Returns the shift in milliseconds. Called for each reply.
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
