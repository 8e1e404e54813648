/**
 * Encryption contexts that bind secrets to their account and use. A secret cannot be decrypted in
 * another context.
 */

export function getApiKeyContext(accountId: string): string {
  return `api-key:${accountId}`;
}

export function getWebhookSecretContext(accountId: string): string {
  return `webhook-secret:${accountId}`;
}

export function getProviderSecretContext(accountId: string): string {
  return `provider:${accountId}`;
}
