/**
 * Connections to Redis, all made here, by their use: whoever waits for an answer is told at once that Redis is away, and
 * workers wait for it for ever. One server, Sentinels or a Cluster: nobody else needs to know which.
 */
import type { ConnectionOptions } from 'node:tls';
import { Cluster, Redis } from 'ioredis';
import { env } from '../../config/env.js';
import { readRedisUrl } from '../../config/server-addresses.js';
import { logger } from '../shared/logger.js';
import { failFast, getErrorCode, logRedisError } from './connection-errors.js';
import { getConnectionName, processId } from './process-id.js';
import { batchWrites } from './batch-writes.js';

/** producer: for commands that somebody waits for. worker: for BullMQ's commands. blocking: where it waits for jobs. */
type Use = 'producer' | 'worker' | 'blocking' | 'subscriber';

/** The options that are used here: `RedisOptions` as a whole is no option of a Cluster's nodes. */
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
 * `socketTimeout`: a command without any answer for so long shows that the connection is dead, whatever the socket says
 * (a NAT that forgot it answers nothing). BullMQ blocks for 10 s at most.
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

/** The others send a command and wait. */
const sendsMany: ReadonlySet<Use> = new Set(['producer', 'worker']);

const connectTimeoutMs = 2_000;
const keepAliveMs = 10_000;
const readOnlyPauseMs = 1_000;

let producer: Redis | null = null;
let worker: Redis | null = null;
const disconnectHooks: (() => Promise<unknown>)[] = [];

/** The connection of this process for everything but workers. Commands fail at once while Redis is away. */
export function redis(): Redis {
  producer ??= withBlockingDuplicates(openConnection('producer', getConnectionName(processId)));
  return producer;
}

/**
 * The connection that all BullMQ workers of this process share; each has another one of its own, on which it blocks.
 * Commands wait through any outage.
 */
export function workerConnection(): Redis {
  worker ??= withBlockingDuplicates(openConnection('worker'));
  return worker;
}

/** A connection that hears what is published. It comes back by itself, and whoever opened it subscribes again. */
export function newSubscriberConnection(): Redis {
  return openConnection('subscriber');
}

/** The servers that hold keys: one, or each master of a Cluster. */
export function redisServers(): Redis[] {
  const connection: unknown = redis();
  return connection instanceof Cluster ? connection.nodes('master') : [redis()];
}

/** A key that a Cluster keeps on the same node as `key`; it begins with the prefix too, as a user's rights may ask for. */
export function buildSiblingKey(key: string, part: string): string {
  return key.includes('{') ? `${key}:${part}` : `${env.QUEUE_PREFIX}:${part}:{${key}}`;
}

/** Done by `disconnectRedis` while Redis can still be reached; the last one first. */
export function beforeDisconnect(farewell: () => Promise<unknown>): void {
  disconnectHooks.push(farewell);
}

/**
 * Resolves when the producer connection can take commands.
 * @param timeoutMs rejects after this; null: waits for ever.
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
            reject(new Error(`Redis did not answer within ${timeoutMs} ms`));
          }, timeoutMs);
    connection.once('ready', onReady);
  });
}

/** Says goodbye if Redis is there, and closes the connections in any case. */
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
    reconnectOnError: onceInAWhileWhenReadOnly(),
    ...(connectionName !== undefined && { connectionName }),
    ...tlsOptions(),
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
  if (sendsMany.has(use)) {
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
    // The names of nodes stay as they are: their certificates are for them.
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
  if (sendsMany.has(use)) {
    cluster.on('+node', batchWrites);
  }
  cluster.on('node error', (error: Error, node: string) => {
    logRedisError('a node of redis is away', error, { node });
  });
  // It has every command and event of a Redis that is used here.
  return watchConnection(cluster as unknown as Redis);
}

/** BullMQ makes the connections it blocks on as duplicates of the one it is given; these need other time-outs. */
function withBlockingDuplicates(connection: Redis): Redis {
  // A Cluster is asked with its nodes first, and the name a level deeper.
  type Given = { connectionName?: string; redisOptions?: { connectionName?: string } } | undefined;
  connection.duplicate = ((...given: Given[]) => {
    const named = given.find((each) => each !== undefined);
    return openConnection('blocking', named?.connectionName ?? named?.redisOptions?.connectionName);
  }) as Redis['duplicate'];
  return connection;
}

function parseAddress(defaultPort: number) {
  const address = readRedisUrl(env.REDIS_URL, defaultPort);
  if (!address) {
    throw new Error('REDIS_URL was checked at the start and is no address now');
  }
  return address;
}

function tlsOptions(): { tls?: ConnectionOptions } {
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
 * After a failover the one we are connected to may be a replica now, and another connection finds the new master. Where
 * it stays read-only, each command would reconnect.
 */
function onceInAWhileWhenReadOnly(): (error: Error) => boolean {
  let lastMs = -Infinity;
  return (error) => {
    const reconnects = getErrorCode(error) === 'READONLY' && performance.now() - lastMs > readOnlyPauseMs;
    if (reconnects) {
      lastMs = performance.now();
    }
    return reconnects;
  };
}

/** Each queue listens to the connection that all share, and Node takes more than ten for a leak, on stderr. */
const listenersMax = 10_000;

/** An outage is a line a minute, and one when it ends. */
function watchConnection(connection: Redis): Redis {
  let away = false;
  connection.setMaxListeners(listenersMax);
  connection.on('error', (error: Error) => {
    away = true;
    logRedisError('redis is away', error);
  });
  connection.on('ready', () => {
    if (away) {
      away = false;
      logger.info('redis is back');
    }
  });
  return connection;
}
