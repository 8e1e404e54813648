/**
 * What an on-call person sees of this process without asking. Where neither METRICS_PORT nor ALERT_WEBHOOK_URL is set it only says that it
 * lives, for `topup doctor`.
 */
import mongoose from 'mongoose';
import type { MongoClient } from 'mongodb';
import { postingClient } from '../database/mongo.js';
import { hasSeenUniqueIndexes } from '../database/indexes.js';
import type { RunningWorkers } from '../jobs/start-workers.js';
import { redis } from '../redis/connection.js';
import { announcePresence } from '../redis/presence.js';
import { env } from '../../config/env.js';
import { areMetricsOn, counter, gauge } from '../shared/metrics.js';
import { recordIncident, countRecentIncidents } from '../shared/incident-counts.js';
import { idleMaxMs, watchIdleQueues, type IdleQueues } from './idle-queues.js';
import { keepFigures } from './keep-figures.js';
import { serveSignals } from './serve-metrics.js';
import { notifyAlarms } from './notify-alarms.js';
import { watchEventLoop } from './watch-event-loop.js';
import { checkDependencies, missingIndexes } from './readiness.js';

/**
 * Call it when MongoDB is connected.
 * @param options.type What this process was started as: `web`, `fulfilment`, `all` …
 * @param options.showsFigures Those of the whole service.
 */
export function startSignals(options: { type: string; showsFigures: boolean; workers?: RunningWorkers }): {
  stop(): Promise<void>;
} {
  const { type, showsFigures, workers } = options;
  const alertUrl = showsFigures ? env.ALERT_WEBHOOK_URL : null;
  const kept = showsFigures && (areMetricsOn || alertUrl !== null) ? keepFigures() : null;
  const telling = alertUrl === null ? null : notifyAlarms(alertUrl);
  const watch = workers ? watchIdleQueues(workers.taken) : null;
  const own = () => ownReasons(watch, workers);
  const eventLoop = watchEventLoop();
  // But for databases that are away: of those there is an alarm each.
  const isNotReady = () => {
    if (!hasSeenUniqueIndexes()) {
      // Nobody may have asked yet; it does not wait for MongoDB, or it would not say that it lives.
      void missingIndexes();
    }
    return !hasSeenUniqueIndexes() || own().length > 0;
  };
  const presence = announcePresence(type, {
    troublesNow: () => ({ ...countRecentIncidents(), lagMs: eventLoop.lagMs(), isNotReady: isNotReady() }),
    tellsAlarms: telling !== null,
  });
  countRefusedConnections();
  gauge(
    {
      name: 'topup_event_loop_lag_max_seconds',
      help: 'The longest that the event loop was held up within the last minute',
      labels: [],
    },
    () => [[{}, eventLoop.lagMs() / 1_000]],
  );
  const server = areMetricsOn ? startServer(type, own) : null;
  return {
    async stop() {
      eventLoop.stop();
      await Promise.all([server?.close(), watch?.stop(), presence.stop(), kept?.stop(), telling?.stop()]);
    },
  };
}

/** What only this process knows: what it does not take, and what it does not end. */
function ownReasons(watch: IdleQueues | null, workers: RunningWorkers | undefined): string[] {
  const idle = (watch?.idle() ?? []).map(
    ({ name }) => `Jobs of ${name} have waited for ${idleMaxMs / 1_000} s, and this process took none.`,
  );
  const hanging = (workers?.hanging() ?? []).map(
    ({ name }) => `A job of ${name} has been under way for most of the time that it may take.`,
  );
  return [...idle, ...hanging];
}

function startServer(type: string, own: () => string[]): { close(): Promise<void> } {
  const look = async () => {
    const found = await checkDependencies();
    // Jobs wait for a Redis that takes no writes, whoever would take them.
    return { ...found, reasons: [...found.reasons, ...(found.redis ? own() : [])] };
  };
  showState(type, look);
  return serveSignals(look);
}

function showState(type: string, look: () => ReturnType<typeof checkDependencies>): void {
  let asked: ReturnType<typeof checkDependencies> | null = null;
  // Gauges of one scrape share one look.
  const lookOnce = () => {
    asked ??= look().finally(() => (asked = null));
    return asked;
  };
  gauge({ name: 'topup_process_info', help: '1; what this process does', labels: ['type'] }, () => [
    [{ type }, 1],
  ]);
  gauge({ name: 'topup_process_ready', help: '1: /readyz answers 200', labels: [] }, async () => [
    [{}, Number((await lookOnce()).reasons.length === 0)],
  ]);
  gauge(
    { name: 'topup_mongodb_up', help: '1: MongoDB takes writes of this process', labels: [] },
    async () => [[{}, Number((await lookOnce()).mongodb)]],
  );
  gauge({ name: 'topup_redis_up', help: '1: Redis takes writes of this process', labels: [] }, async () => [
    [{}, Number((await lookOnce()).redis)],
  ]);
  gauge({ name: 'topup_redis_connected', help: '1: the connection stands', labels: [] }, () => [
    [{}, Number(redis().status === 'ready')],
  ]);
  const pools = [
    ['usual', trackUsedConnections(mongoose.connection.getClient())],
    ['postings', trackUsedConnections(postingClient())],
  ] as const;
  gauge(
    {
      name: 'topup_mongodb_connections_used',
      help: 'Connections to MongoDB that somebody uses just now',
      labels: ['pool'],
    },
    () => pools.map(([pool, { used }]) => [{ pool }, used]),
  );
}

const countRefusedCheckOut = counter({
  name: 'topup_mongodb_checkouts_failed_total',
  help: 'Times that nobody could have a connection: all were in use, or MongoDB was away',
  labels: ['pool'],
  zero: [{ pool: 'usual' }, { pool: 'postings' }],
});

/** Of both pools, whether anybody scrapes them or not. */
function countRefusedConnections(): void {
  const pools = { usual: mongoose.connection.getClient(), postings: postingClient() };
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
  // What was out before anybody counted comes back as well.
  client.on('connectionCheckedIn', () => (found.used = Math.max(0, found.used - 1)));
  return found;
}
