/** How long the calls of the console's pages take, one after the other, and what they cost the web process and the database. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { projectRoot } from '../../../config/project-file.js';
import type { Business } from '../furnish/furnish.js';
import { consoleCalls, pagesFollowed, type ConsoleCall } from './console-calls.js';
import type { ConsoleSession } from './console-session.js';
import type { Meter } from './meter.js';
import { mustHold, printGoal, printTable } from './print.js';
import type { RunningProcess } from './start-process.js';

const goalMs = 300;
/** Of what a process remembers each call waits until that is over. The first of all is one of these, and the p95 the worst but it. */
const rememberedCallsMax = 20;
const streamCalls = 3;

interface Measured {
  call: ConsoleCall;
  p50Ms: number;
  p95Ms: number;
  /** Of one call. Unlike the times they do not tell what else this machine did. */
  webMs: number;
  mongodbMs: number;
  bytes: number;
}

export interface Measuring {
  session: ConsoleSession;
  meter: Meter;
  web: RunningProcess;
}

/** @throws Error for a GET of the console's document that nobody asks for here. */
export async function measureConsole(measuring: Measuring, business: Business, calls: number): Promise<void> {
  const asked = consoleCalls(business);
  mustKnowAll(asked);
  const pages: Measured[] = [];
  const streams: Measured[] = [];
  for (const call of asked) {
    if (call.isStream) {
      streams.push(await ask(measuring, call, Math.min(calls, streamCalls)));
      continue;
    }
    const times = call.rememberedMs === undefined ? calls : Math.min(calls, rememberedCallsMax);
    pages.push(await ask(measuring, call, times));
    const later = call.pagedBy ? await laterPage(measuring.session, call, call.pagedBy) : null;
    if (later) {
      pages.push(await ask(measuring, later, calls));
    }
  }
  pages.sort((a, b) => b.p95Ms - a.p95Ms);
  console.log(`\n${calls} calls of each, one after the other`);
  print(pages);
  console.log('\nstreams');
  print(streams);
  console.log('');
  for (const { call, p95Ms } of pages.filter((each) => each.p95Ms > goalMs)) {
    console.log(`over ${goalMs} ms: ${call.of}, ${call.name}: ${p95Ms.toFixed(0)} ms`);
  }
  const reached = pages[0]?.p95Ms ?? NaN;
  printGoal('the slowest page, p95', { goal: goalMs, reached, unit: 'ms', wanted: 'at most' });
}

function mustKnowAll(asked: readonly ConsoleCall[]): void {
  const file = path.join(projectRoot, 'packages/console/openapi.json');
  const { paths } = JSON.parse(fs.readFileSync(file, 'utf8')) as { paths: Record<string, object> };
  const forgotten = Object.entries(paths)
    .filter(([, methods]) => 'get' in methods)
    .map(([each]) => each)
    .filter((each) => !asked.some(({ of }) => of === each));
  mustHold(forgotten.length === 0, `nobody asks for ${forgotten.join(', ')}`);
}

async function ask({ session, meter, web }: Measuring, call: ConsoleCall, calls: number): Promise<Measured> {
  const times: number[] = [];
  let bytes = 0;
  const stop = await meter.start([web]);
  for (let made = 0; made < calls; made += 1) {
    if (call.rememberedMs !== undefined) {
      await setTimeout(call.rememberedMs + 50);
    }
    const answer = await session.get(call.path);
    // What is refused, as it is while the database does not answer, is told as what never came.
    times.push(answer.status === 200 ? answer.ms : Infinity);
    ({ bytes } = answer);
  }
  const { cpuUs } = await stop();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.ceil(share * times.length) - 1] ?? NaN;
  const msOf = (name: string) => (cpuUs[name] ?? NaN) / 1_000 / calls;
  return { call, p50Ms: at(0.5), p95Ms: at(0.95), webMs: msOf('web'), mongodbMs: msOf('mongodb'), bytes };
}

/** The fiftieth page of a list, or the last where it is shorter; null for one with a single page. */
async function laterPage(
  session: ConsoleSession,
  call: ConsoleCall,
  field: 'after' | 'before',
): Promise<ConsoleCall | null> {
  let { path: at } = call;
  let page = 1;
  while (page < pagesFollowed) {
    const { data } = JSON.parse((await session.get(at)).text) as { data?: { next?: string | null } };
    if (!data?.next) {
      break;
    }
    at = `${call.path}${call.path.includes('?') ? '&' : '?'}${field}=${encodeURIComponent(data.next)}`;
    page += 1;
  }
  return page === 1 ? null : { ...call, path: at, name: `${call.name}, page ${page}` };
}

function print(measured: readonly Measured[]): void {
  printTable(
    ['', 'p50 ms', 'p95 ms', 'CPU web ms', 'CPU mongodb ms', 'kB'],
    measured.map(({ call, p50Ms, p95Ms, webMs, mongodbMs, bytes }) => [
      ...[`${call.of}: ${call.name}`, p50Ms, p95Ms, webMs, mongodbMs, bytes / 1_000],
    ]),
  );
}
