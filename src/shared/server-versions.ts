/**
 * Oldest supported servers. MongoDB 5.0 has snapshot reads outside of transactions, Redis 6.2 has
 * GETDEL and ZMSCORE.
 */
const minimumVersions = { MongoDB: '5.0', Redis: '6.2' } as const;

/** The server responds, but its version is too old. */
export class ServerTooOldError extends Error {}

/**
 * Returns a message if the server is too old, which names the required version. Null if it is not
 * too old. A version that cannot be parsed is accepted.
 */
export function describeVersionProblem(server: keyof typeof minimumVersions, version: string): string | null {
  const [, major = NaN, minor = NaN] = (/^(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = minimumVersions[server].split('.').map(Number);
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor)
    ? `${server} ${version} is too old: this service needs ${minimumVersions[server]} or newer.`
    : null;
}

/** @throws ServerTooOldError if the server is too old. */
export function requireVersion(server: keyof typeof minimumVersions, version: string): void {
  const problem = describeVersionProblem(server, version);
  if (problem !== null) {
    throw new ServerTooOldError(problem);
  }
}
