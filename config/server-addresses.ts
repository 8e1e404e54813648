/** What the addresses of databases have in common. */
export interface Host {
  host: string;
  port: number;
}

const hostPattern = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i;
const portMax = 65_535;

/**
 * Reads `host:port`, or several with commas between them.
 * @param defaultPort of those that name none.
 * @returns null where one of them is no such address.
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

/** A user or a password of an address; null where its % stands for nothing. */
export function decodeUriPart(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The address of Redis as REDIS_URL gives it: one server, several nodes of a Cluster, or several Sentinels. */
export interface RedisAddress {
  nodes: Host[];
  username: string | null;
  password: string | null;
  /** Number of the database. */
  db: number;
  isTls: boolean;
}

const redisUrlPattern = /^(rediss?):\/\/(?:([^/?#]*)@)?([^/?#@\s]+)(?:\/(\d*))?(?:\?\S*)?$/;
/**
 * @param defaultPort of nodes that name none.
 * @returns null for what is no such address.
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
