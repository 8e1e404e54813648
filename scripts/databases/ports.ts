/** Free TCP ports of this machine. A copy keeps its ports over restarts, so that stored addresses stay right. */
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

/** The port that this copy used for `name` before, if it is free, or a new one. */
export async function portFor(localDir: string, name: string): Promise<number> {
  const file = path.join(localDir, 'ports.json');
  const before = readPorts(file)[name];
  if (before !== undefined && (await portTaken(before)) === null) {
    return before;
  }
  const port = await freePort();
  fs.mkdirSync(localDir, { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify({ ...readPorts(file), [name]: port }, null, 2)}\n`);
  return port;
}

function readPorts(file: string): Record<string, number> {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}

/** Below those that systems give to outgoing connections: one of these would be taken before its program listens. */
const firstPort = 20_000;
const ports = 12_000;
const triesMax = 200;

/** A port of 127.0.0.1 that nobody listens on now. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries++) {
    const port = firstPort + Math.floor(ports * Math.random());
    if ((await portTaken(port)) === null) {
      return port;
    }
  }
  throw new Error(`No free port from ${firstPort} to ${firstPort + ports} in ${triesMax} tries`);
}

/** Null if the port can be used, otherwise the system's code, such as EADDRINUSE or EACCES. */
export async function portTaken(port: number): Promise<string | null> {
  // A server on every address and one on this address alone do not exclude each other on every system.
  for (const host of ['127.0.0.1', undefined]) {
    try {
      const server = await listen(port, host);
      await new Promise((resolve) => server.close(resolve));
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN';
    }
  }
  return null;
}

async function listen(port: number, host: string | undefined): Promise<net.Server> {
  const server = net.createServer().listen({ port, host, exclusive: true });
  await once(server, 'listening');
  return server;
}
