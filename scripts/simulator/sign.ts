/** The `sign` of the reseller-software surface: md5 as the field has it, or the stronger HMAC of 64 hex digits. */
import { createHash, createHmac } from 'node:crypto';
import { isSameSecret } from '../../src/shared/is-same-secret.js';

export interface SignedParts {
  username: string;
  /** What md5 covers after username and secret: the ref_id, `pricelist` or `depo`. */
  suffix: string;
  /** What the HMAC covers after the username: `code|customer|ref_id`, `pricelist` or `depo`. */
  covered: string;
}

export function isSignRight(
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
