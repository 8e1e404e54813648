/** Shown to the user as its message, without a stack trace. */
export class PlainError extends Error {}
