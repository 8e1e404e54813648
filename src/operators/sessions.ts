/**
 * Console sessions in Redis. The browser holds a random token; Redis holds only its HMAC, so that who can read
 * Redis cannot make a cookie. A loss of Redis means logging in again, nothing more.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { redis } from '../redis/connection.js';
import { OperatorModel, type Operator } from './operator.model.js';

/** A session ends after so long without a request, and after so long whatever happens. */
const idleMs = 30 * 60_000;
export const sessionMaxMs = 12 * 3_600_000;

interface StoredSession {
  operatorId: string;
  startedMs: number;
}

/** @returns the token for the browser's cookie. */
export async function startSession(operator: Operator): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const session: StoredSession = { operatorId: operator._id, startedMs: nowMs() };
  await redis().set(keyOf(token), JSON.stringify(session), 'PX', idleMs);
  return token;
}

/** The operator of a session as they are now (role and password may have changed), or null if it has ended. */
export async function operatorOfSession(token: string): Promise<Operator | null> {
  const key = keyOf(token);
  const stored = await redis().get(key);
  if (stored === null) {
    return null;
  }
  const session = JSON.parse(stored) as StoredSession;
  const operator = await OperatorModel.findById(session.operatorId).lean<Operator>();
  const startedAt = new Date(session.startedMs);
  if (!operator || startedAt < operator.passwordChangedAt || nowMs() - session.startedMs > sessionMaxMs) {
    await redis().del(key);
    return null;
  }
  await redis().pexpire(key, idleMs);
  return operator;
}

export async function endSession(token: string): Promise<void> {
  await redis().del(keyOf(token));
}

/** The anti-forgery token that belongs to a session (or to a login form): only we can make it. */
export function csrfTokenOf(token: string): string {
  return createHmac('sha256', env.SESSION_SECRET).update(`csrf ${token}`).digest('base64url');
}

/** Compares in constant time. */
export function isCsrfTokenOf(token: string, given: string): boolean {
  const expected = Buffer.from(csrfTokenOf(token));
  const actual = Buffer.from(given);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

function keyOf(token: string): string {
  const hmac = createHmac('sha256', env.SESSION_SECRET).update(`session ${token}`).digest('base64url');
  return `${env.QUEUE_PREFIX}:session:${hmac}`;
}
