/** A header, and an address, take no others: said once, before anything is sent. */
export function requireSendable(apiKey: string): void {
  if (!/^[\x21-\x7e]*$/.test(apiKey)) {
    throw new TypeError('apiKey has a space, a line break or a sign that no key has: copy it again');
  }
}
