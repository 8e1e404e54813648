/** Runs a small HTTP program (simulator, inbox): listens, reports readiness, and stops in order. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const drainTimeoutMs = 5_000;

export interface ServeOptions {
  name: string;
  host: string;
  /** Port to listen on. 0 for any free port. */
  port: number;
  handle: RequestListener;
  /** Runs when the program is asked to stop, before open requests are drained. */
  onStop?: () => void;
}

/**
 * Sends `{ready: true, port}` to the parent process and prints the address. On SIGTERM, on SIGINT,
 * or when the parent exits, it waits at most 5 s for open requests and exits with 0.
 */
export async function serve({ name, host, port, handle, onStop }: ServeOptions): Promise<void> {
  const server = createServer(handle);
  // Longer than the idle timeout of common clients, so that the server never closes a connection
  // that a client reuses.
  server.keepAliveTimeout = 65_000;
  const stopOnce = once(() => {
    onStop?.();
    void drain(server).then(() => process.exit(0));
  });
  process.on('SIGTERM', stopOnce).on('SIGINT', stopOnce).on('disconnect', stopOnce);

  const actualPort = await listen(server, { host, port }).catch((error: unknown) => {
    console.error(`${name}: ${describeListenError(error, port)}`);
    process.exit(1);
  });
  console.log(`${name} listening on http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`);
  process.send?.({ ready: true, port: actualPort });
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 4_096 }, () => resolve((server.address() as AddressInfo).port));
  });
}

function describeListenError(error: unknown, port: number): string {
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return `port ${port} is already in use; choose another with --port`;
  }
  return error instanceof Error ? error.message : String(error);
}

async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const force = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
  await closed;
  clearTimeout(force);
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) {
      done = true;
      action();
    }
  };
}
