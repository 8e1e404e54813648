import { printablePattern } from './printable.js';

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
