import { createHmac, type KeyObject } from 'node:crypto';
import { apiVersions } from '../accounts/webhook-endpoint.js';
import { nowMs } from '../shared/clock.js';
import type { Delivery, DeliveryAttempt } from './delivery.model.js';

export const userAgent = 'topup-webhooks/1';

type Signed = Pick<Delivery, '_id' | 'event' | 'body' | 'version' | 'attemptCount'>;

/**
 * The headers of one attempt. Both signatures cover the exact body: `x-signature` alone, and `webhook-signature`
 * (Standard Webhooks) together with the id and the time of this attempt. While a secret is being rotated each
 * carries one value a key, separated by a space.
 */
export function buildDeliveryHeaders(delivery: Signed, keys: readonly KeyObject[]): Record<string, string> {
  const seconds = Math.floor(nowMs() / 1_000).toString();
  const signed = `${delivery._id}.${seconds}.${delivery.body}`;
  return {
    ...buildRowHeaders(delivery, delivery.attemptCount + 1),
    'x-signature': keys.map((key) => `sha256=${hmac(key, delivery.body, 'hex')}`).join(' '),
    'webhook-timestamp': seconds,
    'webhook-signature': keys.map((key) => `v1,${hmac(key, signed, 'base64')}`).join(' '),
  };
}

/** @param n Of the attempt. */
function buildRowHeaders(delivery: Omit<Signed, 'attemptCount'>, n: number): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': userAgent,
    // Nothing is ever unpacked here, so that a small answer can't become a large one.
    'accept-encoding': 'identity',
    'x-event': delivery.event,
    'x-api-version': delivery.version ?? apiVersions[0],
    'x-attempt': n.toString(),
    'webhook-id': delivery._id,
  };
}

/** Enough to see which of two signatures came, and nothing that anybody could send in our name. */
const signatureShownMax = 16;

/** What an attempt keeps of its headers: those that its row does not tell, with signatures cut short. */
export function selectKeptHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      if (name.endsWith('-signature')) {
        const shortened = value.split(' ').map((each) => `${each.slice(0, signatureShownMax)}…`);
        return [[name, shortened.join(' ')]];
      }
      return name === 'webhook-timestamp' || name === 'traceparent' ? [[name, value]] : [];
    }),
  );
}

/** What was sent with an attempt, signatures cut short. Null: nothing was, or by a release that did not keep it. */
export function buildAttemptHeaders(
  delivery: Omit<Signed, 'attemptCount'>,
  { n, sent }: Pick<DeliveryAttempt, 'n' | 'sent'>,
): Record<string, string> | null {
  return sent === undefined ? null : { ...buildRowHeaders(delivery, n), ...sent };
}

function hmac(key: KeyObject, text: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(text).digest(encoding);
}
