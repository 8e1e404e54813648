/** Host and port of a database server. */
export interface Host {
  host: string;
  port: number;
}

const hostPattern = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i;
const portMax = 65_535;

/**
 * Parses `host:port`, or several of them separated by commas.
 * @param defaultPort Port of an entry without a port.
 * @returns Null if an entry is invalid.
 */
export function readHosts(text: string, defaultPort: number): Host[] | null {
  const all = text.split(',');
  const hosts = all.flatMap((each) => {
    const [, host, port] = hostPattern.exec(each) ?? [];
    const isThere =
      host !== undefined && (port === undefined || (Number(port) > 0 && Number(port) <= portMax));
    return isThere ? [{ host: host.replace(/^\[|\]$/g, ''), port: Number(port ?? defaultPort) }] : [];
  });
  return hosts.length === all.length ? hosts : null;
}

/** Decodes a user or password of a URL. Returns null for an invalid percent-encoding. */
export function decodeUriPart(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A parsed REDIS_URL: one server, several Cluster nodes, or several Sentinels. */
export interface RedisAddress {
  nodes: Host[];
  username: string | null;
  password: string | null;
  /** Number of the Redis database. */
  db: number;
  isTls: boolean;
}

const redisUrlPattern = /^(rediss?):\/\/(?:([^/?#]*)@)?([^/?#@\s]+)(?:\/(\d*))?(?:\?\S*)?$/;
/**
 * Parses REDIS_URL.
 * @param defaultPort Port of a node without a port.
 * @returns Null if the URL is invalid.
 */
export function readRedisUrl(url: string, defaultPort: number): RedisAddress | null {
  const [, scheme, userInfo = '', hosts = '', db = ''] = redisUrlPattern.exec(url) ?? [];
  const nodes = readHosts(hosts, defaultPort);
  if (scheme === undefined || nodes === null) {
    return null;
  }
  const colon = userInfo.includes(':') ? userInfo.indexOf(':') : userInfo.length;
  const username = decodeUriPart(userInfo.slice(0, colon));
  const password = decodeUriPart(userInfo.slice(colon + 1));
  return username === null || password === null
    ? null
    : {
        nodes,
        username: username === '' ? null : username,
        password: password === '' ? null : password,
        db: Number(db),
        isTls: scheme === 'rediss',
      };
}
