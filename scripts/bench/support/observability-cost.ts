/**
 * Upper bound of the cost of observability: counts each metric and span call during real purchases,
 * multiplies it by the cost of that call and adds the scrapes. This resolves a tenth of a percent,
 * whereas two runs of the same code differ by several percent.
 */
import { findFreePort } from '../../databases/ports.js';
import { lookEveryMs } from '../../../src/signals/watch-event-loop.js';
import type { CountingRequest, SignalCost } from '../processes/counting-process.js';
import type { LoadResult } from '../processes/load.js';
import { serviceEnv, startHelper, type Bench } from './bench.js';
import { call } from './calls.js';
import { startOurs, type Pipeline, type World } from './pipelines.js';
import { requireTrue, printGoal, printTable, formatValue } from './print.js';
import { startProcess, type RunningProcess } from './start-process.js';
import { untilTrue } from './wait-until-true.js';

/** The scrape interval in docs/guides/operate/monitor.md, which equals the interval of figures. */
const scrapeEverySeconds = 15;
const limitMs = 600_000;
/** Processes through which each purchase passes. */
const purchasePathProcesses = new Set(['web', 'fulfilment', 'webhooks']);

interface ProcessCost extends SignalCost {
  name: string;
  cpuUs: number;
}

export async function printObservabilityCost(
  bench: Bench,
  world: World,
  load: RunningProcess,
  { purchases, connections }: { purchases: number; connections: number },
): Promise<void> {
  const pipeline = await startOurs(bench, world, {
    web: (env) => startService('web', env),
    worker: startService,
  });
  const ours = pipeline.processes.filter(({ name }) => name !== 'simulator' && name !== 'inbox');
  const ask = <T>(what: CountingRequest['do']) =>
    Promise.all(ours.map((each) => call<T>(each.child, { do: what } satisfies CountingRequest)));
  const buy = () => flow(pipeline, world, { load, purchases, connections });
  await buy();
  await ask('count');
  const counted = await buy();
  await ask('spend');
  const spent = await buy();
  const cpuUs = await ask<number>('spent');
  // One process at a time, because processes that share a core would appear slower.
  const parts: ProcessCost[] = [];
  for (const [at, { name, child }] of ours.entries()) {
    const weighed = await call<SignalCost>(child, { do: 'weigh' } satisfies CountingRequest);
    parts.push({
      name,
      cpuUs: (cpuUs[at] ?? NaN) / spent.accepted,
      ...perPurchase(weighed, counted.accepted),
    });
  }
  const looker = await startHelper('looker', 'looker');
  const lookingUs = await call<number>(looker.child, { everyMs: lookEveryMs });
  await looker.stop();
  for (const { name, metricCalls, spanCalls } of parts.filter((part) =>
    purchasePathProcesses.has(part.name),
  )) {
    // Otherwise the listeners are attached to the wrong objects, and the cost would appear as zero.
    requireTrue(
      metricCalls >= 1 && spanCalls >= 1,
      `${name} called ${metricCalls} metrics and ${spanCalls} spans`,
    );
  }
  console.log(
    `upper bound of the cost of observability: ${counted.accepted} purchases counted, CPU of ${spent.accepted} others at ${formatValue(spent.perSecond)} per second; µs per purchase`,
  );
  console.log(
    `monitoring an event loop takes ${formatValue(lookingUs / 1_000)} ms of CPU per second in an idle process: ${formatValue(lookingUs / 10_000)} % of a core`,
  );
  printParts(parts, spent.perSecond, lookingUs / spent.perSecond);
  await Promise.all(ours.map((each) => each.stop()));
}

async function startService(name: string, env: NodeJS.ProcessEnv = {}): Promise<RunningProcess> {
  const [port, metricsPort] = [String(await findFreePort()), String(await findFreePort())];
  return startProcess({
    name,
    script: 'scripts/bench/main.js',
    args: ['counting-process', name],
    env: { ...serviceEnv, ...env, METRICS_PORT: metricsPort, ...(name === 'web' && { PORT: port }) },
  });
}

