/** Headers and URLs allow no other characters. Report them before anything is sent. */
export function requireSendable(apiKey: string): void {
  if (!/^[\x21-\x7e]*$/.test(apiKey)) {
    throw new TypeError('apiKey has a space, a line break or an invalid character: copy the key again');
  }
}
