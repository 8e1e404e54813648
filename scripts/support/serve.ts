/** Runs one of our small HTTP programs (simulator, inbox): listens, says that it is ready, and stops in order. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const drainTimeoutMs = 5_000;

export interface ServeOptions {
  name: string;
  host: string;
  /** 0: any free port. */
  port: number;
  handle: RequestListener;
  /** Runs when the program has been told to stop, before it waits for open requests. */
  onStop?: () => void;
}

/**
 * Tells the parent process `{ready: true, port}` and prints the address. On SIGTERM or SIGINT, or when the
 * parent is gone, it finishes open requests for at most 5 s and exits with 0.
 */
export async function serve({ name, host, port, handle, onStop }: ServeOptions): Promise<void> {
  const server = createServer(handle);
  // Longer than the idle time of usual clients, so that it is never we who close a connection just being reused.
  server.keepAliveTimeout = 65_000;
  const stopOnce = once(() => {
    onStop?.();
    void drain(server).then(() => process.exit(0));
  });
  process.on('SIGTERM', stopOnce).on('SIGINT', stopOnce).on('disconnect', stopOnce);

  const actualPort = await listen(server, { host, port }).catch((error: unknown) => {
    console.error(`${name}: ${listenMistake(error, port)}`);
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

function listenMistake(error: unknown, port: number): string {
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
