/** `webhook-id` as `WebhookId`, `transaction.pending` as `TransactionPending`. */
export function toPascalCase(name: string): string {
  return name.replace(/(?:^|\W|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
