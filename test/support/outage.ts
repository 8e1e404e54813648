import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { projectRoot } from '../../config/project-file.js';
import { becomePrimary, mongodArgs } from '../../scripts/databases/mongod.js';
import { findFreePort } from '../../scripts/databases/ports.js';

export interface Outage {
  url: string;
  /** Keeps connections open but transfers no data. */
  hang(): void;
  /** Closes all connections and refuses new ones. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  stop(): Promise<void>;
}

export interface TcpGate extends Outage {
  /**
   * Silently drops all traffic of existing connections: neither data nor a FIN arrives, as after a
   * NAT timeout. New connections work.
   */
  dropTraffic(): void;
  /** Delays all data by `ms` in each direction from now on. */
  delay(ms: number): void;
  /**
   * Drops the next `count` replies and closes their connections. The server has executed the
   * requests.
   */
  dropReplies(count: number): void;
  /** Returns the number of open connections. */
  connections(): number;
}

/** Starts a TCP proxy that can block. For one test, a shared server then appears to be down. */
export async function startTcpGate(targetUrl: string): Promise<TcpGate> {
  const target = new URL(targetUrl);
  const port = await findFreePort();
  const pairs = new Set<[Socket, Socket]>();
  const swallowed = new Set<[Socket, Socket]>();
  let hanging = false;
  let delayMs = 0;
  let dropped = 0;
  const server = createServer((inner) => {
    const outer = connect(Number(target.port), target.hostname);
    const pair: [Socket, Socket] = [inner, outer];
    pairs.add(pair);
    const end = () => {
      inner.destroy();
      outer.destroy();
      pairs.delete(pair);
    };
    for (const [from, to] of [pair, [outer, inner] as const]) {
      let last = Promise.resolve();
      let late = 0;
      from.on('data', (chunk) => {
        if (from === outer && dropped > 0) {
          dropped -= 1;
          end();
          return;
        }
        if (delayMs === 0 && late === 0) {
          to.write(chunk);
          return;
        }
        // Keep the order of the chunks, even if the delay has just ended.
        const arrives = wait(delayMs, undefined, { ref: false });
        late += 1;
        last = last
          .then(() => arrives)
          .then(() => {
            late -= 1;
            to.write(chunk);
          });
      });
      from.on('error', end).on('close', end);
      if (hanging) {
        from.pause();
      }
    }
  });
  await listen(server, port);
  const url = new URL(targetUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  const endAll = () => {
    for (const [inner, outer] of [...pairs, ...swallowed]) {
      inner.destroy();
      outer.destroy();
    }
  };
  const close = async () => {
    if (server.listening) {
      const closed = once(server, 'close');
      server.close();
      endAll();
      await closed;
    }
  };
  return {
    url: url.toString(),
    hang() {
      hanging = true;
      pairs.forEach((pair) => {
        pair.forEach((socket) => socket.pause());
      });
    },
    dropTraffic() {
      for (const pair of pairs) {
        pair.forEach((socket) => socket.pause());
        swallowed.add(pair);
      }
      pairs.clear();
    },
    delay(ms) {
      delayMs = ms;
    },
    dropReplies(count) {
      dropped = count;
    },
    connections: () => pairs.size,
    cut: close,
    async restore() {
      hanging = false;
      delayMs = 0;
      dropped = 0;
      pairs.forEach((pair) => {
        pair.forEach((socket) => socket.resume());
      });
      if (!server.listening) {
        await listen(server, port);
      }
    },
    stop: close,
  };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

const embeddedMongo = join(projectRoot, 'packages/embedded-mongo/bin/embedded-mongo.mjs');
const startLimitMs = 60_000;

interface PrivateMongoOptions {
  /**
   * Lifetime of a transaction and its locks in seconds. A real MongoDB takes up to half of this
   * time longer.
   */
  lockLifetimeS?: number;
}

/**
 * Starts a database process that one test may stop and kill. It is a mongod if the test run uses
 * one, and otherwise the embedded server. Acknowledged writes survive a kill.
 */
export async function startPrivateMongo(options: PrivateMongoOptions = {}): Promise<Outage> {
  const directory = await mkdtemp(join(tmpdir(), 'private-mongo-'));
  const port = await findFreePort();
  const start = () => startMongo(directory, port, options);
  let child = await start();
  return {
    url: `mongodb://127.0.0.1:${port}/test?replicaSet=rs0`,
    hang() {
      child.kill('SIGSTOP');
    },
    async cut() {
      await end(child);
    },
    async restore() {
      if (child.signalCode === null && child.exitCode === null) {
        child.kill('SIGCONT');
      } else {
        child = await start();
      }
    },
    async stop() {
      await end(child);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function startMongo(
  directory: string,
  port: number,
  { lockLifetimeS }: PrivateMongoOptions,
): Promise<ChildProcess> {
  const mongod = process.env['TEST_MONGOD'];
  const logFile = join(directory, 'mongod.log');
  const [program, args] = mongod
    ? [mongod, mongodArgs({ port, dataDir: directory, logFile, ...(lockLifetimeS && { lockLifetimeS }) })]
    : [
        process.execPath,
        [
          embeddedMongo,
          '--port',
          String(port),
          '--dbpath',
          directory,
          '--no-fsync',
          ...(lockLifetimeS ? ['--lock-lifetime', String(lockLifetimeS)] : []),
        ],
      ];
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit').then(() => {
    throw new Error('The private database did not start');
  });
  await Promise.race([becomePrimary(`127.0.0.1:${port}`, AbortSignal.timeout(startLimitMs)), ended]);
  ended.catch(() => undefined);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
}
