/** Webhook secrets: `whsec_` and base64 of 32 random bytes, stored sealed and bound to their account. */
import { createSecretKey, type KeyObject, createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { webhookSecretContext } from '../../accounts/secret-contexts.js';
import { defaultEndpointId, type EndpointOwner, apiVersions } from '../../accounts/webhook-endpoint.js';
import { now, nowMs } from '../../shared/clock.js';
import { decrypt, encrypt } from '../../shared/encryption.js';
import type { Delivery, DeliveryAttempt } from './delivery.model.js';

const prefix = 'whsec_';

export function sealWebhookSecret(accountId: string, secret: string): string {
  return encrypt(secret, webhookSecretContext(accountId));
}

/** @throws Error if it was sealed for another account or with another ENCRYPTION_KEY. */
export function openWebhookSecret(accountId: string, sealed: string): string {
  return decrypt(sealed, webhookSecretContext(accountId));
}

/** The key of both signatures: the decoded bytes of what follows the prefix. */
export function decodeSigningKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(prefix.length), 'base64'));
}

/**
 * Every key that signs for an endpoint now, the current one first; none if the account has no such endpoint. Those of the
 * first are the account's, and sign callbacks too: they are there also while no `webhook_url` is set.
 */
export function getSigningKeys(account: EndpointOwner, endpointId = defaultEndpointId): KeyObject[] {
  const secrets =
    endpointId === defaultEndpointId
      ? { secretSealed: account.webhookSecretSealed, previousSecret: account.previousWebhookSecret }
      : account.webhookEndpoints?.find(({ id }) => id === endpointId);
  if (!secrets) {
    return [];
  }
  const { secretSealed, previousSecret } = secrets;
  const sealed = [
    secretSealed,
    ...(previousSecret && previousSecret.validUntil > now() ? [previousSecret.sealed] : []),
  ];
  return sealed.map((each) => getCachedKey(account._id, each));
}

/** Opening a secret costs more than a signature, and every delivery needs the key of its receiver. */
const keyCache = new LRUCache<string, KeyObject>({ max: 10_000 });

function getCachedKey(accountId: string, sealed: string): KeyObject {
  const name = `${accountId}:${sealed}`;
  const key = keyCache.get(name) ?? decodeSigningKey(openWebhookSecret(accountId, sealed));
  keyCache.set(name, key);
  return key;
}

/** Every key that signs this row: its own secret, where it has one, and those of its endpoint now. None: that was removed. */
export function getDeliveryKeys(
  row: Pick<Delivery, 'accountId' | 'endpointId' | 'secretSealed'>,
  account: EndpointOwner,
): readonly KeyObject[] {
  const present = getSigningKeys(account, row.endpointId);
  if (row.secretSealed === undefined) {
    return present;
  }
  let own: KeyObject;
  try {
    own = decodeSigningKey(openWebhookSecret(row.accountId, row.secretSealed));
  } catch {
    // A row that waited longer than its ENCRYPTION_KEY was kept.
    return present;
  }
  return [own, ...present.filter((key) => !key.equals(own))];
}

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
