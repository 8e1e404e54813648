/**
 * A web process whose metrics and traces are switched at run time. Two processes with equal
 * settings differ by more than the effect to be measured, so one process is switched.
 */
import { Counter, Histogram } from 'prom-client';
import { env } from '../../../config/env.js';
import { registry } from '../../../src/shared/metrics.js';
import { startTracing } from '../../../src/signals/start-tracing.js';
import { handleCalls } from '../support/calls.js';

/**
 * The current state: whether metrics are on, and the share of traced calls. A share of 0 turns
 * tracing off.
 */
export interface SignalSettings {
  counts: boolean;
  traces: number;
}

/**
 * @param collector Address to which spans are sent. METRICS_PORT must be set, and no endpoint for
 * traces.
 */
export async function serveSwitchingWeb([collector = '']: string[]): Promise<void> {
  const nothing = () => undefined;
  const counted = new Map<object, unknown>();
  let stopTracing = () => Promise.resolve();
  const see = async ({ counts, traces }: SignalSettings): Promise<void> => {
    // Each instance has its own method, so patching the class has no effect.
    for (const metric of registry.getMetricsAsArray() as object[]) {
      const name = metric instanceof Counter ? 'inc' : metric instanceof Histogram ? 'observe' : null;
      if (name !== null) {
        counted.set(metric, counted.get(metric) ?? Reflect.get(metric, name));
        Reflect.set(metric, name, counts ? counted.get(metric) : nothing);
      }
    }
    await stopTracing();
    stopTracing = traces === 0 ? () => Promise.resolve() : await startTracingShare(collector, traces);
  };
  await import('../../../src/server.js');
  handleCalls(async (wanted: SignalSettings) => {
    await see(wanted);
    return null;
  });
}

async function startTracingShare(collector: string, share: number): Promise<() => Promise<void>> {
  env.OTEL_EXPORTER_OTLP_ENDPOINT = collector;
  env.OTEL_TRACES_SAMPLER_ARG = share;
  const tracing = await startTracing('web');
  const { context, diag } = await import('@opentelemetry/api');
  return async () => {
    await tracing.stop();
    // These are process-wide, and the next tracer registers its own.
    context.disable();
    diag.disable();
  };
}
