/**
 * What this process counts, for Prometheus. Each room defines its own beside what it counts. Where METRICS_PORT is not set
 * nothing is kept, and counting is a call of an empty function.
 *
 * Labels are bounded: operations, codes, queues, jobs, providers; never an account, a purchase or a ref_id.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { env } from '../../config/env.js';

export const areMetricsOn = env.METRICS_PORT !== null;

export const registry = new Registry();
if (areMetricsOn) {
  // The event loop is watched once for all who ask (src/signals/watch-event-loop.ts): this one never looks, and its metrics go.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 2 ** 31 - 1 });
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith('nodejs_eventloop_lag')) {
      registry.removeSingleMetric(name);
    }
  }
}

export type Labels<L extends string> = Record<L, string>;

interface Described<L extends string> {
  name: string;
  help: string;
  labels: readonly L[];
  /** Series that stand at 0 from the start, so that their first rise is seen as one. */
  zero?: Labels<L>[];
}

const nothing = (): void => undefined;

/** @returns what adds to it. */
export function counter<L extends string>(described: Described<L>): (labels: Labels<L>, by?: number) => void {
  if (!areMetricsOn) {
    return nothing;
  }
  const made = new Counter({ ...namesOf(described), registers: [registry] });
  described.zero?.forEach((labels) => {
    made.inc(labels, 0);
  });
  return (labels, by = 1) => {
    made.inc(labels, by);
  };
}

/** @returns what observes a value: seconds, or whatever the name says. */
export function histogram<L extends string>(
  described: Described<L> & { buckets: number[] },
): (labels: Labels<L>, value: number) => void {
  if (!areMetricsOn) {
    return nothing;
  }
  const made = new Histogram({
    ...namesOf(described),
    buckets: described.buckets,
    registers: [registry],
  });
  described.zero?.forEach((labels) => {
    made.zero(labels);
  });
  return (labels, value) => {
    made.observe(labels, value);
  };
}

/** @param read Asked with each scrape, so from memory or one short call. */
export function gauge<L extends string>(
  described: Described<L>,
  read: () => Promise<[Labels<L>, number][]> | [Labels<L>, number][],
): void {
  if (!areMetricsOn) {
    return;
  }
  new Gauge({
    ...namesOf(described),
    registers: [registry],
    async collect() {
      const found = await read();
      this.reset();
      if (described.labels.length === 0) {
        // Without labels it would say 0 of what nobody knows.
        this.remove();
      }
      found.forEach(([labels, value]) => {
        this.set(labels, value);
      });
    },
  });
}

function namesOf<L extends string>({ name, help, labels }: Described<L>) {
  return { name, help, labelNames: [...labels] };
}
