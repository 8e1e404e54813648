/**
 * Free TCP ports of this machine. A copy keeps its ports across restarts, so that stored addresses
 * stay valid.
 */
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

/**
 * Returns the port that this copy last used for `name` if that port is free. Otherwise returns a
 * new port.
 */
export async function choosePort(localDir: string, name: string): Promise<number> {
  const file = path.join(localDir, 'ports.json');
  const before = readPorts(file)[name];
  if (before !== undefined && (await findPortConflict(before)) === null) {
    return before;
  }
  const port = await findFreePort();
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

/**
 * Lowest port to use. It is below the range of outgoing connections, which could take the port
 * before the program listens on it.
 */
const firstPort = 20_000;
const portCount = 12_000;
const triesMax = 200;

/** Returns a free port of 127.0.0.1. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries++) {
    const port = firstPort + Math.floor(portCount * Math.random());
    if ((await findPortConflict(port)) === null) {
      return port;
    }
  }
  throw new Error(`No free port from ${firstPort} to ${firstPort + portCount} in ${triesMax} tries`);
}

/**
 * Returns null if the port is free. Otherwise returns the error code, such as EADDRINUSE or EACCES.
 */
export async function findPortConflict(port: number): Promise<string | null> {
  // On some systems a server on all addresses and one on 127.0.0.1 can share a port.
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
