import { createHash, createHmac } from 'node:crypto';

export interface Signing {
  username: string;
  key: string;
}

/**
 * Returns the md5 sign of reseller engines, over username, key and the ref_id, `pricelist` or
 * `depo`.
 */
export function md5Sign({ username, key }: Signing, covers: string): string {
  return createHash('md5').update(`${username}${key}${covers}`).digest('hex');
}

/** Returns the HMAC-SHA256 sign with the key over `username|` and `covers`. */
export function hmacSign({ username, key }: Signing, covers: string): string {
  return createHmac('sha256', key).update(`${username}|${covers}`).digest('hex');
}

export interface Purchase {
  code: string;
  customer: string;
  ref_id: string;
}

/** Returns the path of a purchase, signed with HMAC unless `over` has a sign. */
export function requestPath(signing: Signing, purchase: Purchase, over: Record<string, string> = {}): string {
  const sign = hmacSign(signing, `${purchase.code}|${purchase.customer}|${purchase.ref_id}`);
  return pathOf('request', { username: signing.username, sign, ...purchase, ...over });
}

export function pathOf(call: 'request' | 'price-list' | 'balance', query: Record<string, string>): string {
  return `/api/reseller/${call}?${new URLSearchParams(query).toString()}`;
}
