/** Webhook secrets: `whsec_` and base64 of 32 random bytes, stored sealed and bound to their account. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { webhookSecretContext } from '../accounts/secret-contexts.js';
import { defaultEndpointId, type EndpointOwner } from '../accounts/webhook-endpoint.js';
import { now } from '../shared/clock.js';
import { decrypt, encrypt } from '../shared/encryption.js';
import type { Delivery } from './delivery.model.js';

const prefix = 'whsec_';

export function sealWebhookSecret(accountId: string, secret: string): string {
  return encrypt(secret, webhookSecretContext(accountId));
}

/** @throws Error if it was sealed for another account or with another ENCRYPTION_KEY. */
export function openWebhookSecret(accountId: string, sealed: string): string {
  return decrypt(sealed, webhookSecretContext(accountId));
}

/** The key of both signatures: the decoded bytes of what follows the prefix. */
export function signingKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(prefix.length), 'base64'));
}

/**
 * Every key that signs for an endpoint now, the current one first; none if the account has no such endpoint. Those of the
 * first are the account's, and sign callbacks too: they are there also while no `webhook_url` is set.
 */
export function signingKeys(account: EndpointOwner, endpointId = defaultEndpointId): KeyObject[] {
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
  return sealed.map((each) => keyOf(account._id, each));
}

/** Opening a secret costs more than a signature, and every delivery needs the key of its receiver. */
const opened = new LRUCache<string, KeyObject>({ max: 10_000 });

function keyOf(accountId: string, sealed: string): KeyObject {
  const name = `${accountId}:${sealed}`;
  const key = opened.get(name) ?? signingKey(openWebhookSecret(accountId, sealed));
  opened.set(name, key);
  return key;
}

/** Every key that signs this row: its own secret, where it has one, and those of its endpoint now. None: that was removed. */
export function keysFor(
  row: Pick<Delivery, 'accountId' | 'endpointId' | 'secretSealed'>,
  account: EndpointOwner,
): readonly KeyObject[] {
  const present = signingKeys(account, row.endpointId);
  if (row.secretSealed === undefined) {
    return present;
  }
  let own: KeyObject;
  try {
    own = signingKey(openWebhookSecret(row.accountId, row.secretSealed));
  } catch {
    // A row that waited longer than its ENCRYPTION_KEY was kept.
    return present;
  }
  return [own, ...present.filter((key) => !key.equals(own))];
}
