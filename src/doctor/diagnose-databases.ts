import { MongoServerError, type Db } from 'mongodb';
import type { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { env } from '../../config/env.js';
import { isGuarded } from '../../config/refused-settings.js';
import { limits } from '../../config/limits.js';
import { isMongodbMarkedUnreachable } from '../alarms/active-alarms.js';
import { activeAlarmFilter, redisDownId, storedAlarms } from '../alarms/alarm.model.js';
import { findFirstAccountDay } from '../accounts/find-account.js';
import { findLastClosedDay } from '../money/closes/day-closes.js';
import { formatBusinessDay, formatBusinessTime, addDays } from '../shared/business-time.js';
import { hostMs, now, nowMs } from '../shared/clock.js';
import { getMongodbVersion } from '../database/mongo.js';
import { findWrongIndexes } from '../database/indexes.js';
import { areTotalsComplete } from '../money/totals/totals-state.model.js';
import { readClockStep, type ClockStep } from '../redis/clock-step.js';
import { redis, listRedisServers } from '../redis/connection.js';
import { readInfoField, findRedisProblem } from '../redis/server-health.js';
import { describeVersionProblem } from '../shared/server-versions.js';
import { fail, ok, warn, type Diagnosis } from './diagnosis.js';

const skewWarnMs = 1_000;
const skewFailMs = 30_000;
const slowMs = 250;
/** Maximum age in milliseconds of another process's report, which is renewed every 5 s. */
const alarmAgeMaxMs = 15_000;

export const upgradeMongodbAdvice = 'Upgrade it, one major version after the other.';

export async function diagnoseMongo(): Promise<Diagnosis[]> {
  const admin = mongoose.connection.getClient().db('admin');
  const startedMs = hostMs();
  const hello = (await admin.command({ hello: 1 })) as {
    setName?: string;
    /** The value `isdbgrid` means that the server is a router (mongos). */
    msg?: string;
    isWritablePrimary?: boolean;
    localTime?: Date;
  };
  const tookMs = hostMs() - startedMs;
  const version = await getMongodbVersion();
  const tooOld = describeVersionProblem('MongoDB', version);
  if (tooOld !== null) {
    // Skip the other checks, because they use commands that an older server lacks.
    return [fail('MongoDB', tooOld, upgradeMongodbAdvice)];
  }
  const detail = `version ${version}, responds in ${tookMs} ms`;
  return [
    tookMs > slowMs
      ? warn('MongoDB', detail, 'It is slow: check its load and the network.')
      : ok('MongoDB', detail),
    hello.setName || hello.msg === 'isdbgrid'
      ? ok('MongoDB replica set', hello.setName ?? 'a router of a sharded cluster')
      : fail('MongoDB replica set', 'no replica set', 'Transactions need one: rs.initiate() on the server.'),
    diagnoseClockSkew(
      'clock against MongoDB',
      hello.localTime?.getTime() ?? hostMs(),
      startedMs + tookMs / 2,
    ),
    ...(await diagnoseLockLifetime(admin)),
    await diagnoseIndexes(),
    await diagnoseDailyTotals(),
    await diagnoseDailyClose(),
    ...(await diagnoseMongodbOfOtherProcesses()),
  ];
}

/** Reports that a follow-up process cannot reach MongoDB, because of its network or settings. */
async function diagnoseMongodbOfOtherProcesses(): Promise<Diagnosis[]> {
  // Checks of Redis report an unavailable Redis.
  const isAway = redis().status === 'ready' && (await isMongodbMarkedUnreachable().catch(() => false));
  return isAway
    ? [buildElsewhereDiagnosis('MongoDB', 'a follow-up process could not reach it a few seconds ago')]
    : [];
}

function buildElsewhereDiagnosis(name: 'MongoDB' | 'Redis', detail: string): Diagnosis {
  const setting = name === 'MongoDB' ? 'MONGODB_URI' : 'REDIS_URL';
  return fail(
    `${name} of others`,
    detail,
    `It responds here. It may have just recovered: check again in half a minute. Otherwise find the process whose /readyz returns 503: its network or its ${setting} differs.`,
  );
}

/**
 * Checks how long MongoDB keeps the locks of an abandoned transaction. Reports nothing if this user
 * may not read the parameter, or if the server is not a mongod
 * (docs/guides/operate/prepare-mongodb.md).
 */
async function diagnoseLockLifetime(admin: Db): Promise<Diagnosis[]> {
  const parameter = 'transactionLifetimeLimitSeconds';
  const found = await admin.command({ getParameter: 1, [parameter]: 1 }).catch((error: unknown) => {
    if (error instanceof MongoServerError) {
      return null;
    }
    throw error;
  });
  const seconds: unknown = found?.[parameter];
  if (typeof seconds !== 'number') {
    return [];
  }
  const advised = limits.lockLifetimeAdvisedS;
  return [
    seconds <= advised
      ? ok('MongoDB lock lifetime', `${seconds} s`)
      : warn(
          'MongoDB lock lifetime',
          `${parameter} is ${seconds}: wallets stay locked for so many seconds after a process is killed`,
          `On every member: db.adminCommand({ setParameter: 1, ${parameter}: ${advised} }), and in its configuration.`,
        ),
  ];
}

async function diagnoseIndexes(): Promise<Diagnosis> {
  const wrong = await findWrongIndexes();
  const named = wrong.map(({ collection, name, problem }) => `${collection}.${name}: ${problem}`).join('; ');
  if (wrong.length === 0) {
    return ok('indexes', 'all exist as declared');
  }
  return wrong.some((each) => each.unique)
    ? fail('indexes', named, 'Money relies on the unique ones: fix them, then run topup ledger verify')
    : warn('indexes', named, 'Without them queries are slow.');
}

async function diagnoseDailyTotals(): Promise<Diagnosis> {
  return (await areTotalsComplete())
    ? ok('daily totals', 'histories are read from them')
    : warn(
        'daily totals',
        'not built yet: the history is counted instead, which is slow',
        'Run once: topup totals rebuild',
      );
}

const closeName = 'daily close';

async function diagnoseDailyClose(): Promise<Diagnosis> {
  const last = await findLastClosedDay();
  // The day before yesterday must be closed by now.
  const expected = addDays(formatBusinessDay(now()), -2);
  // If the installation is younger, it had no such day to close.
  const isLate = (last?._id ?? (await findFirstAccountDay()) ?? expected) < expected;
  if (isLate) {
    return warn(
      closeName,
      last ? `the last closed day is ${last._id}` : 'no day is closed yet',
      'Check that a follow-up process runs, and read its log. topup ledger close shows what prevents the close.',
    );
  }
  if (!last) {
    return ok(closeName, 'none yet: the first one runs after midnight');
  }
  return last.signature === null && isGuarded(env)
    ? warn(closeName, `${last._id} is not signed`, 'Set LEDGER_CLOSE_KEY for the follow-up processes.')
    : ok(closeName, last._id);
}

export const noWritesAdvice = 'Jobs wait in MongoDB, and are added when Redis accepts writes again.';

function isMongoConnected(): boolean {
  return mongoose.connection.readyState === mongoose.ConnectionStates.connected;
}

/** Reports that a follow-up process cannot reach Redis, because of its network or settings. */
async function diagnoseRedisOfOtherProcesses(): Promise<Diagnosis[]> {
  const alarm = await storedAlarms.findOne({ _id: redisDownId, ...activeAlarmFilter });
  return alarm && nowMs() - (alarm.seenAt?.getTime() ?? 0) < alarmAgeMaxMs
    ? [
        buildElsewhereDiagnosis(
          'Redis',
          `a follow-up process has not reached it since ${formatBusinessTime(alarm.since)}`,
        ),
      ]
    : [];
}

/**
 * Checks Redis. In a Cluster it checks each master, but reports successful checks only for the
 * first master.
 */
export async function diagnoseRedis(): Promise<Diagnosis[]> {
  const servers = await Promise.all(listRedisServers().map(diagnoseRedisServer));
  const refusal = await findRedisProblem();
  return [
    ...servers.flatMap((found, index) =>
      index === 0 ? found : found.filter(({ status }) => status !== 'ok'),
    ),
    refusal === null ? ok('Redis writes', 'accepted') : fail('Redis writes', refusal, noWritesAdvice),
    diagnoseClockStep(await readClockStep()),
    ...(refusal === null && isMongoConnected() ? await diagnoseRedisOfOtherProcesses() : []),
    ...(env.REDIS_TLS_SELF_SIGNED
      ? [
          warn(
            'Redis certificate',
            'any certificate is accepted (REDIS_TLS_SELF_SIGNED)',
            'Anyone between this service and Redis can read and change all data. Set REDIS_TLS_CA if you have the certificate.',
          ),
        ]
      : []),
  ];
}

async function diagnoseRedisServer(server: Redis): Promise<Diagnosis[]> {
  const startedMs = hostMs();
  const [seconds, micros] = await server.time();
  const tookMs = hostMs() - startedMs;
  const info = await server.info();
  const version = readInfoField(info, 'redis_version');
  const tooOld = describeVersionProblem('Redis', version);
  return [
    tooOld === null
      ? ok('Redis', `version ${version}, responds in ${tookMs} ms`)
      : fail('Redis', tooOld, 'Upgrade it: its data can stay.'),
    diagnoseRedisMemory(info),
    diagnoseClockSkew(
      'clock against Redis',
      Number(seconds) * 1_000 + Number(micros) / 1_000,
      startedMs + tookMs / 2,
    ),
    readInfoField(info, 'maxmemory_policy') === 'noeviction'
      ? ok('Redis eviction', 'noeviction')
      : fail(
          'Redis eviction',
          `maxmemory-policy is ${readInfoField(info, 'maxmemory_policy')}`,
          'Redis would evict jobs when its memory is full: CONFIG SET maxmemory-policy noeviction',
        ),
    diagnoseRedisPersistence(readInfoField(info, 'aof_enabled') === '1'),
  ];
}

function diagnoseClockStep(step: ClockStep | null): Diagnosis {
  const name = 'Redis clock';
  if (step === null) {
    return ok(name, 'was not set lately');
  }
  const direction = step.byMs < 0 ? 'back' : 'forward';
  return warn(
    name,
    `was set ${direction} by ${Math.round(Math.abs(step.byMs) / 1_000)} s at ${formatBusinessTime(new Date(step.atMs))}`,
    'A follow-up process repairs the stored times within about a minute. Run NTP on the hosts of Redis.',
  );
}

const memoryWarnShare = 0.8;
/**
 * Share of the maximum memory from which Redis counts as full. A full Redis stays slightly below
 * its maximum, because expiring keys free memory.
 */
const memoryFullShare = 0.95;

function diagnoseRedisMemory(info: string): Diagnosis {
  const name = 'Redis memory';
  const used = Number(readInfoField(info, 'used_memory'));
  const max = Number(readInfoField(info, 'maxmemory'));
  if (!(max > 0)) {
    return ok(name, `${formatMegabytes(used)} used, no maxmemory`);
  }
  const detail = `${formatMegabytes(used)} of ${formatMegabytes(max)} used`;
  const advice =
    'When it is full, no job can be added. Give it more memory, or find the queue that grows: topup doctor, /admin/queues.';
  if (used >= memoryFullShare * max) {
    return fail(name, detail, advice);
  }
  return used > memoryWarnShare * max ? warn(name, detail, advice) : ok(name, detail);
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

function diagnoseRedisPersistence(aof: boolean): Diagnosis {
  const advice = 'After a restart of Redis the sweep must add all jobs again: CONFIG SET appendonly yes';
  if (aof) {
    return ok('Redis persistence', 'append-only file');
  }
  return isGuarded(env)
    ? warn('Redis persistence', 'no append-only file', advice)
    : ok('Redis persistence', 'no append-only file (fine outside production)');
}

/**
 * Compares the clock of a server with ours. Schedules, sessions and signatures compare times of
 * different machines.
 */
function diagnoseClockSkew(name: string, theirsMs: number, oursMs: number): Diagnosis {
  const skewMs = Math.round(theirsMs - oursMs);
  const detail = `${skewMs} ms apart`;
  const advice = 'Synchronise the clocks by NTP: schedules and signatures depend on them.';
  if (Math.abs(skewMs) > skewFailMs) {
    return fail(name, detail, advice);
  }
  return Math.abs(skewMs) > skewWarnMs ? warn(name, detail, advice) : ok(name, detail);
}
