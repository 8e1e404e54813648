import { createHash, createHmac } from 'node:crypto';

export interface Signing {
  username: string;
  key: string;
}

/** The md5 that reseller engines send: over username, key and the ref_id, `pricelist` or `depo`. */
export function md5Sign({ username, key }: Signing, covers: string): string {
  return createHash('md5').update(`${username}${key}${covers}`).digest('hex');
}

/** HMAC-SHA256 with the key over `username|` and what it covers. */
export function hmacSign({ username, key }: Signing, covers: string): string {
  return createHmac('sha256', key).update(`${username}|${covers}`).digest('hex');
}

export interface Purchase {
  code: string;
  customer: string;
  ref_id: string;
}

/** The path of a purchase, signed with HMAC unless a sign is given. */
export function requestPath(signing: Signing, purchase: Purchase, over: Record<string, string> = {}): string {
  const sign = hmacSign(signing, `${purchase.code}|${purchase.customer}|${purchase.ref_id}`);
  return pathOf('request', { username: signing.username, sign, ...purchase, ...over });
}

export function pathOf(call: 'request' | 'price-list' | 'balance', query: Record<string, string>): string {
  return `/api/reseller/${call}?${new URLSearchParams(query).toString()}`;
}
