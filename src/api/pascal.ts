/** `webhook-id` as `WebhookId`, `transaction.pending` as `TransactionPending`. */
export function pascal(name: string): string {
  return name.replace(/(?:^|\W|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
