import { env } from '../../config/env.js';
import { redis } from '../redis/connection.js';
import { withLease } from '../redis/lease.js';
import { findRedisProblem } from '../redis/server-health.js';
import { nowMs } from '../shared/clock.js';
import type { Labels } from '../shared/metrics.js';
import { gauge } from '../shared/metrics.js';
import { repeat } from '../shared/repeat.js';
import { figures, type FigureName, type Figures } from './figures.js';
import { gatherFigures } from './gather-figures.js';

const lookEveryMs = 3_000;
/** Interval between two gatherings, over all processes. */
const gatherEveryMs = 15_000;
const leaseMs = 10_000;
/** Lifetime of figures. Outdated figures are worse than none. */
const keptMs = 90_000;
/** Maximum difference between the clocks of two processes, in milliseconds. */
const clockErrorMs = 2_000;

const key = `${env.QUEUE_PREFIX}:figures`;

let last: Figures | null = null;

/** Returns the last figures of the service. Null if they are older than 90 s. */
export function getCurrentFigures(): Figures | null {
  return last && nowMs() - last.atMs < keptMs && !isFromFuture(last) ? last : null;
}

/** True if the figures were gathered before the clock was set back. */
function isFromFuture({ atMs }: Figures): boolean {
  return atMs > nowMs() + clockErrorMs;
}

/** Keeps the figures up to date under a lease, and exposes them as metrics of this process. */
export function keepFigures(): { stop(): Promise<void> } {
  for (const [name, { help, labels }] of Object.entries(figures)) {
    gauge({ name, help, labels }, () => listSamples(name as FigureName));
  }
  gauge(
    {
      name: 'topup_figures_timestamp_seconds',
      help: 'When the figures of the whole service were gathered',
      labels: [],
    },
    () => {
      const found = getCurrentFigures();
      return found ? [[{}, found.atMs / 1_000]] : [];
    },
  );
  return repeat({
    name: 'figures',
    everyMs: lookEveryMs,
    async run() {
      // The Redis connection reports an outage itself.
      if (redis().status !== 'ready') {
        return;
      }
      const found = await readFigures();
      if (last && isFromFuture(last)) {
        last = null;
      }
      // The local figures are newer if Redis did not accept them.
      last = last && found && last.atMs > found.atMs ? last : (found ?? last);
      if (!last || nowMs() - last.atMs >= gatherEveryMs) {
        await withLease('figures', leaseMs, gather).catch(async (error: unknown) => {
          // A full Redis refuses the lease. Each process then gathers for itself, so that the
          // memory alarm still works.
          if ((await findRedisProblem()) === null) {
            throw error;
          }
          last = await gatherFigures();
        });
      }
    },
  });
}

function listSamples(name: FigureName): [Labels<string>, number][] {
  return (getCurrentFigures()?.found ?? [])
    .filter((each) => each.name === name)
    .map(({ labels, value }) => [labels, value]);
}

/**
 * Reads the last figures that any process gathered. Null if there are none.
 * @throws Error if Redis is unavailable.
 */
export async function readFigures(): Promise<Figures | null> {
  const text = await redis().get(key);
  const found = text === null ? null : (JSON.parse(text) as Figures);
  return found && isFromFuture(found) ? null : found;
}

async function gather(): Promise<void> {
  last = await gatherFigures();
  await redis().set(key, JSON.stringify(last), 'PX', keptMs);
}
