/**
 * Alarms without Prometheus. Exactly one process announces the start of an alarm, and exactly one
 * its end.
 */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import {
  activeAlarmFilter,
  redisDownId,
  storedAlarms,
  type StoredAlarm,
} from '../../src/alarms/alarm.model.js';
import { findFreePort } from '../../scripts/databases/ports.js';
import { disconnectMongo } from '../../src/database/mongo.js';
import { diagnoseAlarms } from '../../src/doctor/diagnose-alarms.js';
import { listActiveAlarms } from '../../src/alarms/active-alarms.js';
import { countProcesses, announcePresence } from '../../src/redis/presence.js';
import { diagnoseRedis } from '../../src/doctor/diagnose-databases.js';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';
import { connectRedis, disconnectRedis } from '../../src/redis/connection.js';
import { alarmRules, evaluateAlarms } from '../../src/signals/alarm-rules.js';
import { buildFigure } from '../../src/signals/figures.js';
import { beginAlarm, claimNotification, endAlarm, isOver } from '../../src/signals/notify-alarms.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { startPrivateMongo, startTcpGate, type Outage } from '../support/outage.js';
import { startPrivateRedis, type PrivateRedis } from '../support/private-redis.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';
import { startProgram, type RunningProgram } from '../support/start-program.js';
import { connectMongoWhenReady } from '../support/connect-mongo.js';

/**
 * Skips the outage tests in quick runs. Each of them takes longer than the half minute after which
 * an outage raises an alarm.
 */
const outages = sizes.silence.isPlayed ? it : it.skip;
const secretPath = '/services/T000/B000/secret-of-the-channel';

describe('alarm rules', () => {
  it('have the names, times and severities of the Prometheus alerts', () => {
    const text = readFileSync('ops/prometheus/rules.yml', 'utf8');
    for (const { name, severity, forMs, keepMs = 0 } of alarmRules) {
      const [rule = ''] = new RegExp(`alert: ${name}\\n[^]*?runbook`).exec(text) ?? [];
      const readField = (field: string) => new RegExp(`^ +${field}: (\\w+)$`, 'm').exec(rule)?.[1];
      const times = [readField('for'), readField('keep_firing_for') ?? '0m'].map(millisecondsOf);
      expect([...times, readField('severity')], name).to.deep.equal([forMs, keepMs, severity]);
    }
  });

  it('give no verdict without figures: neither firing nor fine', () => {
    const found = [
      buildFigure('topup_queue_jobs', { queue: 'a', state: 'waiting' }, 2),
      buildFigure('topup_queue_jobs', { queue: 'b', state: 'waiting' }, 2),
      buildFigure('topup_queue_jobs', { queue: 'c', state: 'waiting' }, 2),
      buildFigure('topup_queue_workers', { queue: 'a' }, 0),
      buildFigure('topup_queue_workers', { queue: 'b' }, 1),
    ];
    const { firing, isFine } = evaluateAlarms({ atMs: Date.now(), found });
    expect(firing.map(({ id }) => id)).to.deep.equal(['TopupQueueNotTaken a waiting']);
    const fineOf = (ids: string[]) => ids.filter(isFine);
    expect(fineOf(['a', 'b', 'c'].map((queue) => `TopupQueueNotTaken ${queue} waiting`))).to.deep.equal([
      'TopupQueueNotTaken b waiting',
      'TopupQueueNotTaken c waiting',
    ]);
    expect(fineOf(['TopupLedgerRed', 'TopupProcessSilent web silent'])).to.deep.equal([]);
  });

  it('end when their subject is forgotten, such as a killed process', () => {
    const found = [buildFigure('topup_processes', { type: 'web', state: 'silent' }, 0)];
    const { isFine } = evaluateAlarms({ atMs: Date.now(), found });
    expect(isFine('TopupProcessSilent follow-up silent')).to.equal(true);
  });
});

function millisecondsOf(text = ''): number {
  const unitMs = { s: 1_000, m: 60_000, h: 3_600_000 }[text.slice(-1)] ?? NaN;
  return parseInt(text, 10) * unitMs;
}

