/**
 * A web process whose metrics and traces are switched on and off while it runs. Two processes of the same settings differ by
 * more than what is looked for here, for as long as they live, by what the compiler made of them; one process differs from
 * itself only by what was switched.
 */
import { Counter, Histogram } from 'prom-client';
import { env } from '../../../config/env.js';
import { registry } from '../../../src/shared/metrics.js';
import { startTracing } from '../../../src/signals/start-tracing.js';
import { hearCalls } from '../support/calls.js';

/** What is on from now: counting, and the share of calls that are traced (0: nobody listens). */
export interface Seeing {
  counts: boolean;
  traces: number;
}

/** @param collector The address that spans go to. METRICS_PORT must be set, and no endpoint for traces. */
export async function serveSwitchingWeb([collector = '']: string[]): Promise<void> {
  const nothing = () => undefined;
  const counted = new Map<object, unknown>();
  let stopTracing = () => Promise.resolve();
  const see = async ({ counts, traces }: Seeing): Promise<void> => {
    // Each has its method as a property of its own, so that changing the class would change nothing.
    for (const metric of registry.getMetricsAsArray() as object[]) {
      const name = metric instanceof Counter ? 'inc' : metric instanceof Histogram ? 'observe' : null;
      if (name !== null) {
        counted.set(metric, counted.get(metric) ?? Reflect.get(metric, name));
        Reflect.set(metric, name, counts ? counted.get(metric) : nothing);
      }
    }
    await stopTracing();
    stopTracing = traces === 0 ? () => Promise.resolve() : await traceShare(collector, traces);
  };
  await import('../../../src/server.js');
  hearCalls(async (wanted: Seeing) => {
    await see(wanted);
    return null;
  });
}

async function traceShare(collector: string, share: number): Promise<() => Promise<void>> {
  env.OTEL_EXPORTER_OTLP_ENDPOINT = collector;
  env.OTEL_TRACES_SAMPLER_ARG = share;
  const tracing = await startTracing('web');
  const { context, diag } = await import('@opentelemetry/api');
  return async () => {
    await tracing.stop();
    // What is there once in a process; the next one brings its own.
    context.disable();
    diag.disable();
  };
}
