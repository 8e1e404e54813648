import { createHash, createHmac } from 'node:crypto';
import { isUsername } from '../shared/input-rules.js';
import { decrypt } from '../shared/encryption.js';
import { isSameSecret } from '../shared/is-same-secret.js';
import { UnauthorizedError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import type { Account } from './account.model.js';
import { isExpired, refuseOtherMode, refuseSuspended, requireRole } from './authenticate.js';
import { generateApiKey } from './api-key.js';
import { buildApiKeyDocument } from './create-account.js';
import { countMd5Sign } from './md5-signs.js';
import { findKeysByUsername } from './api-key-cache.js';
import { getApiKeyContext } from './secret-contexts.js';

/** Algorithm of a reseller call's signature. */
export type SignKind = 'hmac' | 'md5';

export function getSignKind(sign: string): SignKind {
  return sign.length === 64 ? 'hmac' : 'md5';
}

export interface SignedRequest {
  username: string;
  /** The sign in lower-case hex. */
  sign: string;
  /** The md5 input after username and key: the ref_id, `pricelist` or `depo`. */
  md5Covers: string;
  /** The HMAC input after the username: `code|customer|ref_id`, `pricelist` or `depo`. */
  hmacCovers: string;
}

/**
 * Authenticates a signed reseller request (docs/reference/api/reseller.md#reseller-sign). A sign of
 * 64 characters is HMAC-SHA256(api_key, "username|…"). Any other sign is md5(username + api_key +
 * …). During the overlap of a rotation, both keys are valid.
 * @throws UnauthorizedError (07) for an unknown username, a wrong sign, or an md5 sign if the
 *   account refuses md5.
 */
export async function authenticateSign(request: SignedRequest): Promise<Account> {
  if (request.username === '' || request.sign === '') {
    throw new UnauthorizedError(say('sendUsernameAndSign'), 'credentials_missing');
  }
  // Do not look up malformed usernames, because the cache would store them as missing.
  const found = isUsername(request.username) ? await findKeysByUsername(request.username) : null;
  // An unknown username costs the same work and gets the same message as a wrong sign.
  const keys = (found?.keys ?? [decoyKey]).filter((key) => !isExpired(key.validUntil)).map(decryptApiKey);
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

/**
 * Refuses an account that cannot use the reseller surface.
 * @throws ForbiddenError (07) for a suspended account or a seller.
 * @throws UnauthorizedError (07) for a test account on a live installation, or a live account in a
 *   sandbox.
 */
export function requireActiveBuyer(account: Account): void {
  refuseOtherMode(account);
  refuseSuspended(account);
  requireRole(account, 'buyer');
}

/** A key that is compared if the username is unknown, so that the response time is the same. */
const decoyKey = buildApiKeyDocument('nobody', generateApiKey('buyer', 'test'));

function decryptApiKey({ sealed, accountId }: { sealed: string; accountId: string }): string {
  return decrypt(sealed, getApiKeyContext(accountId));
}

function isSignedWith(apiKey: string, { username, sign, md5Covers, hmacCovers }: SignedRequest): boolean {
  const expected =
    getSignKind(sign) === 'hmac'
      ? createHmac('sha256', apiKey).update(`${username}|${hmacCovers}`).digest('hex')
      : createHash('md5').update(`${username}${apiKey}${md5Covers}`).digest('hex');
  return isSameSecret(sign, expected);
}
