/**
 * Console sessions in Redis. The browser holds a random token. Redis holds only its HMAC, so that
 * read access to Redis does not give a cookie. If Redis loses its data, operators only have to log
 * in again.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { isSameSecret } from '../shared/is-same-secret.js';
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { DependencyError, NotFoundError } from '../shared/errors.js';
import { redis } from '../redis/connection.js';
import { OperatorModel, type Operator } from './operator.model.js';
import { mustEnrol } from './second-factor.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { asWritten } from '../shared/say.js';

/** Maximum time between two requests of a session. */
const idleMs = 30 * 60_000;
/** Maximum lifetime of a session. */
export const sessionMaxMs = 12 * 3_600_000;
/** Time between the right password and the code. */
export const loginStepMs = 10 * 60_000;

/**
 * `session` means logged in. `step` means that the password was right and the second factor is
 * pending.
 */
type SessionKind = 'session' | 'step';

interface StoredSession {
  operatorId: string;
  startedMs: number;
  /** The operator's `sessionEpoch` at the start of the session. */
  epoch: number;
  address?: string;
  browser?: string;
}

/** A session as lists show it. */
export interface ListedSession {
  /** Identifies the session for ending it. The cookie cannot be derived from it. */
  id: string;
  startedAt: Date;
  address: string;
  browser: string;
}

/** Client that uses a session. */
export interface SessionClient {
  address: string;
  browser: string;
}

/**
 * Starts a session.
 * @returns The token for the browser's cookie.
 */
export async function startSession(operator: Operator, client: SessionClient): Promise<string> {
  const token = generateToken();
  const key = getSessionKey('session', token);
  const list = getListKey(operator._id);
  const oldestMs = nowMs() - sessionMaxMs;
  // The list is written first, because in a Redis Cluster it may be on another node. A session that
  // is missing from the list could not be ended.
  await requireRedisResponse(
    redis()
      .multi()
      .zremrangebyscore(list, 0, oldestMs)
      .zadd(list, nowMs(), key)
      .pexpire(list, sessionMaxMs)
      .exec(),
  );
  await requireRedisResponse(
    redis().set(key, JSON.stringify(buildStoredSession(operator, client)), 'PX', idleMs),
  );
  return token;
}

/**
 * Stores that the password was right until the second factor is verified.
 * @returns The token for the browser's cookie.
 */
export async function startLoginStep(operator: Operator, client: SessionClient): Promise<string> {
  const token = generateToken();
  const value = JSON.stringify(buildStoredSession(operator, client));
  await requireRedisResponse(redis().set(getSessionKey('step', token), value, 'PX', loginStepMs));
  return token;
}

/** Finds the operator of a session, with the current role. Null if the session has ended. */
export async function findOperatorBySession(token: string): Promise<Operator | null> {
  const operator = await findOperatorByToken('session', token);
  if (!operator || mustEnrol(operator)) {
    return null;
  }
  await requireRedisResponse(redis().pexpire(getSessionKey('session', token), idleMs));
  return operator;
}

/**
 * Finds the operator of a login step. Null if the step has expired or all sessions have been ended.
 */
export async function findOperatorByLoginStep(token: string): Promise<Operator | null> {
  return findOperatorByToken('step', token);
}

export async function endSession(token: string): Promise<void> {
  await requireRedisResponse(redis().del(getSessionKey('session', token)));
}

/**
 * Ends a login step.
 * @returns False if it had already ended, so that only one of two concurrent requests continues.
 */
export async function endLoginStep(token: string): Promise<boolean> {
  return (await requireRedisResponse(redis().del(getSessionKey('step', token)))) === 1;
}

/** Lists the live sessions of an operator, newest first. */
export async function listSessions(operator: Operator): Promise<ListedSession[]> {
  const keys = await requireRedisResponse(
    redis().zrange(getListKey(operator._id), '0', String(listedMax - 1), 'REV'),
  );
  const values = await requireRedisResponse(Promise.all(keys.map((key) => redis().get(key))));
  return values.flatMap((value, index) => {
    const session = value === null ? null : (JSON.parse(value) as StoredSession);
    return session && isValidSession(session, operator)
      ? {
          id: getIdFromKey(keys[index] ?? ''),
          startedAt: new Date(session.startedMs),
          address: session.address ?? '',
          browser: session.browser ?? '',
        }
      : [];
  });
}

const listedMax = 100;

/**
 * Ends one session of an operator by its listed id.
 * @returns False if there was no such session.
 */
