import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { env } from '../config/env.js';
import { buildExpressClasses, normalizeRequestTarget } from './api/http/express-setup.js';
import { handleSequentially } from './api/http/connection-queue.js';
import { createApp } from './app.js';
import { awaitMongo, disconnectMongo, getMongodbTime } from './database/mongo.js';
import { logger } from './shared/logger.js';
import { closeQueues } from './jobs/queues.js';
import { disconnectRedis, redis } from './redis/connection.js';
import { recheckVersionOnReconnect, requireRedisVersion } from './redis/server-health.js';
import { keepFleetClock } from './redis/fleet-clock.js';
import { subscribeToChanges } from './redis/subscribe-changes.js';
import { ServerTooOldError } from './shared/server-versions.js';
import { isStopping, onShutdown } from './shared/shutdown.js';
import { withTimeout } from './shared/concurrency.js';
import { writeRequestLog } from './request-log/log-request.js';
import { writeSamples } from './samples/record-samples.js';
import { startSignals } from './signals/start-signals.js';
import { startTracing } from './signals/start-tracing.js';

/** Maximum milliseconds that the start waits for the shared clock of Redis. */
const measureWithinMs = 3_000;

/** Starts the web process: connects, listens on PORT, and shuts down gracefully on SIGTERM. */
async function main(): Promise<void> {
  const tracing = await startTracing('web');
  const app = createApp();
  const server = http.createServer(buildExpressClasses(app));
  // The proxy keeps idle connections for 60 s. Ours must live longer.
  server.keepAliveTimeout = 65_000;
  // A body has at most 100 kB. A slow request is aborted, so that it does not hold a connection.
  // Node checks every 30 s.
  server.requestTimeout = 60_000;
  redis();
  const clock = keepFleetClock();
  const closing = handleSequentially(server, (request, response) => {
    request.url = normalizeRequestTarget(request.url);
    app(request, response);
  });
  let signals: ReturnType<typeof startSignals> | null = null;
  onShutdown('web', {
    drain: () => closing.close(),
    close: [
      async () => signals?.stop(),
      closeQueues,
      writeSamples,
      writeRequestLog,
      disconnectMongo,
      // Requests in flight need the clock, so stop it only after they have ended.
      () => clock.stop(),
      disconnectRedis,
      () => tracing.stop(),
    ],
  });
  // Purchases are accepted without Redis (decision 048). The clock then starts from MongoDB's time,
  // and /readyz reports this.
  const measured = withTimeout(measureWithinMs, clock.measured, () => new Error('clock not measured'));
  await Promise.all([awaitMongo(), subscribeToChanges(), measured.catch(() => undefined)]);
  recheckVersionOnReconnect();
  await requireRedisVersion();
  await clock.goBy(getMongodbTime).catch((error: unknown) => {
    logger.warn("neither Redis nor MongoDB reports the time: using this host's clock", { error });
  });
  if (isStopping()) {
    return;
  }
  signals = startSignals({ type: 'web', showsFigures: false });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(
      { port: env.PORT, ...(env.LISTEN_ADDRESS !== null && { host: env.LISTEN_ADDRESS }) },
      resolve,
    );
  });
  const { port } = server.address() as AddressInfo;
  // PORT=0 selects a free port. Store the actual port, because report links contain it if BASE_URL
  // is not set.
  env.PORT = port;
  logger.info('web is ready', { port, address: env.LISTEN_ADDRESS });
  process.send?.({ ready: true, port });
}

main().catch((error: unknown) => {
  if (isStopping()) {
    return;
  }
  if (error instanceof ServerTooOldError) {
    logger.error(error.message);
  } else {
    logger.error('web could not start', { error });
  }
  process.exitCode = 1;
  process.exit();
});
