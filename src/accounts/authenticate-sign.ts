import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { decrypt } from '../shared/encryption.js';
import { UnauthorizedError } from '../shared/errors.js';
import type { Account } from './account.model.js';
import { isOver, refuseOtherMode, refuseSuspended, requireRole } from './authenticate.js';
import { keysOfUsername } from './known-keys.js';

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
 * Whom a signed request of the reseller surface comes from (docs/interface.md#reseller-sign). A sign of 64 characters
 * is HMAC-SHA256(api_key, "username|…"), any other md5(username + api_key + …). While a rotated key overlaps, either
 * signs.
 * @throws UnauthorizedError (07) for an unknown username, a wrong sign, or md5 where the account refuses it.
 * @throws ForbiddenError (07) for a suspended account or a seller's.
 */
export async function authenticateSign(request: SignedRequest): Promise<Account> {
  if (request.username === '' || request.sign === '') {
    throw new UnauthorizedError('Send "username" and "sign".');
  }
  const found = await keysOfUsername(request.username);
  // An unknown name takes the same work and hears the same words as a wrong sign.
  const keys = found?.keys.filter((key) => !isOver(key.validUntil)).map(openKey) ?? [''];
  const matches = keys.map((key) => isSignedWith(key, request)).includes(true);
  if (!found || !matches) {
    throw new UnauthorizedError('"username" or "sign" is not right. See how the sign is made at /docs.');
  }
  if (found.account.requireStrongSign && request.sign.length !== 64) {
    throw new UnauthorizedError('This account takes only the HMAC-SHA256 sign, not md5.');
  }
  refuseOtherMode(found.account);
  refuseSuspended(found.account);
  requireRole(found.account, 'buyer');
  return found.account;
}

function openKey({ sealed, accountId }: { sealed: string; accountId: string }): string {
  return decrypt(sealed, `api-key:${accountId}`);
}

function isSignedWith(apiKey: string, { username, sign, md5Covers, hmacCovers }: SignedRequest): boolean {
  const expected =
    sign.length === 64
      ? createHmac('sha256', apiKey).update(`${username}|${hmacCovers}`).digest('hex')
      : createHash('md5').update(`${username}${apiKey}${md5Covers}`).digest('hex');
  const given = Buffer.from(sign);
  const wanted = Buffer.from(expected);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
