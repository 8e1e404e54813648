/**
 * Prometheus metrics of this process. Each module defines its own metrics. Without METRICS_PORT
 * nothing is stored, and counting calls an empty function.
 *
 * Label values are bounded: operations, codes, queues, jobs, providers; never an account, a
 * purchase or a ref_id.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { env } from '../../config/env.js';

export const areMetricsOn = env.METRICS_PORT !== null;

export const registry = new Registry();
if (areMetricsOn) {
  // src/signals/watch-event-loop.ts measures the event loop. This interval prevents the default
  // monitor from sampling, and its metrics are removed below.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 2 ** 31 - 1 });
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith('nodejs_eventloop_lag')) {
      registry.removeSingleMetric(name);
    }
  }
}

export type Labels<L extends string> = Record<L, string>;

interface MetricSpec<L extends string> {
  name: string;
  help: string;
  labels: readonly L[];
  /** Series that start at 0, so that their first increase is visible. */
  zero?: Labels<L>[];
}

const noOp = (): void => undefined;

/**
 * Defines a counter.
 * @returns A function that adds to it.
 */
export function counter<L extends string>(
  described: MetricSpec<L>,
): (labels: Labels<L>, by?: number) => void {
  if (!areMetricsOn) {
    return noOp;
  }
  const made = new Counter({ ...buildMetricOptions(described), registers: [registry] });
  described.zero?.forEach((labels) => {
    made.inc(labels, 0);
  });
  return (labels, by = 1) => {
    made.inc(labels, by);
  };
}

/**
 * Defines a histogram.
 * @returns A function that observes a value, in seconds unless the name says otherwise.
 */
export function histogram<L extends string>(
  described: MetricSpec<L> & { buckets: number[] },
): (labels: Labels<L>, value: number) => void {
  if (!areMetricsOn) {
    return noOp;
  }
  const made = new Histogram({
    ...buildMetricOptions(described),
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

/**
 * Defines a gauge.
 * @param read Called at each scrape, so it must read memory or make one short call.
 */
export function gauge<L extends string>(
  described: MetricSpec<L>,
  read: () => Promise<[Labels<L>, number][]> | [Labels<L>, number][],
): void {
  if (!areMetricsOn) {
    return;
  }
  new Gauge({
    ...buildMetricOptions(described),
    registers: [registry],
    async collect() {
      const found = await read();
      this.reset();
      if (described.labels.length === 0) {
        // Without labels the gauge would report 0 for an unknown value.
        this.remove();
      }
      found.forEach(([labels, value]) => {
        this.set(labels, value);
      });
    },
  });
}

function buildMetricOptions<L extends string>({ name, help, labels }: MetricSpec<L>) {
  return { name, help, labelNames: [...labels] };
}
