/** Calls to a MongoDB server that may not be ready yet. */
import mongoose from 'mongoose';
import { setTimeout as delay } from 'node:timers/promises';

export interface Hello {
  setName?: string;
  hosts?: string[];
  isWritablePrimary?: boolean;
  msg?: string;
}

const selectionTimeoutMs = 2_000;
const retryMs = 100;

/** Runs `work` with one connection to exactly this server. */
export async function withAdmin<T>(
  url: string,
  work: (command: (command: Record<string, unknown>) => Promise<Record<string, unknown>>) => Promise<T>,
): Promise<T> {
  const client = new mongoose.mongo.MongoClient(url, {
    serverSelectionTimeoutMS: selectionTimeoutMs,
    connectTimeoutMS: selectionTimeoutMs,
  });
  try {
    return await work((command) => client.db('admin').command(command, { timeoutMS: 10_000 }));
  } finally {
    await client.close();
  }
}

async function hello(url: string): Promise<Hello> {
  return withAdmin(url, (command) => command({ hello: 1 }));
}

/** Polls until `enough` returns true. Rejects with the last error when `signal` is aborted. */
export async function waitForHello(
  url: string,
  enough: (answer: Hello) => boolean,
  signal: AbortSignal,
): Promise<Hello> {
  let last: unknown;
  for (;;) {
    try {
      const answer = await hello(url);
      if (enough(answer)) {
        return answer;
      }
    } catch (error) {
      last = error;
    }
    if (signal.aborted || (last instanceof Error && last.name === 'MongoParseError')) {
      throw last ?? signal.reason;
    }
    await delay(retryMs);
  }
}
