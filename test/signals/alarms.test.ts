/** Alarms without Prometheus: once when they begin, once when they are over, whoever looks. */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { standingAlarms, type StandingAlarm } from '../../src/alarms/alarm.model.js';
import { connectMongo, disconnectMongo } from '../../src/database/mongo.js';
import { alarmRules, alarmsOf } from '../../src/signals/alarms.js';
import { figure } from '../../src/signals/figures.js';
import { claimToTell } from '../../src/signals/tell-alarms.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { startPrivateMongo, type Outage } from '../support/outage.js';
import { startPrivateRedis, type PrivateRedis } from '../support/private-redis.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';
import { startProgram, type RunningProgram } from '../support/start-program.js';

/** Each lasts for more than the half minute after which it is an alarm. */
const outages = sizes.silence.isPlayed ? it : it.skip;
const secretPath = '/services/T000/B000/secret-of-the-channel';

describe('the alarms', () => {
  it('have the names, times and severities of the alerts of Prometheus', () => {
    const text = readFileSync('ops/prometheus/rules.yml', 'utf8');
    for (const { name, severity, forMs, keepMs = 0 } of alarmRules) {
      const [rule = ''] = new RegExp(`alert: ${name}\\n[^]*?runbook`).exec(text) ?? [];
      const said = (field: string) => new RegExp(`^ +${field}: (\\w+)$`, 'm').exec(rule)?.[1];
      const times = [said('for'), said('keep_firing_for') ?? '0m'].map(millisecondsOf);
      expect([...times, said('severity')], name).to.deep.equal([forMs, keepMs, severity]);
    }
  });

  it('say nothing of what nobody could find out, neither that it is so nor that it is not', () => {
    const found = [
      figure('topup_queue_jobs', { queue: 'a', state: 'waiting' }, 2),
      figure('topup_queue_jobs', { queue: 'b', state: 'waiting' }, 2),
      figure('topup_queue_jobs', { queue: 'c', state: 'waiting' }, 2),
      figure('topup_queue_workers', { queue: 'a' }, 0),
      figure('topup_queue_workers', { queue: 'b' }, 1),
    ];
    const { firing, isFine } = alarmsOf({ atMs: Date.now(), found });
    expect(firing.map(({ id }) => id)).to.deep.equal(['TopupQueueNotTaken a waiting']);
    const fineOf = (ids: string[]) => ids.filter(isFine);
    expect(fineOf(['a', 'b', 'c'].map((queue) => `TopupQueueNotTaken ${queue} waiting`))).to.deep.equal([
      'TopupQueueNotTaken b waiting',
      'TopupQueueNotTaken c waiting',
    ]);
    expect(fineOf(['TopupLedgerRed', 'TopupProcessSilent web silent'])).to.deep.equal([]);
  });

  it('are over where what they were about is forgotten, such as a process that was killed', () => {
    const found = [figure('topup_processes', { type: 'web', state: 'silent' }, 0)];
    const { isFine } = alarmsOf({ atMs: Date.now(), found });
    expect(isFine('TopupProcessSilent follow-up silent')).to.equal(true);
  });
});

function millisecondsOf(text = ''): number {
  const unitMs = { s: 1_000, m: 60_000, h: 3_600_000 }[text.slice(-1)] ?? NaN;
  return parseInt(text, 10) * unitMs;
}

