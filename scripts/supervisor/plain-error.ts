/** An error of which the user sees only the message, without a stack trace. */
export class PlainError extends Error {}
