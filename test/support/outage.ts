import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../config/project-file.js';
import { freePort } from './free-port.js';

export interface Outage {
  url: string;
  /** Connections stay open and nothing comes back. */
  hang(): void;
  /** Connections break and new ones are refused. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  stop(): Promise<void>;
}

/** A way to a TCP server that can be blocked, so that a server that others use as well seems away to one test. */
export async function startTcpGate(targetUrl: string): Promise<Outage> {
  const target = new URL(targetUrl);
  const port = await freePort();
  const pairs = new Set<[Socket, Socket]>();
  let hanging = false;
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
      from.on('data', (chunk) => to.write(chunk));
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
    for (const [inner, outer] of pairs) {
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
    cut: close,
    async restore() {
      hanging = false;
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

/** A database process of the test's own, that may be stopped and killed. It keeps what it has acknowledged. */
export async function startPrivateMongo(): Promise<Outage> {
  const directory = await mkdtemp(join(tmpdir(), 'private-mongo-'));
  const port = await freePort();
  let child = await startMongo(directory, port);
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
        child = await startMongo(directory, port);
      }
    },
    async stop() {
      await end(child);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function startMongo(directory: string, port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [embeddedMongo, '--port', String(port), '--dbpath', directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    if (chunk.toString().includes('READY')) {
      return child;
    }
  }
  throw new Error('The private database did not start');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
}