describe('who tells an alarm', () => {
  before(() => connectMongo());
  after(() => disconnectMongo());

  const plant = async (more: Partial<StandingAlarm> = {}): Promise<StandingAlarm> => {
    const seen = {
      _id: uniqueRef('alarm'),
      since: new Date(),
      seenAt: null,
      told: false,
      claimedUntil: new Date(0),
      ...more,
    };
    await standingAlarms.insertOne(seen);
    return seen;
  };

  it('nobody while another process is at it, and another one when that has died', async () => {
    const seen = await plant();
    expect(await Promise.all([claimToTell(seen), claimToTell(seen)])).to.have.members([true, false]);
    await standingAlarms.updateOne({ _id: seen._id }, { $set: { claimedUntil: new Date(0) } });
    expect(await claimToTell(seen)).to.equal(true);
  });

  it('nobody who saw it before another process has told it, or before it was another alarm', async () => {
    const seen = await plant({ told: true });
    expect(await claimToTell({ ...seen, told: false })).to.equal(false);
    expect(await claimToTell({ ...seen, since: new Date(0) })).to.equal(false);
    expect(await claimToTell(seen)).to.equal(true);
  });
});

describe('ALERT_WEBHOOK_URL', function () {
  this.timeout(240_000);
  let stack: Stack;
  let redis: PrivateRedis;
  let mongo: Outage;
  let workers: RunningProgram[];
  let receiver: http.Server;
  const told: string[] = [];
  /** The receiver refuses so many messages. */
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
        told.push((JSON.parse(body) as { text: string }).text);
        response.end('ok');
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.address() as AddressInfo;
    [redis, mongo] = await Promise.all([startPrivateRedis(), startPrivateMongo()]);
    stack = await startStack({
      web: false,
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

  const about = (name: string) => told.filter((text) => text.includes(name));

  it('hears of a red ledger once when it begins and once when it is over, from two processes, though the first message was refused', async () => {
    refuses = 1;
    const verifications = stack.db.collection<{ _id: string }>('ledgerVerifications');
    const red = { at: new Date(), durationMs: 1, ok: false, failures: 3, checks: [], findings: [] };
    await verifications.updateOne({ _id: '9999-01-01' }, { $set: red }, { upsert: true });
    await eventually('the alarm', () => about('TopupLedgerRed').length === 1, 90_000);
    expect(about('TopupLedgerRed')[0]).to.match(/^\[page\] TopupLedgerRed: .*3 mistakes.*#topupledgerred$/);
    await verifications.updateOne({ _id: '9999-01-01' }, { $set: { ok: true, failures: 0 } });
    await eventually('its end', () => about('TopupLedgerRed').length === 2, 90_000);
    expect(about('TopupLedgerRed')[1]).to.match(/^\[over\] TopupLedgerRed/);
  });

  outages('hears that Redis takes no writes, and that it does again', async () => {
    const client = new Redis(redis.url);
    await client.config('SET', 'maxmemory', '1');
    try {
      await eventually('the alarm', () => about('TopupRedisDown').length === 1, 90_000);
    } finally {
      await client.config('SET', 'maxmemory', '0');
      client.disconnect();
    }
    await eventually('its end', () => about('TopupRedisDown').length === 2, 90_000);
    expect(about('TopupRedisDown').map((text) => text.split(' ')[0])).to.deep.equal(['[page]', '[over]']);
  });

  outages('hears that MongoDB is away, from each process, and that it is back', async () => {
    await mongo.cut();
    try {
      await eventually('the alarm', () => about('TopupMongodbDown').length === workers.length, 120_000);
    } finally {
      await mongo.restore();
    }
    await eventually('its end', () => about('TopupMongodbDown').length === 2 * workers.length, 90_000);
  });

  it('stops a process whose address we do not call, and says why', async () => {
    const env = {
      ...stack.env,
      WEBHOOK_ALLOW_PRIVATE: 'false',
      ALERT_WEBHOOK_URL: 'https://10.0.0.5/secret-path',
    };
    const started = await startProgram('workers/run.js', ['follow-up'], env).catch((error: unknown) => error);
    expect(String(started))
      .to.include('ALERT_WEBHOOK_URL must not be a private or reserved address')
      .and.not.include('secret-path');
  });

  it('is nowhere in the logs', () => {
    // Whoever comes first tells.
    const logs = workers.map((worker) => worker.output()).join('\n');
    expect(logs).to.include('alarm told').and.not.include('secret-of-the-channel');
  });
});
