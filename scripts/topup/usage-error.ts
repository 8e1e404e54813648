/** The command was called in a way that cannot work: exit code 2. */
export class UsageError extends Error {}