describe('claim of an alarm message', () => {
  before(() => connectMongoWhenReady());
  after(() => disconnectMongo());

  const plant = async (more: Partial<StoredAlarm> = {}): Promise<StoredAlarm> => {
    const seen = {
      _id: uniqueRef('alarm'),
      since: new Date(),
      seenAt: null,
      told: false,
      claimedUntil: new Date(0),
      ...more,
    };
    await storedAlarms.insertOne(seen);
    return seen;
  };

  it('is held by one process, and passes to another when that one dies', async () => {
    const seen = await plant();
    expect(await Promise.all([claimNotification(seen, null), claimNotification(seen, null)])).to.have.members(
      [true, false],
    );
    await storedAlarms.updateOne({ _id: seen._id }, { $set: { claimedUntil: new Date(0) } });
    expect(await claimNotification(seen, null)).to.equal(true);
  });

  it('is refused on a stale view: already announced, or an earlier alarm', async () => {
    const seen = await plant({ told: true });
    expect(await claimNotification({ ...seen, told: false }, null)).to.equal(false);
    expect(await claimNotification({ ...seen, since: new Date(0) }, null)).to.equal(false);
    expect(await claimNotification(seen, null)).to.equal(true);
  });
});

describe('figures behind an alarm', () => {
  before(() => Promise.all([connectMongoWhenReady(), connectRedis(null)]));
  after(() => Promise.all([disconnectMongo(), disconnectRedis()]));

  const stands = (id: string) => storedAlarms.findOne({ _id: id, ...activeAlarmFilter });

  it('are the newest of any process; older figures neither start nor end an alarm', async () => {
    const id = uniqueRef('alarm');
    await beginAlarm({ id, severity: 'page' }, 2_000);
    const first = await stands(id);
    expect(first).to.include({ told: false, judgedAtMs: 2_000 });
    const isFine = () => true;
    expect(isOver(first as StoredAlarm, { isFine, judgedAtMs: 1_000 })).to.equal(false);
    expect(isOver(first as StoredAlarm, { isFine, judgedAtMs: 3_000 })).to.equal(true);
    await endAlarm(first as StoredAlarm, 3_000);
    await beginAlarm({ id, severity: 'page' }, 2_500);
    await beginAlarm({ id, severity: 'page' }, 3_000);
    expect(await stands(id)).to.equal(null);
    await storedAlarms.updateOne({ _id: id }, { $set: { refusal: 'it returned 500' } });
    await beginAlarm({ id, severity: 'page' }, 3_001);
    // This alarm must not inherit the refusal of the previous alarm's message.
    expect(await stands(id)).to.include({ told: false, judgedAtMs: 3_001, refusal: null });
    await beginAlarm({ id, severity: 'page' }, 3_001);
    expect(await storedAlarms.countDocuments({ _id: id })).to.equal(1);
  });

  it('about Redis come only from processes that lost Redis; healthy ones end no alarm', async () => {
    await beginAlarm({ id: redisDownId, severity: 'page' }, null);
    const seen = (await stands(redisDownId)) as StoredAlarm;
    const byHealthy = { isFine: () => false, judgedAtMs: Date.now() };
    expect(isOver(seen, byHealthy)).to.equal(false);
    expect(isOver({ ...seen, seenAt: new Date(Date.now() - 16_000) }, byHealthy)).to.equal(true);
    const found = await diagnoseRedis();
    expect(found.find(({ name }) => name === 'Redis of others')).to.include({ status: 'fail' });
    await endAlarm(seen, 0);
    expect((await diagnoseRedis()).map(({ name }) => name)).to.not.include('Redis of others');
  });
});

