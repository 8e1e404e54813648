/**
 * A service process that counts its metric and span calls and measures the cost of each. The
 * measurement runs inside the process, because the bundle has a private copy of prom-client.
 */
import { Counter, Histogram } from 'prom-client';
import { request } from 'undici';
import { env } from '../../../config/env.js';
import { registry } from '../../../src/shared/metrics.js';
import {
  openSpan,
  runInSpan,
  getCurrentTrace,
  setTracer,
  type SpanSpec,
} from '../../../src/shared/tracing.js';
import { gatherFigures } from '../../../src/signals/gather-figures.js';
import { handleCalls } from '../support/calls.js';
import { quantile } from '../support/rounds.js';

/**
 * Commands of the benchmark.
 * - count: starts counting.
 * - spend: stops counting and starts measuring CPU time.
 * - spent: returns the CPU time used.
 * - weigh: measures the cost of the counted calls.
 */
export type CountingRequest = { do: 'count' | 'spend' | 'spent' | 'weigh' };

/** Microseconds per call, as median and 99th percentile over many batches in a loop. */
interface CallTimes {
  p50: number;
  p99: number;
}

/** Microseconds for all counted calls together. `scrape` and `figures` are per scrape. */
export interface SignalCost {
  metricCalls: number;
  metrics: CallTimes;
  /**
   * Wall-clock time at the call site, with cold caches and timer cost. The slowest percent is
   * excluded, because another process may have used the core.
   */
  inPlace: number;
  /** Cost of the same calls in a process without METRICS_PORT. */
  metricsOff: CallTimes;
  spanCalls: number;
  spansOff: CallTimes;
  scrape: number;
  figures: number;
}

interface Metric {
  inc?: (labels: object, by?: number) => void;
  observe?: (labels: object, value: number) => void;
}

interface CountedCall {
  call: (labels: object, value: number) => unknown;
  labels: object;
  value: number;
  times: number;
}

const found = {
  metrics: new Map<string, CountedCall>(),
  spans: new Map<string, { spec: SpanSpec | null; times: number }>(),
  inPlaceUs: [] as number[],
};
const batches = 300;
const callsPerBatch = 100;
const scrapes = 40;
const usualShare = 0.99;

/**
 * @param args `web`, or the names of workers. METRICS_PORT must be set, and no endpoint for traces.
 */
export async function runCountingProcess([type = '', ...others]: string[]): Promise<void> {
  // The program that is started expects its own name at this position.
  process.argv.splice(2, 1);
  await (type === 'web' && others.length === 0
    ? import('../../../src/server.js')
    : import('../../../workers/run.js'));
  let stopCounting = (): void => undefined;
  let cpu = process.cpuUsage();
  handleCalls(async (asked: CountingRequest) => {
    switch (asked.do) {
      case 'count':
        stopCounting = countCalls();
        return null;
      case 'spend':
        stopCounting();
        cpu = process.cpuUsage();
        return null;
      case 'spent':
        return cpuUsSince(cpu);
      case 'weigh':
        return measureSignalCost(type === 'follow-up');
    }
  });
}

/** @returns A function that stops the counting. */
function countCalls(): () => void {
  const undo: (() => void)[] = [];
  for (const metric of registry.getMetricsAsArray() as object[]) {
    const name = metric instanceof Counter ? 'inc' : metric instanceof Histogram ? 'observe' : null;
    if (name !== null) {
      const own = metric as Metric & { name: string };
      const call = (own[name] as CountedCall['call']).bind(metric);
      const replaced = own[name];
      own[name] = (labels: object, value = 1) => {
        const startedMs = performance.now();
        call(labels, value);
        found.inPlaceUs.push(1_000 * (performance.now() - startedMs));
        countOne(found.metrics, own.name + JSON.stringify(labels), { call, labels, value });
      };
      undo.push(() => Reflect.set(metric, name, replaced));
    }
  }
  // Returns no span, as if tracing were off.
  setTracer({
    open(spec) {
      countOne(found.spans, spec.name, { spec });
      return null;
    },
    now() {
      countOne(found.spans, '', { spec: null });
      return null;
    },
  });
  return () => {
    undo.forEach((each) => {
      each();
    });
    setTracer(null);
  };
}

