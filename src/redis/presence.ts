/**
 * Which processes there are, as they say themselves through Redis: one that stands still (an event loop that is blocked, a host
 * that hangs) cannot say that it does, so the others see it by its silence.
 */
import { env } from '../../config/env.js';
import { releaseVersion } from '../../config/release.js';
import { nowMs } from '../shared/clock.js';
import { beforeDisconnect, buildSiblingKey, redis, redisServers } from './connection.js';
import { getConnectionName, processId } from './process-id.js';
import { logRedisError } from './connection-errors.js';
import { findRedisProblem } from './server-health.js';
import type { Incident } from '../shared/incident-counts.js';
import { repeat } from '../shared/repeat.js';

export const sayEveryMs = 5_000;
/** Three times not heard. */
export const silentAfterMs = 20_000;
/** Silence is no more than that of one whose connection stands: what was killed has none. */
const forgottenAfterMs = 6 * 3_600_000;
/** Where connections cannot be told apart, what was killed is forgotten after this, and so is what stands still. */
const guessedForMs = 120_000;

const key = `${env.QUEUE_PREFIX}:processes`;
const heardAgainKey = buildSiblingKey(key, 'heard-again-at');

/** `silent`: now, if nobody at all was heard for a while until then. */
const nobodyHeard = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
local silent = last and now - last > tonumber(ARGV[1]) and string.format('%.0f', now)`;

/** Writes nothing. */
const heardAgainScript = `${nobodyHeard}
return silent or redis.call('GET', KEYS[2])`;

const sayScript = `${nobodyHeard}
if silent then redis.call('SET', KEYS[2], silent, 'PX', ARGV[3]) end
redis.call('ZADD', KEYS[1], now, ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[3])`;

/** Writes nothing: it is asked of a Redis in trouble. */
const lookScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local forgotten = string.format('(%.0f', now - ARGV[1])
local silent = string.format('%.0f', now - ARGV[2])
return {
  redis.call('ZRANGEBYSCORE', KEYS[1], silent, '+inf', 'WITHSCORES'),
  redis.call('ZRANGEBYSCORE', KEYS[1], forgotten, '(' .. silent, 'WITHSCORES') }`;

/** What a process says of itself, in a key of its own that ends by itself: members of the set are read by releases that know no more. */
interface Announcement {
  version: string;
  startedAtMs: number;
  memoryBytes: number;
  /** Absent in one of a release that did not say it. */
  troubles?: ProcessTroubles;
  /** It gives sellers their share of the price without its markup; absent in a release that knows none. */
  knowsMarkups?: boolean;
  /** It asks buyers of a price group for the markups of that group; absent in a release that knows none. */
  knowsMarkupGroups?: boolean;
  /** It keeps alarms and tells them; absent in one of a release that did not say it. */
  tellsAlarms?: boolean;
}

/** What only the process itself knows to be wrong. */
export interface ProcessTroubles extends Record<Incident, number> {
  isNotReady: boolean;
  /** The longest that its event loop was held up within the last minute. */
  lagMs: number;
}

function getAnnouncementKey(id: string): string {
  return `${env.QUEUE_PREFIX}:process-says:${id}`;
}

/** Says from now on that this process lives, and what is wrong with it. Ends with `disconnectRedis`. */
export function announcePresence(
  type: string,
  { troublesNow, tellsAlarms }: { troublesNow?: () => ProcessTroubles; tellsAlarms?: boolean } = {},
): { stop(): Promise<void> } {
  const member = `${type}:${processId}`;
  const startedAtMs = Math.round(nowMs() - process.uptime() * 1_000);
  const saying = repeat({
    name: 'presence',
    everyMs: sayEveryMs,
    async run() {
      // The connection itself tells of an outage.
      if (redis().status === 'ready') {
        const troubles = troublesNow?.();
        const said: Announcement = {
          version: releaseVersion,
          startedAtMs,
          memoryBytes: process.memoryUsage.rss(),
          knowsMarkups: true,
          knowsMarkupGroups: true,
          ...(troubles && { troubles }),
          ...(tellsAlarms !== undefined && { tellsAlarms }),
        };
        await Promise.all([
          redis().eval(sayScript, 2, key, heardAgainKey, silentAfterMs, member, forgottenAfterMs),
          redis().set(getAnnouncementKey(processId), JSON.stringify(said), 'PX', forgottenAfterMs),
        ]).catch((error: unknown) => {
          logRedisError('a process cannot say that it lives', error);
        });
      }
    },
  });
  beforeDisconnect(() =>
    Promise.all([redis().zrem(key, member), redis().del(getAnnouncementKey(processId))]),
  );
  return saying;
}

/**
 * When a process was heard after none had been for 20 s: Redis hung or took no writes until then, and nobody could take or end
 * a job. Now, while none is yet. By Redis's clock; 0: not within six hours. @throws Redis's own errors.
 */
