/**
 * Checks the characters of the API key before any request is sent. Headers and URLs allow only
 * these characters.
 */
export function requireSendable(apiKey: string): void {
  if (!/^[\x21-\x7e]*$/.test(apiKey)) {
    throw new TypeError('apiKey has a space, a line break or an invalid character: copy the key again');
  }
}
