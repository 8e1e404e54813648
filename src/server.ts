import http, { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';
import { env } from '../config/env.js';
import { createApp } from './app.js';
import { connectMongo, disconnectMongo } from './database/mongo.js';
import { logger } from './shared/logger.js';
import { closeQueues } from './jobs/queues.js';
import { disconnectRedis, redis } from './redis/connection.js';
import { onShutdown } from './shared/shutdown.js';

/** Starts the web process: connects, listens on PORT, and stops in order on SIGTERM. */
async function main(): Promise<void> {
  const app = createApp();
  const server = http.createServer(prototypesOf(app), app);
  // A proxy in front keeps connections for 60 s; ours must outlive them.
  server.keepAliveTimeout = 65_000;
  redis();
  await connectMongo();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(env.PORT, resolve);
  });
  logger.info('web is ready', { port: env.PORT });
  process.send?.({ ready: true, port: env.PORT });
  onShutdown('web', [
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeIdleConnections();
      }),
    closeQueues,
    disconnectMongo,
    disconnectRedis,
  ]);
}

/**
 * Express changes the prototype of every request and response, which costs half of its time. Requests that are
 * born with the prototypes it wants make that a no-op (docs/decisions/004-express-prototypes.md).
 */
function prototypesOf(app: Express) {
  return {
    IncomingMessage: bornWith(IncomingMessage, app.request),
    ServerResponse: bornWith(ServerResponse, app.response),
  };
}

function bornWith<C extends new (...args: never[]) => object>(base: C, prototype: object): C {
  function Born(...args: never[]): object {
    return Reflect.construct(base, args, Born) as object;
  }
  Born.prototype = prototype;
  return Born as unknown as C;
}

main().catch((error: unknown) => {
  logger.error('web could not start', { error });
  process.exitCode = 1;
  process.exit();
});
