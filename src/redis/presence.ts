/**
 * Each process announces its presence through Redis. A process that hangs (a blocked event loop, a
 * host that stalls) cannot report this, so other processes detect it by its missing announcements.
 */
import { env } from '../../config/env.js';
import { releaseVersion } from '../../config/release.js';
import { nowMs } from '../shared/clock.js';
import { boundScoresLua } from './bounded-times.js';
import { beforeDisconnect, buildSiblingKey, redis, listRedisServers } from './connection.js';
import { getConnectionName, processId } from './process-id.js';
import { logRedisError } from './connection-errors.js';
import { findRedisProblem } from './server-health.js';
import type { Incident } from '../shared/incident-counts.js';
import { repeat } from '../shared/repeat.js';

export const announceEveryMs = 5_000;
/**
 * Milliseconds without an announcement after which a process is silent. This is three missed
 * announcements.
 */
export const silentAfterMs = 20_000;
/**
 * Milliseconds after which a silent process is forgotten. A silent process is reported only while
 * its connection exists; a killed process has no connection.
 */
const forgottenAfterMs = 6 * 3_600_000;
/**
 * Milliseconds after which a silent process is forgotten if connections cannot be identified. It
 * may have been killed or may hang.
 */
const unidentifiedKeptMs = 120_000;

const key = `${env.QUEUE_PREFIX}:processes`;
const heardAgainKey = buildSiblingKey(key, 'heard-again-at');

/** Sets `silent` to the current time if no announcement arrived for `silentAfterMs`. */
const silenceScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
local silent = last and now - last > tonumber(ARGV[1]) and string.format('%.0f', now)`;

/** This script only reads. */
const heardAgainScript = `${silenceScript}
return silent or redis.call('GET', KEYS[2])`;

const announceScript = `${boundScoresLua}${silenceScript}
if silent then redis.call('SET', KEYS[2], silent, 'PX', ARGV[3]) end
redis.call('ZADD', KEYS[1], now, ARGV[2])
boundScores(KEYS[1], now, now)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[3])`;

/** This script only reads, because it runs while Redis may have problems. */
const readScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local forgotten = string.format('(%.0f', now - ARGV[1])
local silent = string.format('%.0f', now - ARGV[2])
return {
  redis.call('ZRANGEBYSCORE', KEYS[1], silent, '+inf', 'WITHSCORES'),
  redis.call('ZRANGEBYSCORE', KEYS[1], forgotten, '(' .. silent, 'WITHSCORES') }`;

/**
 * Details that a process publishes in a separate key, with a TTL. They are not in the set, because
 * earlier releases read the members of the set.
 */
interface Announcement {
  version: string;
  startedAtMs: number;
  memoryBytes: number;
  /** Absent if an earlier release wrote the announcement. */
  troubles?: ProcessTroubles;
  /** True if the process stores and sends alarms. Absent in a release that did not report it. */
  tellsAlarms?: boolean;
}

/** Problems that only the process itself can detect. */
export interface ProcessTroubles extends Record<Incident, number> {
  isNotReady: boolean;
  /**
   * The longest time within the last minute for which the event loop was blocked, in milliseconds.
   */
  lagMs: number;
}

function getAnnouncementKey(id: string): string {
  return `${env.QUEUE_PREFIX}:process-says:${id}`;
}

/** Announces this process and its problems regularly, until `disconnectRedis`. */
export function announcePresence(
  type: string,
  { troublesNow, tellsAlarms }: { troublesNow?: () => ProcessTroubles; tellsAlarms?: boolean } = {},
): { stop(): Promise<void> } {
  const member = `${type}:${processId}`;
  const startedAtMs = Math.round(nowMs() - process.uptime() * 1_000);
  const announcer = repeat({
    name: 'presence',
    everyMs: announceEveryMs,
    async run() {
      // The Redis connection reports an outage itself.
      if (redis().status === 'ready') {
        const troubles = troublesNow?.();
        const announcement: Announcement = {
          version: releaseVersion,
          startedAtMs,
          memoryBytes: process.memoryUsage.rss(),
          ...(troubles && { troubles }),
          ...(tellsAlarms !== undefined && { tellsAlarms }),
        };
        await Promise.all([
          redis().eval(announceScript, 2, key, heardAgainKey, silentAfterMs, member, forgottenAfterMs),
          redis().set(getAnnouncementKey(processId), JSON.stringify(announcement), 'PX', forgottenAfterMs),
        ]).catch((error: unknown) => {
          logRedisError('heartbeat of this process could not be sent', error);
        });
      }
    },
  });
  beforeDisconnect(() =>
    Promise.all([redis().zrem(key, member), redis().del(getAnnouncementKey(processId))]),
  );
  return announcer;
}

/**
 * Returns when announcements resumed after none had arrived for 20 s, in milliseconds on the Redis
 * clock. During that time Redis hung or accepted no writes, so no job could be taken or completed.
 *
 * Returns 0 if there was no such gap within six hours, and the current time if the gap continues.
 * @throws Redis errors.
 */
