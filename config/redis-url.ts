import { decodeUriPart, readHosts, type Host } from './hosts.js';

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
