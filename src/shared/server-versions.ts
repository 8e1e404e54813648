/**
 * Oldest supported servers. MongoDB 5.0 has snapshot reads outside of transactions, Redis 6.2 has
 * GETDEL and ZMSCORE.
 */
const oldest = { MongoDB: '5.0', Redis: '6.2' } as const;

/** A server answers, but is too old. */
export class ServerTooOldError extends Error {}

/**
 * Returns that a server is too old, and which version is needed; null if it is not. An unreadable
 * version passes.
 */
export function versionProblem(server: keyof typeof oldest, version: string): string | null {
  const [, major = NaN, minor = NaN] = (/^(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = oldest[server].split('.').map(Number);
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor)
    ? `${server} ${version} is too old: this service needs ${oldest[server]} or newer.`
    : null;
}

/** @throws ServerTooOldError */
export function requireVersion(server: keyof typeof oldest, version: string): void {
  const problem = versionProblem(server, version);
  if (problem !== null) {
    throw new ServerTooOldError(problem);
  }
}
