/** What the secrets of an account are sealed with, so that none can be opened in the place of another's. */

export function apiKeyContext(accountId: string): string {
  return `api-key:${accountId}`;
}

export function webhookSecretContext(accountId: string): string {
  return `webhook-secret:${accountId}`;
}

export function providerSecretContext(accountId: string): string {
  return `provider:${accountId}`;
}
