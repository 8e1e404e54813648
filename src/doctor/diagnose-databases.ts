import mongoose from 'mongoose';
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { missingIndexes } from '../database/missing-indexes.js';
import { redis } from '../redis/connection.js';
import { fail, ok, warn, type Diagnosis } from './diagnosis.js';

const skewWarnMs = 1_000;
const skewFailMs = 30_000;
const slowMs = 250;

export async function diagnoseMongo(): Promise<Diagnosis[]> {
  const admin = mongoose.connection.getClient().db().admin();
  const startedMs = nowMs();
  const hello = (await admin.command({ hello: 1 })) as {
    setName?: string;
    isWritablePrimary?: boolean;
    localTime?: Date;
  };
  const tookMs = nowMs() - startedMs;
  const build = (await admin.command({ buildInfo: 1 })) as { version?: string };
  const detail = `version ${build.version ?? 'unknown'}, answers in ${tookMs} ms`;
  return [
    tookMs > slowMs
      ? warn('MongoDB', detail, 'It is slow: look at its load and at the network.')
      : ok('MongoDB', detail),
    hello.setName
      ? ok('MongoDB replica set', hello.setName)
      : fail('MongoDB replica set', 'it is none', 'Transactions need one: rs.initiate() on the server.'),
    clock('clock against MongoDB', hello.localTime?.getTime() ?? nowMs(), startedMs + tookMs / 2),
    await indexes(),
  ];
}

async function indexes(): Promise<Diagnosis> {
  const missing = await missingIndexes();
  const names = missing.map((each) => `${each.collection}.${each.name}`).join(', ');
  const advice = 'Run the migrations: node dist/scripts/migrate.js';
  if (missing.length === 0) {
    return ok('indexes', 'all are there');
  }
  return missing.some((each) => each.unique)
    ? fail('indexes', `missing, and money relies on them: ${names}`, `${advice}; then topup ledger verify`)
    : warn('indexes', `missing: ${names}`, advice);
}

export async function diagnoseRedis(): Promise<Diagnosis[]> {
  const startedMs = nowMs();
  const [seconds, micros] = await redis().time();
  const tookMs = nowMs() - startedMs;
  const info = await redis().info();
  const version = infoField(info, 'redis_version');
  return [
    ok('Redis', `version ${version}, answers in ${tookMs} ms`),
    clock('clock against Redis', Number(seconds) * 1_000 + Number(micros) / 1_000, startedMs + tookMs / 2),
    infoField(info, 'maxmemory_policy') === 'noeviction'
      ? ok('Redis eviction', 'noeviction')
      : fail(
          'Redis eviction',
          `maxmemory-policy is ${infoField(info, 'maxmemory_policy')}`,
          'Jobs would vanish under pressure: CONFIG SET maxmemory-policy noeviction',
        ),
    persistence(infoField(info, 'aof_enabled') === '1'),
  ];
}

function persistence(aof: boolean): Diagnosis {
  const advice = 'After a restart of Redis the sweep must add all jobs again: CONFIG SET appendonly yes';
  if (aof) {
    return ok('Redis persistence', 'append-only file');
  }
  return env.NODE_ENV === 'production'
    ? warn('Redis persistence', 'no append-only file', advice)
    : ok('Redis persistence', 'no append-only file (fine outside production)');
}

/** Schedules, sessions and signatures compare times of different machines. */
function clock(name: string, theirsMs: number, oursMs: number): Diagnosis {
  const skewMs = Math.round(theirsMs - oursMs);
  const detail = `${skewMs} ms apart`;
  const advice = 'Set the clocks by NTP: schedules and signatures depend on them.';
  if (Math.abs(skewMs) > skewFailMs) {
    return fail(name, detail, advice);
  }
  return Math.abs(skewMs) > skewWarnMs ? warn(name, detail, advice) : ok(name, detail);
}

function infoField(info: string, field: string): string {
  return new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? 'unknown';
}
