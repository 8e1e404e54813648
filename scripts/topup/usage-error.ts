/** Wrong usage of a command. The exit code is 2. */
export class UsageError extends Error {}
