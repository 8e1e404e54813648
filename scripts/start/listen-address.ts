import net from 'node:net';
import { PlainError } from '../supervisor/plain-error.js';

const loopback = '127.0.0.1';

/**
 * Returns the listen address of the web process: loopback unless `--listen` or LISTEN_ADDRESS sets
 * another.
 * @throws PlainError for an invalid address.
 */
export function listenAddress(env: NodeJS.ProcessEnv): string {
  const rawAddress = env['LISTEN_ADDRESS'];
  const address = rawAddress === undefined || rawAddress === '' ? loopback : rawAddress;
  if (net.isIP(address) === 0) {
    throw new PlainError(
      `"${address}" is not an IP address. For every address of this machine: npm start -- --listen 0.0.0.0`,
    );
  }
  return address;
}

export function isLoopback(address: string): boolean {
  return address === '::1' || /^127\./.test(address);
}

/** Returns the URL under which this machine can reach the web process. */
export function baseUrlOf(address: string, port: number): string {
  const host = address === '0.0.0.0' || address === '::' ? loopback : address;
  return `http://${net.isIPv6(host) ? `[${host}]` : host}:${port}`;
}
