/**
 * Latency and cost of the console's calls, one after the other. Calls run in rounds, so that a
 * short disturbance affects every page once and not one page throughout.
 */
import { setTimeout } from 'node:timers/promises';
import type { Business } from '../seed/seed-database.js';
import { consoleCalls, pagesMax, type ConsoleCall } from './console-calls.js';
import type { ConsoleSession } from './console-session.js';
import type { Meter } from './meter.js';
import { printGoal, printTable } from './print.js';
import type { RunningProcess } from './start-process.js';

const goalMs = 300;
const streamCalls = 3;

/** A call and its measurements. The first time is measured in a cold process. */
interface MeasuredCall {
  call: ConsoleCall;
  timesMs: number[];
  /** CPU time in microseconds, which does not depend on the other load of the machine. */
  webUs: number;
  mongodbUs: number;
  bytes: number;
  lastAtMs: number;
}

export interface MeasuringContext {
  session: ConsoleSession;
  meter: Meter;
  web: RunningProcess;
}

/** @throws Error if a GET of the console's document is not covered. */
export async function measureConsole(
  measuring: MeasuringContext,
  business: Business,
  calls: number,
): Promise<void> {
  const asked = consoleCalls(business);
  const pages = asked.filter(({ isStream }) => !isStream).map(createMeasuredCall);
  for (let round = 1; round <= calls; round += 1) {
    for (const page of pages) {
      await measureCall(measuring, page);
    }
    if (round === 1) {
      pages.push(...(await laterPages(measuring.session, pages)).map(createMeasuredCall));
    }
  }
  const streams = asked.filter(({ isStream }) => isStream).map(createMeasuredCall);
  for (let round = 1; round <= Math.min(calls, streamCalls); round += 1) {
    for (const stream of streams) {
      await measureCall(measuring, stream);
    }
  }
  pages.sort((a, b) => getPercentile(b, 0.95) - getPercentile(a, 0.95));
  console.log(`\n${calls} rounds of each call, one after the other`);
  printMeasurements(pages);
  console.log('\nstreams');
  printMeasurements(streams);
  console.log('');
  for (const page of pages.filter((each) => getPercentile(each, 0.95) > goalMs)) {
    console.log(
      `over ${goalMs} ms: ${page.call.of}, ${page.call.name}: ${getPercentile(page, 0.95).toFixed(0)} ms`,
    );
  }
  const reached = pages[0] ? getPercentile(pages[0], 0.95) : NaN;
  printGoal('the slowest page, p95', { goal: goalMs, reached, unit: 'ms', wanted: 'at most' });
}

function createMeasuredCall(call: ConsoleCall): MeasuredCall {
  return { call, timesMs: [], webUs: 0, mongodbUs: 0, bytes: 0, lastAtMs: -Infinity };
}

async function measureCall({ session, meter, web }: MeasuringContext, asked: MeasuredCall): Promise<void> {
  const { call } = asked;
  if (call.rememberedMs !== undefined) {
    await setTimeout(Math.max(0, asked.lastAtMs + call.rememberedMs + 50 - performance.now()));
  }
  const stop = await meter.start([web]);
  const answer = await session.get(call.path);
  const { cpuUs } = await stop();
  // A refused call counts as a call without a response.
  asked.timesMs.push(answer.status === 200 ? answer.ms : Infinity);
  asked.webUs += cpuUs['web'] ?? 0;
  asked.mongodbUs += cpuUs['mongodb'] ?? 0;
  asked.bytes = answer.bytes;
  asked.lastAtMs = performance.now();
}

function getPercentile({ timesMs }: MeasuredCall, share: number): number {
  return timesMs.toSorted((a, b) => a - b)[Math.ceil(share * timesMs.length) - 1] ?? NaN;
}

async function laterPages(session: ConsoleSession, pages: readonly MeasuredCall[]): Promise<ConsoleCall[]> {
  const found: ConsoleCall[] = [];
  for (const { call } of pages) {
    const later = call.pagedBy ? await laterPage(session, call, call.pagedBy) : null;
    found.push(...(later ? [later] : []));
  }
  return found;
}

/** Finds the fiftieth page of a list, or its last page. Null if the list has only one page. */
async function laterPage(
  session: ConsoleSession,
  call: ConsoleCall,
  field: 'after' | 'before',
): Promise<ConsoleCall | null> {
  let { path: at } = call;
  let page = 1;
  while (page < pagesMax) {
    const { data } = JSON.parse((await session.get(at)).text) as { data?: { next?: string | null } };
    if (!data?.next) {
      break;
    }
    at = `${call.path}${call.path.includes('?') ? '&' : '?'}${field}=${encodeURIComponent(data.next)}`;
    page += 1;
  }
  return page === 1 ? null : { ...call, path: at, name: `${call.name}, page ${page}` };
}

function printMeasurements(measured: readonly MeasuredCall[]): void {
  const most = (times: number[]) => Math.max(...times);
  printTable(
    ['', 'p50 ms', 'p95 ms', 'first ms', 'max ms', 'CPU web ms', 'CPU mongodb ms', 'kB'],
    measured.map((asked) => {
      const { call, timesMs, webUs, mongodbUs, bytes } = asked;
      const cpuMs = [webUs, mongodbUs].map((us) => us / 1_000 / timesMs.length);
      return [
        `${call.of}: ${call.name}`,
        getPercentile(asked, 0.5),
        getPercentile(asked, 0.95),
        timesMs[0] ?? NaN,
        most(timesMs),
        ...cpuMs,
        bytes / 1_000,
      ];
    }),
  );
}
