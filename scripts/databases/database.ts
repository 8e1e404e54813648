/** Common parts of the two database resolvers. */
import { PlainError } from '../supervisor/plain-error.js';
import type { Supervisor } from '../supervisor/supervisor.js';

export interface Database {
  url: string;
  /** Description of the chosen option, for the banner. */
  used: string;
  /** Path of a usable mongod on this machine. */
  mongod?: string | null;
}

export interface DatabaseContext {
  env: NodeJS.ProcessEnv;
  supervisor: Supervisor;
  /** False in tests. The embedded database then does not fsync. */
  durable: boolean;
  /** Asks the user at the terminal. Absent if there is no terminal. */
  confirm?: (question: string) => Promise<boolean>;
}

/**
 * One way to get a database. Resolves to the database, or to null after printing why this way does
 * not work here.
 */
export type Step = (context: DatabaseContext) => Promise<Database | null>;

/** Returns the result of the first step that works. Null if none works. */
export async function tryInOrder(steps: Step[], context: DatabaseContext): Promise<Database | null> {
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
 * Refuses a missing address in production, because a database that we start ourselves must not hold
 * money.
 * @throws PlainError that names the variable.
 */
export function refuseInProduction(env: NodeJS.ProcessEnv, variable: 'MONGODB_URI' | 'REDIS_URL'): void {
  if (env['NODE_ENV'] === 'production') {
    const example =
      variable === 'MONGODB_URI' ? 'mongodb://host:27017/topup?replicaSet=rs0' : 'redis://host:6379';
    throw new PlainError(
      `${variable} is not set. With NODE_ENV=production npm start starts no database by itself, because\n` +
        `it would have no replica, no backup and no password. Set it, for example\n` +
        `  ${variable}=${example}\nor unset NODE_ENV to try the service on this machine.`,
    );
  }
}

/** Returns the address with user and password masked, for output. */
export function hidePassword(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//***@');
}
