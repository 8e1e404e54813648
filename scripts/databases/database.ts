/** What the two resolvers share. */
import { PlainError } from '../supervisor/plain-error.js';
import type { Supervisor } from '../supervisor/supervisor.js';

export interface Database {
  url: string;
  /** For the banner: which of the possibilities it is. */
  used: string;
  /** The mongod of this machine, where there is one that can be used. */
  mongod?: string | null;
}

export interface DatabaseContext {
  env: NodeJS.ProcessEnv;
  supervisor: Supervisor;
  /** False for tests: the embedded database then does not wait for the disk. */
  durable: boolean;
  /** Asks the person at the terminal; left out where there is none. */
  confirm?: (question: string) => Promise<boolean>;
}

/** One possibility: the database if it works here, null (having said why) if the next one is to be tried. */
export type Step = (context: DatabaseContext) => Promise<Database | null>;

/** The first step that works, or null. */
export async function firstThatWorks(steps: Step[], context: DatabaseContext): Promise<Database | null> {
  for (const step of steps) {
    context.supervisor.stopping.throwIfAborted();
    const found = await step(context);
    if (found !== null) {
      return found;
    }
  }
  return null;
}

/**
 * In production an address that is missing is a mistake, and a database that we would start ourselves is no place for money.
 * @throws PlainError that names the variable.
 */
export function refuseInProduction(env: NodeJS.ProcessEnv, variable: 'MONGODB_URI' | 'REDIS_URL'): void {
  if (env['NODE_ENV'] === 'production') {
    const example =
      variable === 'MONGODB_URI' ? 'mongodb://host:27017/topup?replicaSet=rs0' : 'redis://host:6379';
    throw new PlainError(
      `${variable} is not set. With NODE_ENV=production the service uses only the databases that it is given: one\n` +
        `that it starts by itself has no replica, no backup and no password. Set it, for example\n` +
        `  ${variable}=${example}\nor leave NODE_ENV out to try the service on this machine.`,
    );
  }
}

/** An address that may be shown: without user and password. */
export function withoutPassword(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//***@');
}
