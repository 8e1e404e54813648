/**
 * Encryption contexts that bind secrets to their account and use. A secret cannot be decrypted in
 * another context.
 */

export function apiKeyContext(accountId: string): string {
  return `api-key:${accountId}`;
}

export function webhookSecretContext(accountId: string): string {
  return `webhook-secret:${accountId}`;
}

export function providerSecretContext(accountId: string): string {
  return `provider:${accountId}`;
}