function countOne<T extends { times: number }>(
  all: Map<string, T>,
  key: string,
  one: Omit<T, 'times'>,
): void {
  const known = all.get(key);
  if (known) {
    known.times += 1;
  } else {
    all.set(key, { ...one, times: 1 } as T);
  }
}

async function measureSignalCost(gathers: boolean): Promise<SignalCost> {
  const metrics = [...found.metrics.values()];
  const spans = [...found.spans.values()];
  const on = metrics.map((each) => ({
    ...each,
    took: timeCalls(() => each.call({ ...each.labels }, each.value)),
  }));
  const off = metrics.map((each) => ({
    ...each,
    took: timeCalls(() => noOp({ ...each.labels }, each.value)),
  }));
  const unheard: { times: number; took: CallTimes }[] = [];
  for (const { spec, times } of spans) {
    unheard.push({ times, took: await (spec === null ? timeCalls(getCurrentTrace) : timeSpan(spec)) });
  }
  return {
    metricCalls: sumOf(metrics, ({ times }) => times),
    metrics: sumCallTimes(on),
    inPlace: computeTrimmedMean(found.inPlaceUs) * found.inPlaceUs.length,
    metricsOff: sumCallTimes(off),
    spanCalls: sumOf(spans, ({ times }) => times),
    spansOff: sumCallTimes(unheard),
    scrape: await cpuUsOf(scrapes, scrape),
    figures: gathers ? await cpuUsOf(scrapes, gatherFigures) : 0,
  };
}

/** The no-op that src/shared/metrics.ts uses when metrics are off. */
const noOp = (...args: unknown[]): unknown => args;

/** Cost of one span, including the attribute object and the promise that the caller awaits. */
function timeSpan(spec: SpanSpec): Promise<CallTimes> {
  const copy = () => ({ ...spec, attributes: { ...spec.attributes } });
  return spec.kind === 'server'
    ? Promise.resolve(timeCalls(() => openSpan(copy())))
    : timeAsyncCalls(() => runInSpan(copy(), () => Promise.resolve()));
}

function timeCalls(call: () => unknown): CallTimes {
  return quantiles(
    Array.from({ length: batches + 1 }, () => {
      const startedMs = performance.now();
      for (let time = 0; time < callsPerBatch; time++) {
        lastResult = call();
      }
      return performance.now() - startedMs;
    }),
  );
}

async function timeAsyncCalls(call: () => Promise<unknown>): Promise<CallTimes> {
  const tookMs: number[] = [];
  while (tookMs.length <= batches) {
    const startedMs = performance.now();
    for (let time = 0; time < callsPerBatch; time++) {
      lastResult = await call();
    }
    tookMs.push(performance.now() - startedMs);
  }
  return quantiles(tookMs);
}

/** Exported so that the compiler cannot remove a call whose result is unused. */
export let lastResult: unknown;

function quantiles([, ...tookMs]: number[]): CallTimes {
  const us = tookMs.map((ms) => (1_000 * ms) / callsPerBatch);
  return { p50: quantile(us, 0.5), p99: quantile(us, 0.99) };
}

function computeTrimmedMean(values: number[]): number {
  const most = quantile(values, usualShare);
  const retained = values.filter((value) => value <= most);
  return retained.length === 0 ? 0 : sumOf(retained, (value) => value) / retained.length;
}

function sumCallTimes(all: { times: number; took: CallTimes }[]): CallTimes {
  return {
    p50: sumOf(all, ({ times, took }) => times * took.p50),
    p99: sumOf(all, ({ times, took }) => times * took.p99),
  };
}

function sumOf<T>(all: T[], of: (each: T) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}

/**
 * Measures the CPU time of the whole process, including the measurement itself. The process is
 * otherwise idle.
 */
async function cpuUsOf(times: number, work: () => Promise<unknown>): Promise<number> {
  await work();
  const cpu = process.cpuUsage();
  for (let time = 0; time < times; time++) {
    await work();
  }
  return cpuUsSince(cpu) / times;
}

function cpuUsSince(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}

async function scrape(): Promise<void> {
  const { body } = await request(`http://${env.METRICS_HOST}:${env.METRICS_PORT}/metrics`);
  await body.dump();
}
