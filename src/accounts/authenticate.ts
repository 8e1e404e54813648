import { env } from '../../config/env.js';
import { now } from '../shared/clock.js';
import { ForbiddenError, UnauthorizedError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { looksLikeAccessToken, openAccessToken } from './access-token.js';
import type { Account, Role } from './account.model.js';
import { hashApiKey, isWellFormedApiKey } from './api-key.js';
import { findKeyByHash, findKeyById } from './known-keys.js';
import type { Session } from '../database/mongo.js';
import { ApiKeyModel } from './api-key.model.js';

export interface Authenticated {
  account: Account;
  /** The API key that was shown, or that the access token was made with. */
  keyId: string;
  /** It was shown as an access token, not as the key itself. */
  isToken: boolean;
  /** When what was shown ends; null for a key that has no end yet. */
  validUntil: Date | null;
}

/**
 * Whom an API key, or an access token made with one, belongs to (docs/reference/api/authentication.md).
 * @throws UnauthorizedError (401/07) for one that is unknown, revoked or over.
 * @throws ForbiddenError (403/07) for a suspended account.
 */
export async function authenticate(credential: string): Promise<Authenticated> {
  const found = looksLikeAccessToken(credential)
    ? await authenticateToken(credential)
    : await authenticateKey(credential);
  refuseSuspended(found.account);
  return found;
}

/** @throws ForbiddenError (403/07) where a key of one role is used on the other's surface. */
export function requireRole(account: Account, role: Role): void {
  if (account.role !== role) {
    throw new ForbiddenError(say('wrongRole', { role, owner: account.role }), 'wrong_role');
  }
}

/** @throws ForbiddenError (403/07) */
export function refuseSuspended(account: Account): void {
  if (account.status === 'suspended') {
    throw new ForbiddenError(say('accountSuspended'), 'account_suspended');
  }
}

/** Test keys never reach a live copy's providers, nor live keys a sandbox. @throws UnauthorizedError (401/07) */
export function refuseOtherMode(account: Account): void {
  const ours = env.APP_MODE === 'live' ? 'live' : 'test';
  if (account.mode !== ours) {
    throw new UnauthorizedError(say('keyOfOtherMode', { mode: account.mode, ours }));
  }
}

async function authenticateKey(apiKey: string): Promise<Authenticated> {
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

async function authenticateToken(token: string): Promise<Authenticated> {
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
 * What a credential may do (docs/reference/api/authentication.md). `trade`: buy, sell, read, for whatever authenticates.
 * `own`: see keys and secrets, replace them, change the configuration, for the current API key itself alone. So who
 * has found an old key or a token keeps neither a foot in the account nor its owner out.
 */
export type Power = 'trade' | 'own';

/**
 * The key is read from the database: one that another process has replaced a moment ago has no power here, whatever
 * this process remembers.
 * @throws ForbiddenError (403/07) that says which credential to send.
 */
export async function requirePower(by: Authenticated, power: Power): Promise<void> {
  if (power === 'trade') {
    return;
  }
  if (by.isToken) {
    throw new ForbiddenError(say('tokenMayNot'), 'current_key_required');
  }
  await requireCurrentKey(null, by.keyId);
}

/**
 * @param session The database transaction of what the key wants to change: nothing passes between check and write.
 * @param keyId Null: no key asks but the operator.
 * @throws SupersededKeyError (403/07)
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

/** The key was replaced, perhaps while its call was under way. */
export class SupersededKeyError extends ForbiddenError {
  constructor() {
    super(say('keySuperseded'), 'current_key_required');
  }
}