describe('topup doctor and alarms', () => {
  before(() => Promise.all([connectMongoWhenReady(), connectRedis(null)]));
  after(() => Promise.all([disconnectMongo(), disconnectRedis()]));
  beforeEach(() => storedAlarms.deleteMany({}));

  const about = (severity: 'page' | 'ticket', more: Partial<StoredAlarm> = {}) =>
    storedAlarms.insertOne({
      _id: uniqueRef(severity),
      severity,
      since: new Date(),
      seenAt: null,
      told: true,
      claimedUntil: new Date(0),
      ...more,
    });
  const whileSomebodyTells = async (tellsAlarms: boolean, work: () => Promise<void>) => {
    const type = uniqueRef('type');
    const presence = announcePresence(type, { tellsAlarms });
    await eventually('a heartbeat', async () => (await countProcesses())?.get(type)?.alive === 1);
    try {
      await work();
    } finally {
      await presence.stop();
      await disconnectRedis();
      await connectRedis(null);
    }
  };

  it('fails for a page, warns for a ticket, and is ok until an alarm lasts long enough', () =>
    whileSomebodyTells(true, async () => {
      await about('page', { told: false });
      expect((await diagnoseAlarms())[0]).to.include({ status: 'ok' });
      await about('ticket');
      expect((await diagnoseAlarms())[0]).to.include({ status: 'warn' });
      await about('page');
      const [found] = await diagnoseAlarms();
      expect(found?.status).to.equal('fail');
      expect(found?.detail).to.match(/^ticket\S+ \(ticket\), page\S+ \(page\)$/);
    }));

  it('reports neither alarms nor refusals while no process announces alarms', async () => {
    await about('page', { told: false, refusal: 'it returned 500' });
    await whileSomebodyTells(true, async () => {
      expect((await diagnoseAlarms())[0]?.detail).to.match(/^could not be delivered/);
      expect((await listActiveAlarms(9)).alarms[0]?.refusal).to.equal('it returned 500');
    });
    await whileSomebodyTells(false, async () => {
      expect(await diagnoseAlarms()).to.deep.equal([]);
      expect((await listActiveAlarms(9)).alarms[0]?.refusal).to.equal(null);
      const { stdout } = await topup(['alarm', 'list'], process.env);
      expect(stdout).to.match(/^Alarms are not evaluated: no follow-up process/);
      const listed = await topup(['alarm', 'list', '--json'], process.env);
      expect(listed.json()).to.have.property('somebody_looks', false);
    });
    const gate = await startTcpGate(process.env['REDIS_URL'] ?? '');
    gate.hang();
    try {
      const { stdout } = await topup(['alarm', 'list'], { ...process.env, REDIS_URL: gate.url });
      expect(stdout).to.match(/^It is unknown whether alarms are evaluated: Redis does not respond/);
    } finally {
      await gate.stop();
    }
  });
});

