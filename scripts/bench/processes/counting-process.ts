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
import { hearCalls } from '../support/calls.js';
import { quantile } from '../support/rounds.js';

/**
 * Commands of the benchmark.
 * - count: starts counting.
 * - spend: stops counting and starts measuring CPU time.
 * - spent: returns the CPU time used.
 * - weigh: measures the cost of the counted calls.
 */
export type Asked = { do: 'count' | 'spend' | 'spent' | 'weigh' };

/** Microseconds per call, as median and 99th percentile over many batches in a loop. */
interface Took {
  p50: number;
  p99: number;
}

/** Microseconds for all counted calls together. `scrape` and `figures` are per scrape. */
export interface Weighed {
  metricCalls: number;
  metrics: Took;
  /**
   * Wall-clock time at the call site, with cold caches and timer cost. The slowest percent is
   * excluded, because another process may have used the core.
   */
  inPlace: number;
  /** Cost of the same calls in a process without METRICS_PORT. */
  metricsOff: Took;
  spanCalls: number;
  spansOff: Took;
  scrape: number;
  figures: number;
}

interface Metered {
  inc?: (labels: object, by?: number) => void;
  observe?: (labels: object, value: number) => void;
}

interface Counted {
  call: (labels: object, value: number) => unknown;
  labels: object;
  value: number;
  times: number;
}

const found = {
  metrics: new Map<string, Counted>(),
  spans: new Map<string, { spec: SpanSpec | null; times: number }>(),
  inPlaceUs: [] as number[],
};
const batches = 300;
const callsOfBatch = 100;
const scrapes = 40;
const usual = 0.99;

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
  hearCalls(async (asked: Asked) => {
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
        return weigh(type === 'follow-up');
    }
  });
}

/** @returns A function that stops the counting. */
function countCalls(): () => void {
  const undo: (() => void)[] = [];
  for (const metric of registry.getMetricsAsArray() as object[]) {
    const name = metric instanceof Counter ? 'inc' : metric instanceof Histogram ? 'observe' : null;
    if (name !== null) {
      const own = metric as Metered & { name: string };
      const call = (own[name] as Counted['call']).bind(metric);
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

async function weigh(gathers: boolean): Promise<Weighed> {
  const metrics = [...found.metrics.values()];
  const spans = [...found.spans.values()];
  const on = metrics.map((each) => ({
    ...each,
    took: inLoop(() => each.call({ ...each.labels }, each.value)),
  }));
  const off = metrics.map((each) => ({
    ...each,
    took: inLoop(() => nothing({ ...each.labels }, each.value)),
  }));
  const unheard: { times: number; took: Took }[] = [];
  for (const { spec, times } of spans) {
    unheard.push({ times, took: await (spec === null ? inLoop(getCurrentTrace) : spanInLoop(spec)) });
  }
  return {
    metricCalls: sumOf(metrics, ({ times }) => times),
    metrics: inAll(on),
    inPlace: usualMean(found.inPlaceUs) * found.inPlaceUs.length,
    metricsOff: inAll(off),
    spanCalls: sumOf(spans, ({ times }) => times),
    spansOff: inAll(unheard),
    scrape: await cpuUsOf(scrapes, scrape),
    figures: gathers ? await cpuUsOf(scrapes, gatherFigures) : 0,
  };
}

/** The no-op that src/shared/metrics.ts uses when metrics are off. */
const nothing = (...args: unknown[]): unknown => args;

/** Cost of one span, including the attribute object and the promise that the caller awaits. */
function spanInLoop(spec: SpanSpec): Promise<Took> {
  const copy = () => ({ ...spec, attributes: { ...spec.attributes } });
  return spec.kind === 'server'
    ? Promise.resolve(inLoop(() => openSpan(copy())))
    : inAwaitedLoop(() => runInSpan(copy(), () => Promise.resolve()));
}

function inLoop(call: () => unknown): Took {
  return quantiles(
    Array.from({ length: batches + 1 }, () => {
      const startedMs = performance.now();
      for (let time = 0; time < callsOfBatch; time++) {
        lastResult = call();
      }
      return performance.now() - startedMs;
    }),
  );
}

async function inAwaitedLoop(call: () => Promise<unknown>): Promise<Took> {
  const tookMs: number[] = [];
  while (tookMs.length <= batches) {
    const startedMs = performance.now();
    for (let time = 0; time < callsOfBatch; time++) {
      lastResult = await call();
    }
    tookMs.push(performance.now() - startedMs);
  }
  return quantiles(tookMs);
}

/** Exported so that the compiler cannot remove a call whose result is unused. */
export let lastResult: unknown;

function quantiles([, ...tookMs]: number[]): Took {
  const us = tookMs.map((ms) => (1_000 * ms) / callsOfBatch);
  return { p50: quantile(us, 0.5), p99: quantile(us, 0.99) };
}

function usualMean(values: number[]): number {
  const most = quantile(values, usual);
  const retained = values.filter((value) => value <= most);
  return retained.length === 0 ? 0 : sumOf(retained, (value) => value) / retained.length;
}

function inAll(all: { times: number; took: Took }[]): Took {
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
