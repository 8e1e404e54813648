/**
 * The `sign` of the reseller surface: MD5, which is common in the industry, or HMAC-SHA256 (64 hex
 * digits).
 */
import { createHash, createHmac } from 'node:crypto';
import { isSameSecret } from '../../src/shared/is-same-secret.js';

export interface SignedParts {
  username: string;
  /** Input of MD5 after username and secret: the ref_id, `pricelist` or `depo`. */
  suffix: string;
  /** Input of the HMAC after the username: `code|customer|ref_id`, `pricelist` or `depo`. */
  covered: string;
}

export function isSignValid(
  sign: string,
  { username, suffix, covered }: SignedParts,
  secret: string,
): boolean {
  const expected =
    sign.length === 64
      ? createHmac('sha256', secret).update(`${username}|${covered}`).digest('hex')
      : createHash('md5').update(`${username}${secret}${suffix}`).digest('hex');
  return isSameSecret(sign, expected);
}
