import { printablePattern } from './printable.js';

/** What an account, and an operator, can be called. Anything else is nobody, and is kept nowhere: it may be a password. */
export const usernamePattern = /^[a-z0-9._-]{3,40}$/;
export const usernameRule = 'a username has 3 to 40 characters of a-z, 0-9, dot, dash and underscore';

export function isUsername(text: string): boolean {
  return usernamePattern.test(text);
}

/** What a price group can be called. */
export const priceGroupPattern = /^[a-z0-9][a-z0-9-]{0,31}$/;
export const priceGroupRule =
  'a price group has 1 to 32 characters of a-z, 0-9 and dash, and begins with no dash';

/** Why an operator does something, wherever it is asked for: one line that says it (docs/reference/audit-log.md). */
export const reasonLengthMax = 500;

/** A letter or a digit at least. */
export const saysSomething = /[\p{L}\p{N}]/u;

/** @returns null if it is one. */
export function findReasonProblem(text: string): string | null {
  if (!printablePattern.test(text)) {
    return 'It must not contain line breaks, control or invisible characters.';
  }
  if (text.length > reasonLengthMax) {
    return `It must have at most ${reasonLengthMax} characters.`;
  }
  return saysSomething.test(text) ? null : 'It must say why.';
}
