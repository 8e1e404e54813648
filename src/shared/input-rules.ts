import { printablePattern } from './printable.js';

/**
 * Usernames of accounts and operators. A name of any other form is treated as unknown and is not
 * stored, because it may be a password.
 */
export const usernamePattern = /^[a-z0-9._-]{3,40}$/;
export const usernameRule = 'a username has 3 to 40 characters of a-z, 0-9, dot, dash and underscore';

export function isUsername(text: string): boolean {
  return usernamePattern.test(text);
}

/**
 * Any `ref_id`, as in a body or a query. It may contain a slash, as invoice numbers do. A purchase
 * refuses the slash (`pathSafeRefIdPattern`), because its `ref_id` is also part of a path.
 */
export const refIdPattern = /^[A-Za-z0-9._:/-]{1,64}$/;

/**
 * The `ref_id` of a purchase. Some proxies refuse or decode `%2F`. A known purchase would then be
 * 404, and its client could buy again.
 */
export const pathSafeRefIdPattern = /^[A-Za-z0-9._:-]{1,64}$/;

/** Names of price groups. */
export const priceGroupPattern = /^[a-z0-9][a-z0-9-]{0,31}$/;
export const priceGroupRule =
  'a price group has 1 to 32 characters of a-z, 0-9 and dash, and does not begin with a dash';

/**
 * Maximum length of the reason for an operator's action. A reason has one line
 * (docs/reference/audit-log.md).
 */
export const reasonLengthMax = 500;

/** At least one letter or digit. */
export const letterOrDigitPattern = /[\p{L}\p{N}]/u;

/** Returns what is wrong with a reason. Null if the reason is valid. */
export function findReasonProblem(text: string): string | null {
  if (!printablePattern.test(text)) {
    return 'It must not contain line breaks, control or invisible characters.';
  }
  if (text.length > reasonLengthMax) {
    return `It must have at most ${reasonLengthMax} characters.`;
  }
  return letterOrDigitPattern.test(text) ? null : 'It must say why.';
}
