import { env } from '../../config/env.js';
import { now } from '../shared/clock.js';
import { ForbiddenError, UnauthorizedError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { looksLikeAccessToken, openAccessToken } from './access-token.js';
import type { Account, Role } from './account.model.js';
import { hashApiKey, isWellFormedApiKey } from './api-key.js';
import { findKeyByHash, findKeyById } from './api-key-cache.js';
import type { Session } from '../database/mongo.js';
import { ApiKeyModel } from './api-key.model.js';

export interface AuthenticatedCaller {
  account: Account;
  /** Id of the API key that the call uses, or that created its access token. */
  keyId: string;
  /** True if the credential is an access token. */
  isToken: boolean;
  /** Expiry of the credential. Null for a key without an expiry. */
  validUntil: Date | null;
}

/**
 * Authenticates an API key, or an access token that was created with a key
 * (docs/reference/api/authentication.md).
 * @throws UnauthorizedError (401/07) if the credential is unknown, revoked or expired.
 * @throws ForbiddenError (403/07) for a suspended account.
 */
export async function authenticate(credential: string): Promise<AuthenticatedCaller> {
  const found = looksLikeAccessToken(credential)
    ? await authenticateToken(credential)
    : await authenticateKey(credential);
  refuseSuspended(found.account);
  return found;
}

/** @throws ForbiddenError (403/07) if the account has another role than the surface requires. */
export function requireRole(account: Account, role: Role): void {
  if (account.role !== role) {
    throw new ForbiddenError(say('wrongRole', { role, owner: account.role }), 'wrong_role');
  }
}

/** @throws ForbiddenError (403/07) if the account is suspended. */
export function refuseSuspended(account: Account): void {
  if (account.status === 'suspended') {
    throw new ForbiddenError(say('accountSuspended'), 'account_suspended');
  }
}

/**
 * Refuses test keys on a live installation, and live keys in a sandbox.
 * @throws UnauthorizedError (401/07) if the modes differ.
 */
export function refuseOtherMode(account: Account): void {
  const ours = env.APP_MODE === 'live' ? 'live' : 'test';
  if (account.mode !== ours) {
    throw new UnauthorizedError(say('keyOfOtherMode', { mode: account.mode, ours }));
  }
}

async function authenticateKey(apiKey: string): Promise<AuthenticatedCaller> {
  if (!isWellFormedApiKey(apiKey)) {
    throw new UnauthorizedError(say('apiKeyMalformed'));
  }
  const found = await findKeyByHash(hashApiKey(apiKey));
  if (!found || isExpired(found.key.validUntil)) {
    throw new UnauthorizedError(say('apiKeyUnknown'));
  }
  refuseOtherMode(found.account);
  return { account: found.account, keyId: found.key._id, isToken: false, validUntil: found.key.validUntil };
}

async function authenticateToken(token: string): Promise<AuthenticatedCaller> {
  const opened = openAccessToken(token);
  const found = opened && (await findKeyById(opened.keyId));
  if (!found || isExpired(found.key.validUntil)) {
    throw new UnauthorizedError(say('accessTokenOver'), 'invalid_token');
  }
  refuseOtherMode(found.account);
  const ends = [opened.validUntil.getTime(), found.key.validUntil?.getTime() ?? Infinity];
  return {
    account: found.account,
    keyId: found.key._id,
    isToken: true,
    validUntil: new Date(Math.min(...ends)),
  };
}

export function isExpired(validUntil: Date | null): boolean {
  return validUntil !== null && validUntil <= now();
}

/**
 * The permission that an operation needs (docs/reference/api/authentication.md).
 *
 * - `trade`: buy, sell and read, with any credential.
 * - `own`: see and replace keys and secrets, and change the configuration, with the current API key
 *   only.
 *
 * So an attacker with an old key or a token can neither keep access nor lock the owner out.
 */
export type Permission = 'trade' | 'own';

/**
 * Checks the permission of the credential. The key is read from the database, because another
 * process may have replaced a cached key.
 * @throws ForbiddenError (403/07) that says which credential to send.
 */
export async function requirePermission(by: AuthenticatedCaller, power: Permission): Promise<void> {
  if (power === 'trade') {
    return;
  }
  if (by.isToken) {
    throw new ForbiddenError(say('tokenMayNot'), 'current_key_required');
  }
  await requireCurrentKey(null, by.keyId);
}

/**
 * Requires that the key is the account's current key.
 * @param session The database transaction of the change. It makes check and write atomic.
 * @param keyId The API key of the call. Null if an operator acts, without a key.
 * @throws SupersededKeyError (403/07) if the key is not current.
 */
export async function requireCurrentKey(session: Session | null, keyId: string | null): Promise<void> {
  if (keyId === null) {
    return;
  }
  const key = await ApiKeyModel.findById(keyId, { validUntil: 1 }).session(session).lean();
  if (!key || key.validUntil !== null) {
    throw new SupersededKeyError();
  }
}

/** The key was replaced, possibly while the call was in progress. */
export class SupersededKeyError extends ForbiddenError {
  constructor() {
    super(say('keySuperseded'), 'current_key_required');
  }
}
