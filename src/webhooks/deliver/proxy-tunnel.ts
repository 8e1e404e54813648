import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { connectSocket, connectTimeoutMs } from '../../shared/outgoing/connect-socket.js';
import { createConnector, createPlainConnector } from '../../shared/outgoing/create-connector.js';
import { collectAddresses, resolveBySystem, resolveHost } from '../../shared/outgoing/resolve-host.js';
import { webhookLimits } from '../webhook-limits.js';
import type { UrlGuard } from './url-guard.js';

/** The proxy is unavailable or refuses. The message contains no address and no password. */
export class ProxyError extends Error {
  /** @param code Socket error code, or `HTTP_` and the status of the proxy's response. */
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** The proxy could not reach the receiver. */
export class UnreachedError extends Error {}

/** If the proxy cannot reach one address of a name, the next may work. */
const addressesMax = 3;

/**
 * Returns a connector for undici that opens each connection through the proxy, also for http:. This
 * process resolves and checks names and sends the checked address (`CONNECT 203.0.113.7:443`), so a
 * name cannot change in between.
 *
 * TLS runs end to end with the receiver. The proxy sees addresses, ports, amounts of data and the
 * name in the TLS greeting.
 * @param proxyUrl http(s)://[user:password@]host:port
 */
export function createProxyConnector(
  proxyUrl: string,
  guard: Pick<UrlGuard, 'resolve' | 'requireAllowed'>,
): buildConnector.connector {
  const proxy = new URL(proxyUrl);
  return createConnector((to) => tunnelTo(proxy, guard, to));
}

async function tunnelTo(
  proxy: URL,
  guard: Pick<UrlGuard, 'resolve' | 'requireAllowed'>,
  to: { hostname: string; port: number },
): Promise<Socket> {
  const addresses = await collectAddresses(resolveHost(to.hostname, guard.resolve));
  guard.requireAllowed(addresses);
  let unreached: UnreachedError | null = null;
  for (const { address } of addresses.slice(0, addressesMax)) {
    try {
      const host = address.includes(':') ? `[${address}]` : address;
      return await openTunnel(proxy, `${host}:${to.port}`);
    } catch (error) {
      if (!(error instanceof UnreachedError)) {
        throw error;
      }
      unreached = error;
    }
  }
  throw unreached ?? new UnreachedError('host name has no address');
}

const connectToProxy = createPlainConnector(({ hostname, port }) =>
  connectSocket({ port, lookups: resolveHost(hostname, resolveBySystem) }),
);

function buildProxyTarget({ hostname, host, protocol, port }: URL): buildConnector.Options {
  return { hostname: hostname.replace(/^\[|\]$/g, ''), host, protocol, port };
}

/**
 * Opens a tunnel through the proxy.
 * @param proxy http(s)://[user:password@]host:port
 * @param to host:port, as sent to the proxy.
 * @throws ProxyError if the proxy is unavailable or refuses.
 * @throws UnreachedError if the proxy cannot reach the receiver.
 */
export function openTunnel(proxy: URL, to: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const asked = request({
      method: 'CONNECT',
      path: to,
      headers: { host: to, ...buildAuthorization(proxy) },
      createConnection: (_options, callback) => {
        connectToProxy(buildProxyTarget(proxy), (error, socket) => {
          // The types of Node want a socket even with an error.
          callback(error, socket as Socket);
        });
        return undefined;
      },
      maxHeaderSize: webhookLimits.answerHeaderBytes,
    });
    const timer = setTimeout(() => {
      const waitedS = connectTimeoutMs / 1_000;
      asked.destroy(new ProxyError('ETIMEDOUT', `The proxy opened no connection within ${waitedS} s`));
    }, connectTimeoutMs);
    asked.once('connect', (response, socket: Socket, head) => {
      clearTimeout(timer);
      const error = findRefusal(response.statusCode ?? 0, head);
      if (error) {
        socket.destroy();
        reject(error);
      } else {
        resolve(socket);
      }
    });
    asked.once('response', (response) => {
      clearTimeout(timer);
      response.destroy();
      reject(new ProxyError('ENOTPROXY', 'The proxy did not respond like a proxy'));
    });
    asked.once('error', (error) => {
      clearTimeout(timer);
      reject(
        error instanceof ProxyError ? error : new ProxyError(getErrorCode(error), 'The proxy is unreachable'),
      );
    });
    asked.end();
  });
}

function findRefusal(status: number, head: Buffer): Error | null {
  if (status >= 500) {
    return new UnreachedError(`no connection (our proxy returned ${status})`);
  }
  if (status < 200 || status > 299) {
    return new ProxyError(`HTTP_${status}`, `The proxy returned ${status}`);
  }
  // In TLS and HTTP the client sends first, so early data is an error.
  return head.length === 0 ? null : new ProxyError('EPROTO', 'The proxy sent data after its response');
}

function buildAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') {
    return {};
  }
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function getErrorCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
