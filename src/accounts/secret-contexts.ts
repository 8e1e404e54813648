/** The contexts that bind sealed secrets to an account, so that one cannot be opened as another. */

export function apiKeyContext(accountId: string): string {
  return `api-key:${accountId}`;
}

export function webhookSecretContext(accountId: string): string {
  return `webhook-secret:${accountId}`;
}

export function providerSecretContext(accountId: string): string {
  return `provider:${accountId}`;
}
