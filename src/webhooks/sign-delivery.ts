import { createHmac, type KeyObject } from 'node:crypto';
import { apiVersions } from '../accounts/webhook-endpoint.js';
import { nowMs } from '../shared/clock.js';
import type { Delivery } from './delivery.model.js';

export const userAgent = 'topup-webhooks/1';

/**
 * The headers of one attempt. Both signatures cover the exact body: `x-signature` alone, and `webhook-signature`
 * (Standard Webhooks) together with the id and the time of this attempt. While a secret is being rotated each
 * carries one value a key, separated by a space.
 */
export function deliveryHeaders(
  delivery: Pick<Delivery, '_id' | 'event' | 'body' | 'version' | 'attemptCount'>,
  keys: readonly KeyObject[],
): Record<string, string> {
  const seconds = Math.floor(nowMs() / 1_000).toString();
  const signed = `${delivery._id}.${seconds}.${delivery.body}`;
  return {
    'content-type': 'application/json',
    'user-agent': userAgent,
    // Nothing is ever unpacked here, so that a small answer can't become a large one.
    'accept-encoding': 'identity',
    'x-event': delivery.event,
    'x-api-version': delivery.version ?? apiVersions[0],
    'x-attempt': (delivery.attemptCount + 1).toString(),
    'x-signature': keys.map((key) => `sha256=${hmac(key, delivery.body, 'hex')}`).join(' '),
    'webhook-id': delivery._id,
    'webhook-timestamp': seconds,
    'webhook-signature': keys.map((key) => `v1,${hmac(key, signed, 'base64')}`).join(' '),
  };
}

function hmac(key: KeyObject, text: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(text).digest(encoding);
}
