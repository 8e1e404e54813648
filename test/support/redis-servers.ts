/**
 * Starts Redis processes for one test: a single server, a server with TLS, Sentinel, and a Cluster.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { Redis } from 'ioredis';
import { findOnPath } from '../../scripts/databases/commands.js';
import { eventually } from './eventually.js';
import { findFreePort } from '../../scripts/databases/ports.js';

export interface RedisServer {
  port: number;
  /** The URL, without a password. */
  url: string;
  /** A client with the administrator's permissions. */
  client: Redis;
  process: ChildProcess;
  stop(): Promise<void>;
}

/**
 * Starts a Redis server.
 * @param args Command line settings, such as `--maxmemory 4mb`.
 */
export async function startRedisServer(
  args: string[] = [],
  { port, tls, env = {} }: { port?: number; tls?: ConnectionOptions; env?: NodeJS.ProcessEnv } = {},
): Promise<RedisServer> {
  const at = port ?? (await findFreePort());
  const directory = await mkdtemp(join(tmpdir(), 'redis-server-'));
  const listening = args.includes('--tls-port') ? [] : ['--port', String(at)];
  const child = spawn(
    program(),
    [...listening, '--bind', '127.0.0.1', '--dir', directory, '--save', '', '--appendonly', 'no', ...args],
    { stdio: 'ignore', env: { ...process.env, ...env } },
  );
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const client = new Redis({ host: '127.0.0.1', port: at, retryStrategy: () => 50, ...(tls && { tls }) });
  client.on('error', () => undefined);
  await eventually('Redis answers', () => client.ping());
  return {
    port: at,
    url: `redis://127.0.0.1:${at}`,
    client,
    process: child,
    async stop() {
      process.off('exit', end);
      client.disconnect();
      await kill(child);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Starts a cluster of three masters. */
export async function startRedisCluster(): Promise<{ nodes: RedisServer[]; stop(): Promise<void> }> {
  const nodes = await Promise.all([1, 2, 3].map(startNode));
  const [first] = nodes;
  await Promise.all(
    nodes.map(async ({ client }, index) => {
      const from = Math.floor((16_384 / nodes.length) * index);
      const to = Math.floor((16_384 / nodes.length) * (index + 1)) - 1;
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
      await client.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
    }),
  );
  for (const { port, busPort } of nodes.slice(1)) {
    await first?.client.call('CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPort));
  }
  const isComplete = async ({ client }: RedisServer) => {
    const info = String(await client.call('CLUSTER', 'INFO'));
    return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`);
  };
  await eventually('the cluster', async () => (await Promise.all(nodes.map(isComplete))).every(Boolean));
  return { nodes, stop: () => stopAll(nodes) };
}

async function startNode(): Promise<RedisServer & { busPort: number }> {
  const busPort = await findFreePort();
  const settings = { 'cluster-enabled': 'yes', 'cluster-port': busPort, 'cluster-node-timeout': 3_000 };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return { ...(await startRedisServer(args)), busPort };
}

const sentinelName = 'purchases';

/**
 * Starts a master, a replica and a Sentinel. The Sentinel promotes the replica one second after the
 * master fails.
 */
export async function startSentinel(): Promise<{
  name: string;
  url: string;
  master: RedisServer;
  replica: RedisServer;
  stop(): Promise<void>;
}> {
  const master = await startRedisServer(['--repl-diskless-sync-delay', '0']);
  const replica = await startRedisServer(['--replicaof', `127.0.0.1 ${master.port}`]);
  await eventually('the replica follows', async () =>
    (await replica.client.info('replication')).includes('master_link_status:up'),
  );
  const port = await findFreePort();
  const directory = await mkdtemp(join(tmpdir(), 'redis-sentinel-'));
  const file = join(directory, 'sentinel.conf');
  await writeFile(
    file,
    [
      `port ${port}`,
      `bind 127.0.0.1`,
      `dir ${directory}`,
      `sentinel monitor ${sentinelName} 127.0.0.1 ${master.port} 1`,
      `sentinel down-after-milliseconds ${sentinelName} 1000`,
      `sentinel failover-timeout ${sentinelName} 5000`,
    ].join('\n'),
  );
  const child = spawn(program(), [file, '--sentinel'], { stdio: 'ignore' });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const client = new Redis({ host: '127.0.0.1', port, retryStrategy: () => 50 });
  client.on('error', () => undefined);
  await eventually('the Sentinel knows the replica', async () =>
    String(await client.call('SENTINEL', 'MASTERS')).includes('num-slaves,1'),
  );
  client.disconnect();
  return {
    name: sentinelName,
    url: `redis://127.0.0.1:${port}`,
    master,
    replica,
    async stop() {
      process.off('exit', end);
      await kill(child);
      await stopAll([master, replica]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * The permissions that docs/guides/operate/prepare-redis.md recommends for the service's Redis
 * user.
 */
export const serviceRights = '+@all -@dangerous +info +client|list +client|setname';

/**
 * Starts a server that accepts only TLS. It has a certificate from a private CA and a user with
 * minimal permissions.
 */
export async function startTlsRedis(
  prefix: string,
): Promise<RedisServer & { ca: string; secureUrl: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'redis-tls-'));
  const ca = join(directory, 'ca.crt');
  const run = (command: string) =>
    execFileSync('openssl', command.split(' '), { cwd: directory, stdio: 'ignore' });
  await writeFile(join(directory, 'san'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  run(`req -x509 ${newKey} -keyout ca.key -out ca.crt -days 2 -subj /CN=test-ca`);
  run(`req ${newKey} -keyout redis.key -out redis.csr -subj /CN=redis`);
  run('x509 -req -in redis.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out redis.crt -days 2 -extfile san');
  const port = await findFreePort();
  const args = [
    '--port',
    '0',
    '--tls-port',
    String(port),
    '--tls-auth-clients',
    'no',
    '--tls-ca-cert-file',
    ca,
    '--tls-cert-file',
    join(directory, 'redis.crt'),
    '--tls-key-file',
    join(directory, 'redis.key'),
  ];
  const server = await startRedisServer(args, { port, tls: { rejectUnauthorized: false } });
  const keys = `~${prefix}:* &${prefix}:*`;
  await server.client.call(
    'ACL',
    'SETUSER',
    'topup',
    'on',
    '>a pass@word',
    ...`${keys} ${serviceRights}`.split(' '),
  );
  await server.client.call(
    'ACL',
    'SETUSER',
    'default',
    '-@all',
    '+ping',
    '+acl',
    '+info',
    '+hello',
    '+client',
    '+zcount',
  );
  return {
    ...server,
    ca,
    secureUrl: `rediss://topup:${encodeURIComponent('a pass@word')}@127.0.0.1:${port}`,
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function stopAll(servers: RedisServer[]): Promise<void> {
  await Promise.all(servers.map((each) => each.stop()));
}

function program(): string {
  const found = ['redis-server', 'valkey-server'].map((name) => findOnPath(name, process.env)).find(Boolean);
  if (!found) {
    throw new Error('These tests start Redis servers of their own: put redis-server on PATH');
  }
  return found;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
}
