/**
 * What an on-call person sees of this process without asking. Where neither METRICS_PORT nor ALERT_WEBHOOK_URL is set it only says that it
 * lives, for `topup doctor`.
 */
import mongoose from 'mongoose';
import type { MongoClient } from 'mongodb';
import { postingClient } from '../database/mongo.js';
import type { RunningWorkers } from '../jobs/start-workers.js';
import { redis } from '../redis/connection.js';
import { sayPresence } from '../redis/presence.js';
import { env } from '../../config/env.js';
import { areMetricsOn, counter, gauge } from '../shared/metrics.js';
import { idleMaxMs, watchIdleQueues } from './idle-queues.js';
import { keepFigures } from './keep-figures.js';
import { serveSignals } from './serve-signals.js';
import { tellAlarms } from './tell-alarms.js';
import { lookAtDependencies } from './why-not-ready.js';

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
  const telling = alertUrl === null ? null : tellAlarms(alertUrl);
  const presence = sayPresence(type);
  const server = areMetricsOn ? startServer(type, workers) : null;
  return {
    async stop() {
      await Promise.all([server?.stop(), presence.stop(), kept?.stop(), telling?.stop()]);
    },
  };
}

function startServer(type: string, workers: RunningWorkers | undefined): { stop(): Promise<void> } {
  const watch = workers ? watchIdleQueues(workers.taken) : null;
  const look = async () => {
    const found = await lookAtDependencies();
    const idle = (watch?.idle() ?? []).map(
      ({ name }) => `Jobs of ${name} have waited for ${idleMaxMs / 1_000} s, and this process took none.`,
    );
    const hanging = (workers?.hanging() ?? []).map(
      ({ name }) => `A job of ${name} has been under way for most of the time that it may take.`,
    );
    return { ...found, reasons: [...found.reasons, ...idle, ...hanging] };
  };
  showState(type, look);
  const server = serveSignals(look);
  return {
    async stop() {
      await Promise.all([server.close(), watch?.stop()]);
    },
  };
}

function showState(type: string, look: () => ReturnType<typeof lookAtDependencies>): void {
  let asked: ReturnType<typeof lookAtDependencies> | null = null;
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
  gauge({ name: 'topup_mongodb_up', help: '1: MongoDB answers this process', labels: [] }, async () => [
    [{}, Number((await lookOnce()).mongodb)],
  ]);
  gauge({ name: 'topup_redis_up', help: '1: Redis takes writes of this process', labels: [] }, async () => [
    [{}, Number((await lookOnce()).redis)],
  ]);
  gauge({ name: 'topup_redis_connected', help: '1: the connection stands', labels: [] }, () => [
    [{}, Number(redis().status === 'ready')],
  ]);
  const pools = [
    ['usual', usedOf(mongoose.connection.getClient(), 'usual')],
    ['postings', usedOf(postingClient(), 'postings')],
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

function usedOf(client: Pick<MongoClient, 'on'>, pool: string): { used: number } {
  const found = { used: 0 };
  client.on('connectionCheckedOut', () => (found.used += 1));
  // What was out before anybody counted comes back as well.
  client.on('connectionCheckedIn', () => (found.used = Math.max(0, found.used - 1)));
  client.on('connectionCheckOutFailed', () => {
    countRefusedCheckOut({ pool });
  });
  return found;
}
