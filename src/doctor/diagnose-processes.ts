import { setTimeout } from 'node:timers/promises';
import { findProcessType, type ProcessType } from '../processes.js';
import {
  describeProcesses,
  hasUnheardProcess,
  countProcesses,
  sayEveryMs,
  silentAfterMs,
  type DescribedProcess,
  type Processes,
} from '../redis/presence.js';
import { nowMs } from '../shared/clock.js';
import { groupBy } from '../shared/collections.js';
import { fail, ok, warn, type Diagnosis } from './diagnosis.js';

const silence = `not heard for ${silentAfterMs / 1_000} s`;

/**
 * Processes that said that they live and are silent now, and kinds that must be there and are not: one that stands still keeps its connections, so that its queues look
 * served. One that was killed has none, and is forgotten at once as one that stopped in order.
 */
export async function diagnoseProcesses(): Promise<Diagnosis[]> {
  const mayCome = await hasUnheardProcess();
  const heard = await processesHeard(
    (processes) =>
      [...processes.values()].every(({ silent }) => silent === 0) &&
      !(mayCome && findMissingProcesses(processes).length > 0),
  );
  if (!heard) {
    return [
      warn(
        'processes',
        'not known: each says that it lives by a write to Redis',
        'Nothing is known to stand still: mend Redis first (Redis writes), and look again.',
      ),
    ];
  }
  if (heard.size === 0) {
    return [
      fail(
        'processes',
        'none is heard: the service does not run',
        `Start it: npm start, or ${startWeb} and node dist/workers/run.js all. If some do run: their QUEUE_PREFIX and REDIS_URL are not those given here.`,
      ),
    ];
  }
  const states = [...heard].map(([type, { alive, silent }]) => {
    const name = `process ${type}`;
    if (silent === 0) {
      return ok(name, `${alive} heard`);
    }
    const advice =
      'One that stands still neither works nor ends: kill it (kill -9) and start it anew. What it held is taken over by others of its kind.';
    return alive === 0
      ? fail(name, `${silent} ${silence}, and no other`, advice)
      : warn(name, `${silent} ${silence}, ${alive} heard`, advice);
  });
  return [...states, ...findMissingProcesses(heard), ...diagnoseReleases((await describeProcesses()) ?? [])];
}

const startWeb = 'node dist/src/server.js';

/**
 * Without a web process nobody can buy, and without a follow-up process nobody finds what is late, nor tells alarms: that shows nowhere
 * else, as what the clock is to do stays delayed until a worker comes. One that stands still has its own row.
 */
function findMissingProcesses(processes: ReadonlyMap<string, Processes>): Diagnosis[] {
  const needed = [
    { name: 'web', without: 'Nobody can buy', start: startWeb },
    {
      name: 'follow-up',
      without: 'Unknown outcomes stay open, nothing late is found and no alarm is told',
      start: 'node dist/workers/run.js follow-up',
    },
  ];
  return needed
    .filter(({ name }) => ![...processes.keys()].some((type) => doesProcessWork(name, type)))
    .map(({ name, without, start }) =>
      fail(`process ${name}`, 'none is heard', `${without}. See why it ended, and start one: ${start}`),
    );
}

/** A release goes out in minutes; after this it is stuck half-way, or somebody has forgotten a process. */
const rolloutMs = 900_000;
/** Of a process of a release that did not say. */
const unknownRelease = 'an earlier one';

/** Which release each process is of. Several at once are usual for a moment. Empty where none is heard. */
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
    .map(([version, all]) => `${version}: ${listTypes(all)}`)
    .join('; ');
  if (releases.size === 1) {
    return [ok('releases', detail)];
  }
  // Since the last of them came: what starts anew and ends again and again goes on being new.
  const sinceMs = Math.max(
    ...[...releases.values()].map((all) => Math.min(...all.map(({ startedAt }) => Number(startedAt)))),
  );
  const minutes = Math.floor((nowMs() - sinceMs) / 60_000);
  const said = `several at once for ${minutes} min: ${detail}`;
  return nowMs() - sinceMs < rolloutMs
    ? [ok('releases', said)]
    : [
        warn(
          'releases',
          said,
          'A rollout is stuck half-way, or a process was forgotten: bring all to one release. topup process list shows each.',
        ),
      ];
}

/** As `fulfilment 2, web`. */
function listTypes(processes: readonly DescribedProcess[]): string {
  return [...groupBy(processes, ({ type }) => type)]
    .map(([type, { length }]) => (length === 1 ? type : `${type} ${length}`))
    .join(', ');
}

/**
 * The processes that are heard, or null where none could be: Redis takes no writes. What is not well is looked at again after the
 * time in which each has said so anew: Redis may have been away, or have lost all, until a moment ago.
 */
export async function processesHeard(
  isWell: (processes: ReadonlyMap<string, Processes>) => boolean,
): Promise<ReadonlyMap<string, Processes> | null> {
  const found = await countProcesses();
  return !found || isWell(found) ? found : setTimeout(sayEveryMs + 1_000).then(countProcesses);
}

/** Whether nobody who could take jobs of this kind is heard. */
export function hasNoLiveProcess(
  { name }: Pick<ProcessType, 'name'>,
  processes: ReadonlyMap<string, Processes>,
): boolean {
  const able = [...processes].filter(([type]) => doesProcessWork(name, type));
  return able.every(([, { alive }]) => alive === 0);
}

/** @param type As a process was started: `web`, `all`, `fulfilment+follow-up` … */
export function doesProcessWork(name: string, type: string): boolean {
  const isWeb = name === 'web';
  return type
    .split('+')
    .some((each) => (isWeb ? each === name : each === 'all' || findProcessType(each)?.name === name));
}
