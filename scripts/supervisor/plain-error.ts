/** Thrown with a message for the person at the terminal; a stack trace would only hide it. */
export class PlainError extends Error {}