export async function findLastRecoveryMs(): Promise<number> {
  return Number(await redis().eval(heardAgainScript, 2, key, heardAgainKey, silentAfterMs));
}

/** A process that has announced itself. */
export interface HeardProcess {
  id: string;
  /** Process type as started, such as `web`, `fulfilment` or `all`. */
  type: string;
  lastHeardAt: Date;
  /** True if the process is connected but does not announce itself, which means that it hangs. */
  isSilent: boolean;
}

/**
 * A process with its published details. They are null if an earlier release did not publish them.
 */
export interface DescribedProcess extends HeardProcess {
  version: string | null;
  startedAt: Date | null;
  /** Resident set size in bytes. */
  memoryBytes: number | null;
  troubles: ProcessTroubles | null;
  /** True if the process sends alarms. Null if it does not report this. */
  tellsAlarms: boolean | null;
}

/**
 * Returns the processes by type, longest running first. Null if Redis takes no writes, so that no
 * process can announce itself.
 * @throws Redis errors.
 */
export async function describeProcesses(): Promise<DescribedProcess[] | null> {
  const processes = await listHeardProcesses();
  if (!processes) {
    return null;
  }
  const found = await Promise.all(
    processes.map(async (each) => {
      const text = await redis().get(getAnnouncementKey(each.id));
      const announcement = text === null ? null : (JSON.parse(text) as Announcement);
      return {
        ...each,
        version: announcement?.version ?? null,
        startedAt: announcement && new Date(announcement.startedAtMs),
        memoryBytes: announcement?.memoryBytes ?? null,
        troubles: announcement?.troubles ?? null,
        tellsAlarms: announcement?.tellsAlarms ?? null,
      };
    }),
  );
  return found.sort(
    (a, b) => a.type.localeCompare(b.type) || Number(a.startedAt ?? 0) - Number(b.startedAt ?? 0),
  );
}

export interface ProcessCounts {
  alive: number;
  silent: number;
}

/**
 * Counts processes by type. A silent process is connected but does not announce itself, which means
 * that it hangs.
 *
 * Null if Redis takes no writes, so that no process can announce itself.
 * @throws Redis errors.
 */
export async function countProcesses(): Promise<Map<string, ProcessCounts> | null> {
  const processes = await listHeardProcesses();
  if (!processes) {
    return null;
  }
  const found = new Map<string, ProcessCounts>();
  for (const { type, isSilent } of processes) {
    const counts = found.get(type) ?? { alive: 0, silent: 0 };
    const state = isSilent ? 'silent' : 'alive';
    found.set(type, { ...counts, [state]: counts[state] + 1 });
  }
  return found;
}

async function listHeardProcesses(): Promise<HeardProcess[] | null> {
  if ((await findRedisProblem()) !== null) {
    return null;
  }
  const { alive, silent } = await readMembers(forgottenAfterMs);
  return [...alive, ...(silent.length === 0 ? [] : await filterConnected(silent))];
}

async function readMembers(rememberedMs: number): Promise<{ alive: HeardProcess[]; silent: HeardProcess[] }> {
  const [alive, silent] = (await redis().eval(readScript, 1, key, rememberedMs, silentAfterMs)) as [
    string[],
    string[],
  ];
  return { alive: parseMembers(alive, false), silent: parseMembers(silent, true) };
}

/** @param found Members, each followed by its score. */
function parseMembers(found: string[], isSilent: boolean): HeardProcess[] {
  return found.flatMap((member, place) => {
    const colon = member.indexOf(':');
    const lastHeardAt = new Date(Number(found[place + 1]));
    const parsed = { type: member.slice(0, colon), id: member.slice(colon + 1), lastHeardAt, isSilent };
    return place % 2 === 0 ? [parsed] : [];
  });
}

/**
 * True if another process is connected but has announced nothing. Either the process has just
 * started, or Redis lost its announcement. Also true if connections cannot be identified.
 * @throws Redis errors.
 */
export async function hasUnheardProcess(): Promise<boolean> {
  const connections = await listConnections();
  if (connections === null) {
    return true;
  }
  const { alive, silent } = await readMembers(forgottenAfterMs);
  const knownNames = new Set(
    [processId, ...[...alive, ...silent].map(({ id }) => id)].map(getConnectionName),
  );
  const named = [...connections.matchAll(/ name=(\S+)/g)].map(([, name = '']) => name);
  return named.some((name) => name.startsWith(getConnectionName('')) && !knownNames.has(name));
}

async function filterConnected(silent: HeardProcess[]): Promise<HeardProcess[]> {
  const connections = await listConnections();
  return connections === null
    ? (await readMembers(unidentifiedKeptMs)).silent
    : silent.filter(({ id }) => connections.includes(getConnectionName(id)));
}

/**
 * Returns the client list of Redis. Null if connections have no names, because of a proxy or
 * missing rights.
 */
async function listConnections(): Promise<string | null> {
  const lists = await Promise.all(listRedisServers().map((server) => server.client('LIST')));
  const connections = lists.join('\n');
  return connections.includes(getConnectionName(processId)) ? connections : null;
}
