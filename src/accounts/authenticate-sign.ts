import { createHash, createHmac } from 'node:crypto';
import { isUsername } from '../shared/input-rules.js';
import { isSameSecret, decrypt } from '../shared/encryption.js';
import { UnauthorizedError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import type { Account } from './account.model.js';
import { isExpired, refuseOtherMode, refuseSuspended, requireRole } from './authenticate.js';
import { generateApiKey } from './api-key.js';
import { buildApiKeyDocument } from './create-account.js';
import { countMd5Sign } from './md5-signs.js';
import { findKeysByUsername } from './known-keys.js';
import { apiKeyContext } from './secret-contexts.js';

/** The kind of sign that a call of the reseller surface came with. */
export type SignKind = 'hmac' | 'md5';

export function getSignKind(sign: string): SignKind {
  return sign.length === 64 ? 'hmac' : 'md5';
}

export interface SignedRequest {
  username: string;
  /** Lower-case hex. */
  sign: string;
  /** What md5 covers after username and key: the ref_id, `pricelist` or `depo`. */
  md5Covers: string;
  /** What the HMAC covers after the username: `code|customer|ref_id`, `pricelist` or `depo`. */
  hmacCovers: string;
}

/**
 * Whom a signed request of the reseller surface comes from (docs/reference/api/reseller.md#reseller-sign). A sign of 64 characters
 * is HMAC-SHA256(api_key, "username|…"), any other md5(username + api_key + …). While a rotated key overlaps, either
 * signs.
 * @throws UnauthorizedError (07) for an unknown username, a wrong sign, or md5 where the account refuses it.
 */
export async function authenticateSign(request: SignedRequest): Promise<Account> {
  if (request.username === '' || request.sign === '') {
    throw new UnauthorizedError(say('sendUsernameAndSign'), 'credentials_missing');
  }
  // What can't be a name is not looked for: it would be remembered as one that does not exist.
  const found = isUsername(request.username) ? await findKeysByUsername(request.username) : null;
  // An unknown name takes the same work and hears the same words as a wrong sign.
  const keys = (found?.keys ?? [decoyKey]).filter((key) => !isExpired(key.validUntil)).map(openKey);
  const matches = keys.map((key) => isSignedWith(key, request)).includes(true);
  if (!found || !matches) {
    throw new UnauthorizedError(say('signWrong'), 'invalid_sign');
  }
  const isMd5 = getSignKind(request.sign) === 'md5';
  if (found.account.requireStrongSign && isMd5) {
    throw new UnauthorizedError(say('onlyStrongSign'), 'invalid_sign');
  }
  if (isMd5) {
    countMd5Sign(found.account._id);
  }
  return found.account;
}

/** @throws ForbiddenError (07) for an account that can't call the reseller surface now: suspended, a seller's. */
export function requireOpenBuyer(account: Account): void {
  refuseOtherMode(account);
  refuseSuspended(account);
  requireRole(account, 'buyer');
}

/** In the place of the keys of a name that nobody has: to be opened and compared like any other. */
const decoyKey = buildApiKeyDocument('nobody', generateApiKey('buyer', 'test'));

function openKey({ sealed, accountId }: { sealed: string; accountId: string }): string {
  return decrypt(sealed, apiKeyContext(accountId));
}

function isSignedWith(apiKey: string, { username, sign, md5Covers, hmacCovers }: SignedRequest): boolean {
  const expected =
    getSignKind(sign) === 'hmac'
      ? createHmac('sha256', apiKey).update(`${username}|${hmacCovers}`).digest('hex')
      : createHash('md5').update(`${username}${apiKey}${md5Covers}`).digest('hex');
  return isSameSecret(sign, expected);
}
