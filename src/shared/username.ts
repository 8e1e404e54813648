/** What an account, and an operator, can be called. Anything else is nobody, and is kept nowhere: it may be a password. */
export const usernamePattern = /^[a-z0-9._-]{3,40}$/;
export const usernameRule = 'a username has 3 to 40 characters of a-z, 0-9, dot, dash and underscore';

export function isUsername(text: string): boolean {
  return usernamePattern.test(text);
}
