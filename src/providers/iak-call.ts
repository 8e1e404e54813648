import { createHash } from 'node:crypto';
import type { ProviderConnection } from './adapter.js';
import type { HttpCall } from './http.js';

/**
 * IAK has two addresses, one for each API. They belong together in pairs: production, its old name,
 * and test mode.
 */
const addressPairs = [
  { prepaid: 'https://prepaid.iak.id', postpaid: 'https://mobilepulsa.net' },
  { prepaid: 'https://api.mobilepulsa.net', postpaid: 'https://mobilepulsa.net' },
  { prepaid: 'https://prepaid.iak.dev', postpaid: 'https://testpostpaid.mobilepulsa.net' },
  { prepaid: 'https://testprepaid.mobilepulsa.net', postpaid: 'https://testpostpaid.mobilepulsa.net' },
];

export const iakAddress = 'https://prepaid.iak.id';
export const iakTestAddress = 'https://prepaid.iak.dev';

/**
 * Returns the address of one of the two APIs. Each of IAK's own addresses stands for its pair. Any
 * other address, such as a proxy, serves both APIs, because their paths differ.
 */
export function getIakAddress(baseUrl: string, api: 'prepaid' | 'postpaid'): string {
  const { origin } = new URL(baseUrl);
  const pair = addressPairs.find(({ prepaid, postpaid }) => [prepaid, postpaid].includes(origin));
  return pair?.[api] ?? baseUrl.replace(/\/+$/, '');
}

/**
 * Returns our reference as IAK takes it: letters and digits only (postpaid response code 03). Ids
 * have hex digits, so an `x` stands only for the dash.
 */
export function toIakRef(providerRef: string): string {
  return providerRef.replaceAll('-', 'x');
}

/** The reverse of `toIakRef`, for the reference of an order. Any other text stays as it is. */
export function fromIakRef(ref: string): string {
  return ref.replace(/^([0-9a-f]{32})x(?=[1-9]\d*$)/, '$1-');
}

/** Returns the signature of a call. `suffix` depends on the call. */
export function signIak({ username, secret }: ProviderConnection, suffix: string): string {
  return createHash('md5').update(`${username}${secret}${suffix}`).digest('hex');
}

interface IakCall {
  api: 'prepaid' | 'postpaid';
  path: string;
  suffix: string;
  timeoutMs: number;
  sendBefore?: Date | null | undefined;
}

export function buildIakCall(
  connection: ProviderConnection,
  { api, path, suffix, timeoutMs, sendBefore }: IakCall,
  body: Record<string, unknown>,
): HttpCall {
  const { username, sellerId, baseUrl } = connection;
  return {
    method: 'POST',
    url: new URL(`${getIakAddress(baseUrl, api)}/${path}`),
    body: JSON.stringify({ username, ...body, sign: signIak(connection, suffix) }),
    timeoutMs,
    sellerId,
    sendBefore,
  };
}
