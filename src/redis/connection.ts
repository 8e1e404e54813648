/**
 * Creates all connections to Redis. Commands of a `producer` connection fail fast while Redis is
 * unavailable; workers wait indefinitely. The rest of the code need not know whether Redis is one
 * server, Sentinels or a Cluster.
 */
import type { ConnectionOptions } from 'node:tls';
import { Cluster, Redis } from 'ioredis';
import { env } from '../../config/env.js';
import { readRedisUrl } from '../../config/server-addresses.js';
import { logger } from '../shared/logger.js';
import { failFast, getErrorCode, logRedisError } from './connection-errors.js';
import { getConnectionName, processId } from './process-id.js';
import { batchWrites } from './batch-writes.js';

/**
 * The use of a connection.
 *
 * - producer: commands with a waiting caller.
 * - worker: BullMQ's commands.
 * - blocking: BullMQ's wait for jobs.
 * - subscriber: published messages.
 */
type Use = 'producer' | 'worker' | 'blocking' | 'subscriber';

/** The options that are used here. The nodes of a Cluster do not accept the full `RedisOptions`. */
interface Options {
  maxRetriesPerRequest: number | null;
  socketTimeout: number;
  commandTimeout?: number;
  enableOfflineQueue?: boolean;
  autoResubscribe?: boolean;
  connectionName?: string;
  tls?: ConnectionOptions;
}

const commandTimeoutMs = 1_000;

/**
 * If a command has no reply within `socketTimeout`, the connection is dead, even if the socket
 * seems open (a NAT may have dropped it). BullMQ blocks for at most 10 s.
 */
const optionsByUse: Record<Use, Options> = {
  producer: {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: commandTimeoutMs,
    socketTimeout: 3_000,
  },
  worker: { maxRetriesPerRequest: null, socketTimeout: 5_000 },
  blocking: { maxRetriesPerRequest: null, socketTimeout: 12_000 },
  subscriber: { maxRetriesPerRequest: null, autoResubscribe: false, socketTimeout: 3_000 },
};

/**
 * Uses that send many commands concurrently. On other connections, each command waits for the
 * previous one.
 */
const batchedUses: ReadonlySet<Use> = new Set(['producer', 'worker']);

const connectTimeoutMs = 2_000;
const keepAliveMs = 10_000;
const readOnlyPauseMs = 1_000;

let producer: Redis | null = null;
let worker: Redis | null = null;
const disconnectHooks: (() => Promise<unknown>)[] = [];

/**
 * Returns the connection of this process for everything except workers. Commands fail at once while
 * Redis is unavailable.
 */
export function redis(): Redis {
  producer ??= withBlockingDuplicates(openConnection('producer', getConnectionName(processId)));
  return producer;
}

/**
 * Returns the connection that all BullMQ workers of this process share. Each worker has another
 * connection for blocking commands. Commands wait until an outage ends.
 */
export function getWorkerConnection(): Redis {
  worker ??= withBlockingDuplicates(openConnection('worker'));
  return worker;
}

/**
 * Opens a connection for subscriptions. It reconnects automatically, but the caller must subscribe
 * again.
 */
export function createSubscriberConnection(): Redis {
  return openConnection('subscriber');
}

/** Returns the servers that hold keys: one, or each master of a Cluster. */
export function listRedisServers(): Redis[] {
  const connection: unknown = redis();
  return connection instanceof Cluster ? connection.nodes('master') : [redis()];
}

/**
 * Builds a key on the same Cluster node as `key`. The new key keeps the prefix, which the user's
 * ACL may require.
 */
export function buildSiblingKey(key: string, part: string): string {
  return key.includes('{') ? `${key}:${part}` : `${env.QUEUE_PREFIX}:${part}:{${key}}`;
}

/**
 * Registers a hook that `disconnectRedis` runs while Redis is still connected, last registered
 * first.
 */
export function beforeDisconnect(farewell: () => Promise<unknown>): void {
  disconnectHooks.push(farewell);
}

/**
 * Resolves when the producer connection can take commands.
 * @param timeoutMs Rejects after this time. Null means to wait indefinitely.
 */
export async function connectRedis(timeoutMs: number | null = 10_000): Promise<void> {
  const connection = redis();
  if (connection.status === 'ready') {
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const onReady = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer =
      timeoutMs === null
        ? undefined
        : setTimeout(() => {
            connection.off('ready', onReady);
            reject(new Error(`Redis did not respond within ${timeoutMs} ms`));
          }, timeoutMs);
    connection.once('ready', onReady);
  });
}

/** Runs the hooks if Redis is reachable. Always closes the connections. */
export async function disconnectRedis(): Promise<void> {
  for (const farewell of disconnectHooks.splice(0).reverse()) {
    await farewell().catch(() => undefined);
  }
  worker?.disconnect();
  worker = null;
  await producer?.quit().catch(() => producer?.disconnect());
  producer = null;
}

