import { setTimeout } from 'node:timers/promises';
import { findProcessType, type ProcessType } from '../processes.js';
import {
  describeProcesses,
  hasUnheardProcess,
  countProcesses,
  announceEveryMs,
  silentAfterMs,
  type DescribedProcess,
  type ProcessCounts,
} from '../redis/presence.js';
import { nowMs } from '../shared/clock.js';
import { groupBy } from '../shared/collections.js';
import { fail, ok, warn, type Diagnosis } from './diagnosis.js';

const silence = `without a heartbeat for ${silentAfterMs / 1_000} s`;

/**
 * Reports silent processes and missing process types. A hung process keeps its connections, so its
 * queues seem to be served. A killed process has no connections and is forgotten at once, like a
 * process that stopped in order.
 */
export async function diagnoseProcesses(): Promise<Diagnosis[]> {
  const mayCome = await hasUnheardProcess();
  const liveProcesses = await findLiveProcesses(
    (processes) =>
      [...processes.values()].every(({ silent }) => silent === 0) &&
      !(mayCome && findMissingProcesses(processes).length > 0),
  );
  if (!liveProcesses) {
    return [
      warn(
        'processes',
        'unknown: processes send their heartbeats by writes to Redis',
        'Fix Redis first (Redis writes), then check again.',
      ),
    ];
  }
  if (liveProcesses.size === 0) {
    return [
      fail(
        'processes',
        'none is running: the service is down',
        `Start it: npm start, or ${startWebCommand} and node dist/workers/run.js all. If some do run, their QUEUE_PREFIX or REDIS_URL differs from the one used here.`,
      ),
    ];
  }
  const states = [...liveProcesses].map(([type, { alive, silent }]) => {
    const name = `process ${type}`;
    if (silent === 0) {
      return ok(name, `${alive} alive`);
    }
    const advice =
      'A hung process neither works nor exits: kill it (kill -9) and start it again. Other processes of its type take over its work.';
    return alive === 0
      ? fail(name, `${silent} ${silence}, and no other`, advice)
      : warn(name, `${silent} ${silence}, ${alive} alive`, advice);
  });
  return [
    ...states,
    ...findMissingProcesses(liveProcesses),
    ...diagnoseReleases((await describeProcesses()) ?? []),
  ];
}

const startWebCommand = 'node dist/src/server.js';

/**
 * Reports required process types without any process. Without web, purchases are impossible.
 * Without follow-up, late work is not found and alarms are not sent. No other check detects this,
 * because scheduled jobs stay delayed until a worker promotes them.
 */
function findMissingProcesses(processes: ReadonlyMap<string, ProcessCounts>): Diagnosis[] {
  const needed = [
    { name: 'web', without: 'Purchases are impossible', start: startWebCommand },
    {
      name: 'follow-up',
      without: 'Unknown outcomes stay open, late work is not found and no alarm is sent',
      start: 'node dist/workers/run.js follow-up',
    },
  ];
  return needed
    .filter(({ name }) => ![...processes.keys()].some((type) => doesProcessWork(name, type)))
    .map(({ name, without, start }) =>
      fail(`process ${name}`, 'none is running', `${without}. See why it ended, and start one: ${start}`),
    );
}

/**
 * Milliseconds after which a rollout counts as stuck, or a process as left behind. A normal rollout
 * takes minutes.
 */
const rolloutMs = 900_000;
/** Shown for a process whose release does not report its version. */
const unknownRelease = 'an earlier one';

/**
 * Reports the release of each process. Several releases at once are normal during a rollout. Empty
 * if no process is alive.
 */
export function diagnoseReleases(processes: readonly DescribedProcess[]): Diagnosis[] {
  const releases = groupBy(
    processes.filter(({ isSilent }) => !isSilent),
    ({ version }) => version ?? unknownRelease,
  );
  if (releases.size === 0) {
    return [];
  }
  const detail = [...releases]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([version, all]) => `${version}: ${formatTypes(all)}`)
    .join('; ');
  if (releases.size === 1) {
    return [ok('releases', detail)];
  }
  // The rollout time counts from the start of the oldest process of the newest release. A process
  // that restarts repeatedly always looks new, so the newest process is no measure.
  const sinceMs = Math.max(
    ...[...releases.values()].map((all) => Math.min(...all.map(({ startedAt }) => Number(startedAt)))),
  );
  const minutes = Math.floor((nowMs() - sinceMs) / 60_000);
  const summary = `several at once for ${minutes} min: ${detail}`;
  return nowMs() - sinceMs < rolloutMs
    ? [ok('releases', summary)]
    : [
        warn(
          'releases',
          summary,
          'A rollout is stuck, or a process was left behind. Bring all processes to one release. topup process list shows each.',
        ),
      ];
}

/** Formats process types as `fulfilment 2, web`. */
function formatTypes(processes: readonly DescribedProcess[]): string {
  return [...groupBy(processes, ({ type }) => type)]
    .map(([type, { length }]) => (length === 1 ? type : `${type} ${length}`))
    .join(', ');
}

/**
 * Returns the live and silent processes. Null while Redis accepts no writes. If the processes do
 * not look healthy, it checks again after each process has had time to report. Redis may just have
 * become available again, or may have lost its data.
 */
export async function findLiveProcesses(
  isWell: (processes: ReadonlyMap<string, ProcessCounts>) => boolean,
): Promise<ReadonlyMap<string, ProcessCounts> | null> {
  const found = await countProcesses();
  return !found || isWell(found) ? found : setTimeout(announceEveryMs + 1_000).then(countProcesses);
}

/** True if no live process takes jobs of this process type. */
export function hasNoLiveProcess(
  { name }: Pick<ProcessType, 'name'>,
  processes: ReadonlyMap<string, ProcessCounts>,
): boolean {
  const able = [...processes].filter(([type]) => doesProcessWork(name, type));
  return able.every(([, { alive }]) => alive === 0);
}

/**
 * True if a process that was started as `type` does the work of the process type `name`.
 * @param type For example `web`, `all` or `fulfilment+follow-up`.
 */
export function doesProcessWork(name: string, type: string): boolean {
  const isWeb = name === 'web';
  return type
    .split('+')
    .some((each) => (isWeb ? each === name : each === 'all' || findProcessType(each)?.name === name));
}
