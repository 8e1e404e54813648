/**
 * Metrics, alarms and presence of this process. Without METRICS_PORT and ALERT_WEBHOOK_URL it only
 * announces its presence, for `topup doctor`.
 */
import mongoose from 'mongoose';
import type { MongoClient } from 'mongodb';
import { getPostingClient } from '../database/mongo.js';
import { areUniqueIndexesVerified } from '../database/indexes.js';
import type { RunningWorkers } from '../jobs/start-workers.js';
import { redis } from '../redis/connection.js';
import { announcePresence } from '../redis/presence.js';
import { env } from '../../config/env.js';
import { areMetricsOn, counter, gauge } from '../shared/metrics.js';
import { recordIncident, countRecentIncidents } from '../shared/incident-counts.js';
import { idleMaxMs, watchStalledQueues, type StalledQueues } from './stalled-queues.js';
import { keepFigures } from './keep-figures.js';
import { repairStoredTimes } from './repair-stored-times.js';
import { serveSignals } from './serve-metrics.js';
import { notifyAlarms } from './notify-alarms.js';
import { watchEventLoop } from './watch-event-loop.js';
import { checkDependencies, findMissingIndexes } from './readiness.js';

/**
 * Starts the signals. Call this once MongoDB is connected.
 * @param options.type Type with which this process was started: `web`, `fulfilment`, `all` …
 * @param options.showsFigures True to also expose the figures of the whole service, and to do the
 *   repairs that one process does for all.
 */
export function startSignals(options: { type: string; showsFigures: boolean; workers?: RunningWorkers }): {
  stop(): Promise<void>;
} {
  const { type, showsFigures, workers } = options;
  const alertUrl = showsFigures ? env.ALERT_WEBHOOK_URL : null;
  const figuresKeeper = showsFigures && (areMetricsOn || alertUrl !== null) ? keepFigures() : null;
  const notifier = alertUrl === null ? null : notifyAlarms(alertUrl);
  const repairer = showsFigures ? repairStoredTimes() : null;
  const watch = workers ? watchStalledQueues(workers.taken) : null;
  const own = () => findOwnReasons(watch, workers);
  const eventLoop = watchEventLoop();
  // Unavailable databases are excluded, because they have their own alarms.
  const isNotReady = () => {
    if (!areUniqueIndexesVerified()) {
      // No check may have run yet. This does not wait for MongoDB, because the presence must be
      // announced in any case.
      void findMissingIndexes();
    }
    return !areUniqueIndexesVerified() || own().length > 0;
  };
  const presence = announcePresence(type, {
    troublesNow: () => ({ ...countRecentIncidents(), lagMs: eventLoop.lagMs(), isNotReady: isNotReady() }),
    tellsAlarms: notifier !== null,
  });
  countRefusedConnections();
  gauge(
    {
      name: 'topup_event_loop_lag_max_seconds',
      help: 'Longest block of the event loop within the last minute',
      labels: [],
    },
    () => [[{}, eventLoop.lagMs() / 1_000]],
  );
  const server = areMetricsOn ? startServer(type, own) : null;
  return {
    async stop() {
      eventLoop.stop();
      await Promise.all([
        server?.close(),
        watch?.stop(),
        presence.stop(),
        figuresKeeper?.stop(),
        notifier?.stop(),
        repairer?.stop(),
      ]);
    },
  };
}

/**
 * Returns the reasons that only this process knows: jobs that it does not take or does not finish.
 */
function findOwnReasons(watch: StalledQueues | null, workers: RunningWorkers | undefined): string[] {
  const idle = (watch?.idle() ?? []).map(
    ({ name }) => `Jobs of ${name} have waited for ${idleMaxMs / 1_000} s, and this process took none.`,
  );
  const hanging = (workers?.hanging() ?? []).map(
    ({ name }) => `A job of ${name} has used most of its time limit.`,
  );
  return [...idle, ...hanging];
}

function startServer(type: string, own: () => string[]): { close(): Promise<void> } {
  const look = async () => {
    const found = await checkDependencies();
    // While Redis refuses writes, no process can take or finish jobs, so these reasons add nothing.
    return { ...found, reasons: [...found.reasons, ...(found.redis ? own() : [])] };
  };
  showState(type, look);
  return serveSignals(look);
}

function showState(type: string, look: () => ReturnType<typeof checkDependencies>): void {
  let asked: ReturnType<typeof checkDependencies> | null = null;
  // All gauges of a scrape share one check.
  const lookOnce = () => {
    asked ??= look().finally(() => (asked = null));
    return asked;
  };
  gauge({ name: 'topup_process_info', help: 'Always 1; the type of this process', labels: ['type'] }, () => [
    [{ type }, 1],
  ]);
  gauge({ name: 'topup_process_ready', help: '1: /readyz returns 200', labels: [] }, async () => [
    [{}, Number((await lookOnce()).reasons.length === 0)],
  ]);
  gauge(
    { name: 'topup_mongodb_up', help: '1: MongoDB accepts writes from this process', labels: [] },
    async () => [[{}, Number((await lookOnce()).mongodb)]],
  );
  gauge(
    { name: 'topup_redis_up', help: '1: Redis accepts writes from this process', labels: [] },
    async () => [[{}, Number((await lookOnce()).redis)]],
  );
  gauge({ name: 'topup_redis_connected', help: '1: this process is connected to Redis', labels: [] }, () => [
    [{}, Number(redis().status === 'ready')],
  ]);
  const pools = [
    ['usual', trackUsedConnections(mongoose.connection.getClient())],
    ['postings', trackUsedConnections(getPostingClient())],
  ] as const;
  gauge(
    {
      name: 'topup_mongodb_connections_used',
      help: 'Connections to MongoDB in use',
      labels: ['pool'],
    },
    () => pools.map(([pool, { used }]) => [{ pool }, used]),
  );
}

const countRefusedCheckOut = counter({
  name: 'topup_mongodb_checkouts_failed_total',
  help: 'Requests for a connection that failed: all were in use, or MongoDB was unavailable',
  labels: ['pool'],
  zero: [{ pool: 'usual' }, { pool: 'postings' }],
});

/** Counts failed check-outs of both pools, even if nothing scrapes them. */
function countRefusedConnections(): void {
  const pools = { usual: mongoose.connection.getClient(), postings: getPostingClient() };
  for (const [pool, client] of Object.entries(pools)) {
    client.on('connectionCheckOutFailed', () => {
      countRefusedCheckOut({ pool });
      recordIncident('refusedConnections');
    });
  }
}

function trackUsedConnections(client: Pick<MongoClient, 'on'>): { used: number } {
  const found = { used: 0 };
  client.on('connectionCheckedOut', () => (found.used += 1));
  // Connections that were checked out before counting began are returned as well.
  client.on('connectionCheckedIn', () => (found.used = Math.max(0, found.used - 1)));
  return found;
}