export async function heardAgainAtMs(): Promise<number> {
  return Number(await redis().eval(heardAgainScript, 2, key, heardAgainKey, silentAfterMs));
}

/** A process that was heard. */
export interface HeardProcess {
  id: string;
  /** As it was started: `web`, `fulfilment`, `all` … */
  type: string;
  lastHeardAt: Date;
  /** It has its connection and says nothing: it stands still. */
  isSilent: boolean;
}

/** With what it says of itself: null in one of a release that did not. */
export interface DescribedProcess extends HeardProcess {
  version: string | null;
  startedAt: Date | null;
  /** Resident. */
  memoryBytes: number | null;
  troubles: ProcessTroubles | null;
  knowsMarkups: boolean;
  knowsMarkupGroups: boolean;
  /** Null in one that did not say. */
  tellsAlarms: boolean | null;
}

/** By type, the longest running first; null where nobody knows, as `processesNow`. @throws Redis's own errors. */
export async function describeProcesses(): Promise<DescribedProcess[] | null> {
  const heard = await heardProcesses();
  if (!heard) {
    return null;
  }
  const found = await Promise.all(
    heard.map(async (each) => {
      const text = await redis().get(getAnnouncementKey(each.id));
      const said = text === null ? null : (JSON.parse(text) as Announcement);
      return {
        ...each,
        version: said?.version ?? null,
        startedAt: said && new Date(said.startedAtMs),
        memoryBytes: said?.memoryBytes ?? null,
        troubles: said?.troubles ?? null,
        knowsMarkups: said?.knowsMarkups ?? false,
        knowsMarkupGroups: said?.knowsMarkupGroups ?? false,
        tellsAlarms: said?.tellsAlarms ?? null,
      };
    }),
  );
  return found.sort(
    (a, b) => a.type.localeCompare(b.type) || Number(a.startedAt ?? 0) - Number(b.startedAt ?? 0),
  );
}

export interface Processes {
  alive: number;
  silent: number;
}

/**
 * By process type. Silent is who still has its connection and says nothing: it stands still. Null: Redis takes no writes, and each
 * says by a write that it lives, so nobody knows who does.
 * @throws Redis's own errors.
 */
export async function countProcesses(): Promise<Map<string, Processes> | null> {
  const heard = await heardProcesses();
  if (!heard) {
    return null;
  }
  const found = new Map<string, Processes>();
  for (const { type, isSilent } of heard) {
    const counts = found.get(type) ?? { alive: 0, silent: 0 };
    const state = isSilent ? 'silent' : 'alive';
    found.set(type, { ...counts, [state]: counts[state] + 1 });
  }
  return found;
}

async function heardProcesses(): Promise<HeardProcess[] | null> {
  if ((await findRedisProblem()) !== null) {
    return null;
  }
  const { alive, silent } = await readMembers(forgottenAfterMs);
  return [...alive, ...(silent.length === 0 ? [] : await filterConnected(silent))];
}

async function readMembers(rememberedMs: number): Promise<{ alive: HeardProcess[]; silent: HeardProcess[] }> {
  const [alive, silent] = (await redis().eval(lookScript, 1, key, rememberedMs, silentAfterMs)) as [
    string[],
    string[],
  ];
  return { alive: parseMembers(alive, false), silent: parseMembers(silent, true) };
}

/** @param found Members, each with its score. */
function parseMembers(found: string[], isSilent: boolean): HeardProcess[] {
  return found.flatMap((member, place) => {
    const colon = member.indexOf(':');
    const lastHeardAt = new Date(Number(found[place + 1]));
    const heard = { type: member.slice(0, colon), id: member.slice(colon + 1), lastHeardAt, isSilent };
    return place % 2 === 0 ? [heard] : [];
  });
}

/**
 * Whether anybody else has a connection who was not heard: it has just come, or Redis has lost what it said. True where connections
 * cannot be told apart.
 * @throws Redis's own errors.
 */
export async function hasUnheardProcess(): Promise<boolean> {
  const connections = await listConnections();
  if (connections === null) {
    return true;
  }
  const { alive, silent } = await readMembers(forgottenAfterMs);
  const heard = new Set([processId, ...[...alive, ...silent].map(({ id }) => id)].map(getConnectionName));
  const named = [...connections.matchAll(/ name=(\S+)/g)].map(([, name = '']) => name);
  return named.some((name) => name.startsWith(getConnectionName('')) && !heard.has(name));
}

async function filterConnected(silent: HeardProcess[]): Promise<HeardProcess[]> {
  const connections = await listConnections();
  return connections === null
    ? (await readMembers(guessedForMs)).silent
    : silent.filter(({ id }) => connections.includes(getConnectionName(id)));
}

/** As Redis lists them; null: they have no names, behind a proxy, or at a Redis that lets nobody name a connection. */
async function listConnections(): Promise<string | null> {
  const lists = await Promise.all(redisServers().map((server) => server.client('LIST')));
  const connections = lists.join('\n');
  return connections.includes(getConnectionName(processId)) ? connections : null;
}
