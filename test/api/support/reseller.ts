import { createHash, createHmac } from 'node:crypto';

export interface Signing {
  username: string;
  key: string;
}

/**
 * Returns the md5 sign that reseller engines use. `covers` is the ref_id, `pricelist` or `depo`.
 */
export function md5Sign({ username, key }: Signing, covers: string): string {
  return createHash('md5').update(`${username}${key}${covers}`).digest('hex');
}

/**
 * Returns the HMAC-SHA256 sign, with the API key as its key. It covers `username|` followed by
 * `covers`.
 */
export function hmacSign({ username, key }: Signing, covers: string): string {
  return createHmac('sha256', key).update(`${username}|${covers}`).digest('hex');
}

export interface Purchase {
  code: string;
  customer: string;
  ref_id: string;
}

/** Returns the path for a purchase. It is signed with HMAC unless `over` contains a sign. */
export function requestPath(signing: Signing, purchase: Purchase, over: Record<string, string> = {}): string {
  const sign = hmacSign(signing, `${purchase.code}|${purchase.customer}|${purchase.ref_id}`);
  return pathOf('request', { username: signing.username, sign, ...purchase, ...over });
}

export function pathOf(call: 'request' | 'price-list' | 'balance', query: Record<string, string>): string {
  return `/api/reseller/${call}?${new URLSearchParams(query).toString()}`;
}
