import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { connectTimeoutMs } from './connect-socket.js';
import { skipInformational } from './skip-informational.js';

type Open = (to: { hostname: string; port: number }) => Promise<Socket>;

/**
 * Returns a connector for undici, with TLS over the socket that `open` returns. The certificate is
 * checked against the host name of the URL, whichever address the socket is connected to.
 */
export function createConnector(open: Open): buildConnector.connector {
  const connect = createPlainConnector(open);
  return (options, callback) => {
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error) {
        callback(error, null);
      } else {
        callback(null, skipInformational(socket));
      }
    });
  };
}

/** Like `createConnector`, without changes to the bytes. */
export function createPlainConnector(open: Open): buildConnector.connector {
  const startTls = buildConnector({ timeout: connectTimeoutMs });
  return (options, callback) => {
    const isTls = options.protocol === 'https:';
    const port = options.port === '' ? (isTls ? 443 : 80) : Number(options.port);
    open({ hostname: options.hostname, port }).then(
      (socket) => {
        if (!isTls) {
          callback(null, socket);
          return;
        }
        startTls({ ...options, httpSocket: socket }, (...result) => {
          if (result[0]) {
            socket.destroy();
          }
          callback(...result);
        });
      },
      (error: unknown) => callback(error as Error, null),
    );
  };
}