/** Buys, and waits until each purchase is final and its webhook is delivered. */
async function flow(
  pipeline: Pipeline,
  { shop }: World,
  options: { load: RunningProcess; purchases: number; connections: number },
): Promise<{ accepted: number; perSecond: number }> {
  const { load, purchases, connections } = options;
  const startedMs = performance.now();
  const { accepted, refused } = await call<LoadResult>(load.child, {
    urls: [pipeline.web.url],
    buyersFile: shop.buyersFile,
    buyers: shop.buyers.length,
    connections,
    seconds: limitMs / 1_000,
    purchases,
    repeat: true,
  });
  requireTrue(accepted > 0 && Object.keys(refused).length === 0, `refused ${JSON.stringify(refused)}`);
  await untilTrue({ everyMs: 250, limitMs, what: 'every purchase is delivered' }, () => pipeline.isDone());
  return { accepted, perSecond: (1_000 * accepted) / (performance.now() - startedMs) };
}

function perPurchase(weighed: SignalCost, purchases: number): SignalCost {
  const share = ({ p50, p99 }: SignalCost['metrics']) => ({ p50: p50 / purchases, p99: p99 / purchases });
  return {
    ...weighed,
    metricCalls: weighed.metricCalls / purchases,
    spanCalls: weighed.spanCalls / purchases,
    metrics: share(weighed.metrics),
    metricsOff: share(weighed.metricsOff),
    spansOff: share(weighed.spansOff),
    inPlace: weighed.inPlace / purchases,
  };
}

const headings = [
  '',
  'CPU µs',
  'metric calls',
  'µs p50',
  'µs p99',
  'µs in place',
  'scrapes µs',
  'looks µs',
  'all µs',
  'on: %',
  'spans',
  'off: µs p50',
  'µs p99',
  'all µs',
  'off: %',
];

function printParts(parts: ProcessCost[], perSecond: number, looksUs: number): void {
  const everyPurchase = (us: number) => us / (scrapeEverySeconds * perSecond);
  const scrapedUs = ({ scrape, figures }: ProcessCost) => everyPurchase(scrape + figures);
  const onUs = (part: ProcessCost) => part.inPlace + scrapedUs(part) + looksUs;
  const total = (of: (part: ProcessCost) => number) => parts.reduce((sum, part) => sum + of(part), 0);
  /** A no-op cannot be timed in place. It is scaled by the same factor as the metric calls. */
  const dearer = total((part) => part.inPlace) / total((part) => part.metrics.p50);
  const offUs = ({ metricsOff, spansOff }: ProcessCost) => dearer * (metricsOff.p50 + spansOff.p50) + looksUs;
  /** Percent of a purchase's CPU with observability off. */
  const share = (us: number, cpuUs: number) => (100 * us) / cpuUs;
  const row = (name: string, of: (value: (part: ProcessCost) => number) => number) => [
    name,
    of((part) => part.cpuUs),
    of((part) => part.metricCalls),
    of((part) => part.metrics.p50),
    of((part) => part.metrics.p99),
    of((part) => part.inPlace),
    of(scrapedUs),
    of(() => looksUs),
    of(onUs),
    share(
      of(onUs),
      of((part) => part.cpuUs - onUs(part)),
    ),
    of((part) => part.spanCalls),
    of((part) => part.metricsOff.p50 + part.spansOff.p50),
    of((part) => part.metricsOff.p99 + part.spansOff.p99),
    of(offUs),
    share(
      of(offUs),
      of((part) => part.cpuUs - onUs(part)),
    ),
  ];
  printTable(headings, [...parts.map((part) => row(part.name, (value) => value(part))), row('all', total)]);
  parts.forEach(({ name, scrape, figures }) => {
    const gathered = figures > 0 ? `; its figures ${formatValue(figures / 1_000)} ms` : '';
    console.log(
      `${name}: a scrape takes ${formatValue(scrape / 1_000)} ms of CPU${gathered}: ${formatValue((100 * (scrape + figures)) / (1e6 * scrapeEverySeconds))} % of a core`,
    );
  });
  const cpuUs = total((part) => part.cpuUs - onUs(part));
  const goals = [
    ['nothing on', 2, total(offUs)],
    ['metrics on', 3, total(onUs)],
  ] as const;
  for (const [what, goal, us] of goals) {
    const fixedUs =
      what === 'metrics on' ? total((part) => scrapedUs(part) + looksUs) : parts.length * looksUs;
    const shares = `its calls ${formatValue(share(us - fixedUs, cpuUs))} %, the rest at ${formatValue(perSecond)} purchases/s`;
    printGoal(`${what}, of a purchase's CPU in all processes (${shares})`, {
      goal,
      reached: share(us, cpuUs),
      unit: '%',
      wanted: 'at most',
    });
  }
}