export async function endListedSession(operatorId: string, sessionId: string): Promise<boolean> {
  const keys = await requireRedisResponse(redis().zrange(getListKey(operatorId), '0', '-1'));
  const key = keys.find((each) => getIdFromKey(each) === sessionId);
  return key !== undefined && (await requireRedisResponse(redis().del(key))) === 1;
}

/** Returns the listed id of a session token. */
export function getSessionId(token: string): string {
  return getIdFromKey(getSessionKey('session', token));
}

/** Returns the id of a login step, to which a pending TOTP secret is bound. */
export function getLoginStepId(token: string): string {
  return getIdFromKey(getSessionKey('step', token));
}

/** Returns the anti-forgery token of a session or login form. Only the server can compute it. */
export function getCsrfToken(token: string): string {
  return createHmac('sha256', env.SESSION_SECRET).update(`csrf ${token}`).digest('base64url');
}

/** Compares in constant time. */
export function isCsrfToken(token: string, received: string): boolean {
  return isSameSecret(received, getCsrfToken(token));
}

/**
 * Creates the token of a browser that has logged in as this operator. Failed logins from other
 * browsers do not lock out such a browser.
 *
 * The token does not authenticate. Ending all sessions invalidates the token, because it may have
 * been obtained with a stolen password.
 */
export function createBrowserToken(operator: MarkedOperator): string {
  const nonce = randomBytes(16).toString('base64url');
  return nonce + signBrowserToken(operator, nonce);
}

export function isKnownBrowser(operator: MarkedOperator, token: string): boolean {
  return isSameSecret(token.slice(nonceLength), signBrowserToken(operator, token.slice(0, nonceLength)));
}

/** Contains the id, because a username may later belong to another person. */
type MarkedOperator = Pick<Operator, '_id' | 'sessionEpoch'>;

const nonceLength = 22;

function signBrowserToken({ _id, sessionEpoch }: MarkedOperator, nonce: string): string {
  return createHmac('sha256', env.SESSION_SECRET)
    .update(`browser ${nonce} ${_id} ${sessionEpoch}`)
    .digest('base64url');
}

async function findOperatorByToken(kind: SessionKind, token: string): Promise<Operator | null> {
  const key = getSessionKey(kind, token);
  const value = await requireRedisResponse(redis().get(key));
  if (value === null) {
    return null;
  }
  const session = JSON.parse(value) as StoredSession;
  const operator = await OperatorModel.findById(session.operatorId).lean<Operator>();
  if (!operator || !isValidSession(session, operator)) {
    await requireRedisResponse(redis().del(key));
    return null;
  }
  return operator;
}

function isValidSession(session: StoredSession, operator: Operator): boolean {
  return session.epoch === operator.sessionEpoch && nowMs() - session.startedMs <= sessionMaxMs;
}

function buildStoredSession(operator: Operator, { address, browser }: SessionClient): StoredSession {
  return {
    operatorId: operator._id,
    startedMs: nowMs(),
    epoch: operator.sessionEpoch,
    address,
    browser: browser.slice(0, 200),
  };
}

/**
 * Waits for a Redis command.
 * @throws DependencyError (503/03) while Redis is unavailable. No session works then.
 */
async function requireRedisResponse<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new DependencyError(error);
  }
}

function generateToken(): string {
  return randomBytes(32).toString('base64url');
}

function getSessionKey(kind: SessionKind, token: string): string {
  const hmac = createHmac('sha256', env.SESSION_SECRET).update(`${kind} ${token}`).digest('base64url');
  return `${env.QUEUE_PREFIX}:${kind === 'session' ? 'session' : 'login-step'}:${hmac}`;
}

function getListKey(operatorId: string): string {
  return `${env.QUEUE_PREFIX}:sessions-of:${operatorId}`;
}

function getIdFromKey(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1).slice(0, 12);
}

/**
 * Ends one session of an operator by its listed id and records it in the audit log.
 * @throws NotFoundError if the session has already ended.
 */
export async function endOneSession(operator: Operator, sessionId: string, by: ChangedBy): Promise<void> {
  if (!(await endListedSession(operator._id, sessionId))) {
    throw new NotFoundError(
      asWritten(`${operator.username} no longer has a session ${sessionId.slice(0, 20)}.`),
    );
  }
  await recordAudit(null, {
    ...by,
    action: 'operator.end-session',
    subject: { kind: 'operator', id: operator._id },
    after: { username: operator.username },
  });
}
