/** Wrong usage: exit code 2. */
export class UsageError extends Error {}
