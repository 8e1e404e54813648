/** The address of Redis as REDIS_URL gives it: one server, several nodes of a Cluster, or several Sentinels. */
export interface RedisAddress {
  nodes: { host: string; port: number }[];
  username: string | null;
  password: string | null;
  /** Number of the database. */
  db: number;
  isTls: boolean;
}

const form = /^(rediss?):\/\/(?:([^/?#]*)@)?([^/?#@\s]+)(?:\/(\d*))?(?:\?\S*)?$/;
const nodeForm = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i;

/**
 * @param defaultPort of nodes that name none.
 * @returns null for what is no such address.
 */
export function readRedisUrl(url: string, defaultPort: number): RedisAddress | null {
  const [, scheme, userInfo = '', hosts = '', db = ''] = form.exec(url) ?? [];
  const found = hosts.split(',').map((each) => nodeForm.exec(each));
  const nodes = found.flatMap((each) =>
    each?.[1] ? [{ host: each[1].replace(/^\[|\]$/g, ''), port: Number(each[2] ?? defaultPort) }] : [],
  );
  if (scheme === undefined || nodes.length < found.length) {
    return null;
  }
  const colon = userInfo.includes(':') ? userInfo.indexOf(':') : userInfo.length;
  const username = decoded(userInfo.slice(0, colon));
  const password = decoded(userInfo.slice(colon + 1));
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

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
