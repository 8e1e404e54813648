/** Signs webhooks and callbacks. A webhook secret is a prefix and 32 random bytes in base64. */
import { createSecretKey, type KeyObject, createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { getWebhookSecretContext } from '../../accounts/secret-contexts.js';
import { defaultEndpointId, type EndpointOwner, apiVersions } from '../../accounts/webhook-endpoint.js';
import { now, nowMs } from '../../shared/clock.js';
import { decrypt, encrypt } from '../../shared/encryption.js';
import type { Delivery, DeliveryAttempt } from './delivery.model.js';

const prefix = 'whsec_';

export function sealWebhookSecret(accountId: string, secret: string): string {
  return encrypt(secret, getWebhookSecretContext(accountId));
}

/** @throws Error if the secret was encrypted for another account or with another ENCRYPTION_KEY. */
export function openWebhookSecret(accountId: string, sealed: string): string {
  return decrypt(sealed, getWebhookSecretContext(accountId));
}

/** Returns the key of both signatures: the decoded bytes after the prefix. */
export function decodeSigningKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(prefix.length), 'base64'));
}

/**
 * Returns every key that signs for an endpoint now, current first. Empty if the endpoint does not
 * exist. Keys of the default endpoint are the account's, which also sign callbacks, so they exist
 * even without `webhook_url`.
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

/** Decrypting a secret costs more than a signature, and every delivery needs its key. */
const keyCache = new LRUCache<string, KeyObject>({ max: 10_000 });

function getCachedKey(accountId: string, sealed: string): KeyObject {
  const name = `${accountId}:${sealed}`;
  const key = keyCache.get(name) ?? decodeSigningKey(openWebhookSecret(accountId, sealed));
  keyCache.set(name, key);
  return key;
}

/**
 * Returns every key that signs this row: its own secret, if set, and those of its endpoint. Empty
 * if the endpoint was removed.
 */
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
    // The ENCRYPTION_KEY of this row was retired while the row waited.
    return present;
  }
  return [own, ...present.filter((key) => !key.equals(own))];
}

export const userAgent = 'topup-webhooks/1';

type SignedDelivery = Pick<Delivery, '_id' | 'event' | 'body' | 'version' | 'attemptCount'>;

/**
 * Builds the headers of one attempt. `x-signature` covers only the exact body. `webhook-signature`
 * (Standard Webhooks) also covers the id and the time of this attempt. During a rotation, each
 * header has one value per key, separated by a space.
 */
export function buildDeliveryHeaders(
  delivery: SignedDelivery,
  keys: readonly KeyObject[],
): Record<string, string> {
  const seconds = Math.floor(nowMs() / 1_000).toString();
  const signed = `${delivery._id}.${seconds}.${delivery.body}`;
  return {
    ...buildRowHeaders(delivery, delivery.attemptCount + 1),
    'x-signature': keys.map((key) => `sha256=${hmac(key, delivery.body, 'hex')}`).join(' '),
    'webhook-timestamp': seconds,
    'webhook-signature': keys.map((key) => `v1,${hmac(key, signed, 'base64')}`).join(' '),
  };
}

/** @param n Number of the attempt. */
function buildRowHeaders(delivery: Omit<SignedDelivery, 'attemptCount'>, n: number): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': userAgent,
    // Responses are never decompressed, so that a small response cannot expand into a large one.
    'accept-encoding': 'identity',
    'x-event': delivery.event,
    'x-api-version': delivery.version ?? apiVersions[0],
    'x-attempt': n.toString(),
    'webhook-id': delivery._id,
  };
}

/** Enough to distinguish signatures, too short to forge a request. */
const signatureShownMax = 16;

/**
 * Selects the headers to store with an attempt: those that cannot be rebuilt from the row, with
 * truncated signatures.
 */
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

/**
 * Rebuilds the headers of an attempt, with truncated signatures. Null if nothing was sent or the
 * headers were not stored.
 */
export function buildAttemptHeaders(
  delivery: Omit<SignedDelivery, 'attemptCount'>,
  { n, sent }: Pick<DeliveryAttempt, 'n' | 'sent'>,
): Record<string, string> | null {
  return sent === undefined ? null : { ...buildRowHeaders(delivery, n), ...sent };
}

function hmac(key: KeyObject, text: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(text).digest(encoding);
}
