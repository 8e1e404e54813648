/** Connections on which a test sends raw bytes. */
import { once } from 'node:events';
import net from 'node:net';

export async function connectTo(port: number | string): Promise<net.Socket> {
  const socket = net.connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/**
 * Resolves when the socket closes, even after a reset. Node's `once` would reject on the error of a
 * reset.
 */
export function waitForClose(socket: net.Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

/** Returns all data received until the socket closes. */
export async function readUntilClose(socket: net.Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  await waitForClose(socket);
  return Buffer.concat(parts).toString();
}

export function buildGetRequest(target: string, header = 'Accept: */*'): string {
  return `GET ${target} HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`;
}