function openConnection(use: Use, connectionName?: string): Redis {
  const options = {
    ...optionsByUse[use],
    connectTimeout: connectTimeoutMs,
    keepAlive: keepAliveMs,
    retryStrategy,
    reconnectOnError: createReadOnlyReconnect(),
    ...(connectionName !== undefined && { connectionName }),
    ...getTlsOptions(),
  };
  if (env.REDIS_CLUSTER) {
    return openCluster(use, options);
  }
  const connection =
    env.REDIS_SENTINEL === null
      ? new Redis(env.REDIS_URL, options)
      : openSentinel(env.REDIS_SENTINEL, options);
  if (use === 'producer') {
    failFast(connection, commandTimeoutMs);
  }
  if (batchedUses.has(use)) {
    batchWrites(connection);
  }
  return watchConnection(connection);
}

function openSentinel(name: string, options: Options): Redis {
  const { nodes, username, password, db } = parseAddress(26_379);
  return new Redis({
    ...options,
    sentinels: nodes,
    name,
    db,
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    ...(env.REDIS_SENTINEL_PASSWORD !== null && { sentinelPassword: env.REDIS_SENTINEL_PASSWORD }),
    ...(options.tls && { sentinelTLS: options.tls, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: connectTimeoutMs,
  });
}

function openCluster(use: Use, { enableOfflineQueue = true, ...options }: Options): Redis {
  const { nodes, username, password } = parseAddress(6_379);
  const cluster = new Cluster(nodes, {
    redisOptions: {
      ...options,
      ...(username !== null && { username }),
      ...(password !== null && { password }),
    },
    // Keep host names, because the nodes' certificates are issued for them.
    dnsLookup: (name, found) => found(null, name),
    clusterRetryStrategy: retryStrategy,
    slotsRefreshTimeout: connectTimeoutMs,
    enableOfflineQueue,
    ...(use === 'producer' && { maxRedirections: 5, retryDelayOnFailover: 50 }),
  });
  if (use === 'producer') {
    cluster.on('+node', (node: Redis) => {
      failFast(node, commandTimeoutMs);
    });
  }
  if (batchedUses.has(use)) {
    cluster.on('+node', batchWrites);
  }
  cluster.on('node error', (error: Error, node: string) => {
    logRedisError('a node of redis is unavailable', error, { node });
  });
  // A Cluster supports all commands and events that are used here.
  return watchConnection(cluster as unknown as Redis);
}

/**
 * BullMQ duplicates the given connection for blocking calls. The duplicates need other timeouts.
 */
function withBlockingDuplicates(connection: Redis): Redis {
  // `Cluster.duplicate` takes the nodes as its first argument, and has the name in `redisOptions`.
  type Given = { connectionName?: string; redisOptions?: { connectionName?: string } } | undefined;
  connection.duplicate = ((...args: Given[]) => {
    const named = args.find((each) => each !== undefined);
    return openConnection('blocking', named?.connectionName ?? named?.redisOptions?.connectionName);
  }) as Redis['duplicate'];
  return connection;
}

function parseAddress(defaultPort: number) {
  const address = readRedisUrl(env.REDIS_URL, defaultPort);
  if (!address) {
    throw new Error('REDIS_URL was valid at the start and is not valid now');
  }
  return address;
}

function getTlsOptions(): { tls?: ConnectionOptions } {
  return parseAddress(0).isTls
    ? {
        tls: {
          rejectUnauthorized: !env.REDIS_TLS_SELF_SIGNED,
          ...(env.REDIS_TLS_CA !== null && { ca: env.REDIS_TLS_CA }),
        },
      }
    : {};
}

function retryStrategy(times: number): number {
  return Math.min(1_000, 50 * times);
}

/**
 * Reconnects if the server is read-only. After a failover, the connected server may be a replica,
 * and reconnecting finds the new master. The pause prevents a reconnect per command while the
 * server stays read-only.
 */
function createReadOnlyReconnect(): (error: Error) => boolean {
  let lastMs = -Infinity;
  return (error) => {
    const reconnects = getErrorCode(error) === 'READONLY' && performance.now() - lastMs > readOnlyPauseMs;
    if (reconnects) {
      lastMs = performance.now();
    }
    return reconnects;
  };
}

/**
 * Maximum number of listeners on the shared connection, which all queues use. Above ten listeners,
 * Node would warn of a leak on stderr.
 */
const listenersMax = 10_000;

/** Logs an outage once a minute, and the end of the outage once. */
function watchConnection(connection: Redis): Redis {
  let away = false;
  connection.setMaxListeners(listenersMax);
  connection.on('error', (error: Error) => {
    away = true;
    logRedisError('redis is unavailable', error);
  });
  connection.on('ready', () => {
    if (away) {
      away = false;
      logger.info('redis is back');
    }
  });
  return connection;
}
