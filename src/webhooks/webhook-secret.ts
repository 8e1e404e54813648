/** Webhook secrets: `whsec_` and base64 of 32 random bytes, stored sealed and bound to their account. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Account } from '../accounts/account.model.js';
import { now } from '../shared/clock.js';
import { decrypt, encrypt } from '../shared/encryption.js';

const prefix = 'whsec_';

export function sealWebhookSecret(accountId: string, secret: string): string {
  return encrypt(secret, contextOf(accountId));
}

/** @throws Error if it was sealed for another account or with another ENCRYPTION_KEY. */
export function openWebhookSecret(accountId: string, sealed: string): string {
  return decrypt(sealed, contextOf(accountId));
}

/** The key of both signatures: the decoded bytes of what follows the prefix. */
export function signingKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(prefix.length), 'base64'));
}

/** Every key that signs for the account now, the current one first. */
export function signingKeys(
  account: Pick<Account, '_id' | 'webhookSecretSealed' | 'previousWebhookSecret'>,
): KeyObject[] {
  const previous = account.previousWebhookSecret;
  const sealed = [
    account.webhookSecretSealed,
    ...(previous && previous.validUntil > now() ? [previous.sealed] : []),
  ];
  return sealed.map((each) => signingKey(openWebhookSecret(account._id, each)));
}

function contextOf(accountId: string): string {
  return `webhook-secret:${accountId}`;
}