describe('ALERT_WEBHOOK_URL', function () {
  this.timeout(240_000);
  let stack: Stack;
  let redis: PrivateRedis;
  let mongo: Outage;
  let workers: RunningProgram[];
  let receiver: http.Server;
  const messages: string[] = [];
  /** How many of the next messages the receiver refuses. */
  let refuses = 0;

  before(async () => {
    receiver = http.createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        if (refuses > 0) {
          refuses -= 1;
          response.writeHead(500).end();
          return;
        }
        expect(request.url).to.equal(secretPath);
        messages.push((JSON.parse(body) as { text: string }).text);
        response.end('ok');
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.address() as AddressInfo;
    [redis, mongo] = await Promise.all([startPrivateRedis(), startPrivateMongo()]);
    stack = await startStack({
      env: {
        ALERT_WEBHOOK_URL: `http://127.0.0.1:${port}${secretPath}`,
        REDIS_URL: redis.url,
        MONGODB_URI: mongo.url,
        LOG_LEVEL: 'info',
      },
    });
    workers = await Promise.all([stack.startWorker('follow-up'), stack.startWorker('follow-up')]);
  });
  after(async () => {
    await stack.stop();
    receiver.close();
    await Promise.all([redis.stop(), mongo.stop()]);
  });

  const about = (name: string) => messages.filter((text) => text.includes(name));

  it('announces a red ledger once at start and end; doctor reports earlier refusals', async () => {
    refuses = Infinity;
    const verifications = stack.db.collection<{ _id: string }>('ledgerVerifications');
    const red = { at: new Date(), durationMs: 1, ok: false, failures: 3, checks: [], findings: [] };
    await verifications.updateOne({ _id: '9999-01-01' }, { $set: red }, { upsert: true });
    const checkOfDoctor = async () => {
      const { checks } = (await topup(['doctor', '--json'], stack.env)).json<{ checks: Diagnosis[] }>();
      return checks.find(({ name }) => name === 'alarms');
    };
    const seen = await eventually(
      'doctor reports the refusal',
      async () => (await checkOfDoctor())?.status === 'fail' && (await checkOfDoctor()),
      90_000,
    );
    expect(seen.detail).to.match(/^could not be delivered: .*TopupLedgerRed \(it returned 500\)/);
    expect(JSON.stringify(seen)).to.not.include('secret-of-the-channel');
    refuses = 0;
    await eventually('the alarm is announced', () => about('TopupLedgerRed').length === 1, 90_000);
    await eventually('doctor fails for the alarm', async () => {
      const check = await checkOfDoctor();
      return check?.status === 'fail' && /^(?!could not).*TopupLedgerRed \(page\)/.test(check.detail);
    });
    expect(about('TopupLedgerRed')[0]).to.match(
      /^\[page\] TopupLedgerRed: .*3 errors.*docs\/guides\/alarms$/,
    );
    await verifications.updateOne({ _id: '9999-01-01' }, { $set: { ok: true, failures: 0 } });
    await eventually('the end is announced', () => about('TopupLedgerRed').length === 2, 90_000);
    expect(about('TopupLedgerRed')[1]).to.match(/^\[over\] TopupLedgerRed/);
  });

  it('is tested by a test message, whose refusal is reported without the address', async () => {
    const taken = await topup(['alarm', 'test'], stack.env);
    expect(taken).to.include({ code: 0, stdout: 'The receiver accepted the message.\n' });
    expect(about('[test]')).to.have.length(1);
    refuses = 1;
    const refused = await topup(['alarm', 'test'], stack.env);
    expect(refused).to.include({ code: 1, stdout: 'The receiver did not accept it: it returned 500.\n' });
    const closed = {
      ...stack.env,
      ALERT_WEBHOOK_URL: `http://127.0.0.1:${await findFreePort()}${secretPath}`,
    };
    const unheard = await topup(['alarm', 'test'], closed);
    expect(unheard).to.include({ code: 1, stdout: 'The receiver did not accept it: connection refused.\n' });
    expect(unheard.stderr).to.not.include('secret-of-the-channel');
    const { ALERT_WEBHOOK_URL: _url, ...without } = stack.env;
    const unset = await topup(['alarm', 'test'], without);
    expect(unset.code).to.equal(1);
    expect(unset.stderr).to.include('ALERT_WEBHOOK_URL is not set here');
  });

  outages('is called when Redis refuses writes and when it accepts them again @sized', async () => {
    const client = new Redis(redis.url);
    await client.config('SET', 'maxmemory', '1');
    try {
      await eventually('the alarm is announced', () => about('TopupRedisDown').length === 1, 90_000);
      // During the outage no process could write a heartbeat. Therefore no process may count as
      // silent.
      const silent = { _id: /^TopupProcessSilent/ as unknown as string, endedAt: null };
      expect(await stack.db.collection<{ _id: string }>('alarms').findOne(silent)).to.equal(null);
      const listed = await topup(['process', 'list'], stack.env);
      expect(listed.code, listed.stdout).to.equal(1);
    } finally {
      await client.config('SET', 'maxmemory', '0');
      client.disconnect();
    }
    await eventually('the end is announced', () => about('TopupRedisDown').length === 2, 90_000);
    expect(about('TopupRedisDown').map((text) => text.split(' ')[0])).to.deep.equal(['[page]', '[over]']);
  });

  outages('is called once when MongoDB is unreachable and once when it is back @sized', async () => {
    await mongo.cut();
    try {
      await eventually('the alarm is announced', () => about('TopupMongodbDown').length === 1, 120_000);
    } finally {
      await mongo.restore();
    }
    await eventually('the end is announced', () => about('TopupMongodbDown').length === 2, 90_000);
    expect(about('TopupMongodbDown').map((text) => text.split(' ')[0])).to.deep.equal(['[page]', '[over]']);
  });

  it('stops a process with a forbidden address and reports the reason', async () => {
    const env = {
      ...stack.env,
      WEBHOOK_ALLOW_PRIVATE: 'false',
      ALERT_WEBHOOK_URL: 'https://10.0.0.5/secret-path',
    };
    const started = await startProgram('workers/run.js', ['follow-up'], env).catch((error: unknown) => error);
    expect(String(started))
      .to.include('"ALERT_WEBHOOK_URL" must not be a private or reserved address')
      .and.include('The configuration is not valid')
      .and.not.include('secret-path');
  });

  it('appears in no log', () => {
    // The alarm may have been announced by any worker.
    const logs = workers.map((worker) => worker.output()).join('\n');
    expect(logs).to.include('alarm sent').and.not.include('secret-of-the-channel');
  });
});
