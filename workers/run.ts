/**
 * Starts a worker process. `node dist/workers/run.js fulfilment` runs one process type; `all` runs
 * every type in one process. src/processes.ts defines the types. Several processes of a type share
 * its work.
 */
import v8 from 'node:v8';
import vm from 'node:vm';
import { awaitMongo, disconnectMongo } from '../src/database/mongo.js';
import { closeQueues } from '../src/jobs/queues.js';
import { startWorkers, type RunningWorkers } from '../src/jobs/start-workers.js';
import { findProcessType, processTypes } from '../src/processes.js';
import { stopSending } from '../src/providers/http.js';
import { connectRedis, disconnectRedis } from '../src/redis/connection.js';
import { recheckVersionOnReconnect, requireRedisVersion } from '../src/redis/server-health.js';
import { keepFleetClock } from '../src/redis/fleet-clock.js';
import { subscribeToChanges } from '../src/redis/subscribe-changes.js';
import { logger } from '../src/shared/logger.js';
import { writeSamples } from '../src/samples/record-samples.js';
import { ServerTooOldError } from '../src/shared/server-versions.js';
import { isStopping, onShutdown } from '../src/shared/shutdown.js';
import { findAlertUrlProblem } from '../src/signals/notify-alarms.js';
import { startSignals } from '../src/signals/start-signals.js';
import { startTracing } from '../src/signals/start-tracing.js';

async function main(names: string[]): Promise<void> {
  const chosen = names.includes('all') ? processTypes : names.map(findProcessType);
  if (chosen.length === 0 || chosen.includes(undefined)) {
    const known = processTypes.map(({ name }) => name).join('|');
    process.stderr.write(`Usage: node dist/workers/run.js <${known}|all> ...\n`);
    process.exitCode = 2;
    return;
  }
  const isFollowUp = chosen.some((each) => each?.name === 'follow-up');
  const problem = isFollowUp ? findAlertUrlProblem() : null;
  if (problem !== null) {
    process.stderr.write(`The configuration is not valid:\n- "ALERT_WEBHOOK_URL" ${problem}\n`);
    process.exitCode = 1;
    return;
  }
  if (chosen.every((each) => each?.name === 'reports')) {
    collectGarbageEarly();
  }
  const tracing = await startTracing(names.join('+'));
  const clock = keepFleetClock();
  let workers: RunningWorkers | null = null;
  let signals: ReturnType<typeof startSignals> | null = null;
  onShutdown(names.join('+'), {
    drain: async () => workers?.close(),
    close: [
      // After the drain, work that is still running can no longer record a provider's response, so
      // it must not send. It can still record that nothing was sent.
      () => {
        stopSending();
        return Promise.resolve();
      },
      async () => signals?.stop(),
      closeQueues,
      writeSamples,
      disconnectMongo,
      // The remaining work needs the shared clock until the end.
      () => clock.stop(),
      disconnectRedis,
      () => tracing.stop(),
    ],
  });
  // Wait for Redis. Take no job before the shared clock is measured.
  await Promise.all([awaitMongo(), connectRedis(null), clock.measured, subscribeToChanges()]);
  recheckVersionOnReconnect();
  await requireRedisVersion();
  if (isStopping()) {
    return;
  }
  const types = [...new Set(chosen)];
  workers = startWorkers(
    types.flatMap((each) => each?.handlers ?? []),
    types.flatMap((each) => each?.families ?? []),
  );
  signals = startSignals({
    type: names.join('+'),
    showsFigures: isFollowUp,
    workers,
  });
  await workers.ready;
  logger.info('workers are ready', { processes: chosen.map((each) => each?.name) });
  process.send?.({ ready: true });
}

/**
 * Sets V8 to collect garbage before written report rows grow to several times the live heap
 * (decision 038).
 */
function collectGarbageEarly(): void {
  v8.setFlagsFromString('--heap-growing-percent=30');
  // The percentage is relative to the heap after the last collection. Before the first collection,
  // the heap may grow far more.
  v8.setFlagsFromString('--expose-gc');
  (vm.runInNewContext('gc') as () => void)();
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (isStopping()) {
    return;
  }
  if (error instanceof ServerTooOldError) {
    logger.error(error.message);
  } else {
    logger.error('worker could not start', { error });
  }
  process.exitCode = 1;
  process.exit();
});
