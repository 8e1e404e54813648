/**
 * A process of the service that tells which of its metrics are called, how often and with which labels, and what each such call
 * takes. It is done in here: the bundle has a prom-client of its own, which nobody outside can reach.
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

/** `count`: from now on. `spend`: counts nothing, and begins to measure CPU. `weigh`: what all that was counted takes. */
export type Asked = { do: 'count' | 'spend' | 'spent' | 'weigh' };

/** Microseconds of one call: the median of many batches in a loop, and the batch that 99 of 100 are not above. */
interface Took {
  p50: number;
  p99: number;
}

/** Microseconds of everything that was counted; but for the scrape and the figures, which are of one. */
export interface Weighed {
  metricCalls: number;
  metrics: Took;
  /** Where they stood, by the clock: with cold caches and the reading of the clock, without the longest in a hundred, when others had the core. */
  inPlace: number;
  /** The same calls in a process without METRICS_PORT. */
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

/** @param args `web`, or the names of workers. METRICS_PORT must be set, and no endpoint for traces. */
export async function runCountingProcess([type = '', ...others]: string[]): Promise<void> {
  // As whoever is started reads it.
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

/** @returns what ends it. */
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
  // In no trace, as everything is where nobody listens.
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

/** What src/shared/metrics.ts gives in place of each metric that is off. */
const nothing = (...given: unknown[]): unknown => given;

/** With the object of its attributes, and the promise that its work is awaited by. */
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
        kept = call();
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
      kept = await call();
    }
    tookMs.push(performance.now() - startedMs);
  }
  return quantiles(tookMs);
}

/** So that the compiler cannot leave out a call whose answer nobody wants. */
export let kept: unknown;

function quantiles([, ...tookMs]: number[]): Took {
  const us = tookMs.map((ms) => (1_000 * ms) / callsOfBatch);
  return { p50: quantile(us, 0.5), p99: quantile(us, 0.99) };
}

function usualMean(values: number[]): number {
  const most = quantile(values, usual);
  const kept = values.filter((value) => value <= most);
  return kept.length === 0 ? 0 : sumOf(kept, (value) => value) / kept.length;
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

/** CPU of the whole process while it does nothing else, who asks included. */
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
