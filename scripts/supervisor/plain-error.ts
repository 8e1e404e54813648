/** An error that the user sees as its message alone, without a stack trace. */
export class PlainError extends Error {}
