/** An error for the user. Only its message is printed, without a stack trace. */
export class PlainError extends Error {}
