import { Queue } from 'bullmq';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';
import { findFreePort } from '../../scripts/databases/ports.js';
import { withFault, withProxy } from '../support/mongo-faults.js';
import { startPrivateMongo, type Outage } from '../support/outage.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';
import { startProxy, type TestProxy } from '../webhooks/support/proxy.js';

describe('topup doctor, transaction lifetime', () => {
  let stack: Stack;
  let mongo: Outage;
  let admin: MongoClient;

  before(async () => {
    mongo = await withProxy(await startPrivateMongo());
    stack = await startStack({ web: false, env: { MONGODB_URI: mongo.url } });
    admin = new MongoClient(mongo.url);
  });
  after(async () => {
    await admin.close();
    await stack.stop();
    await mongo.stop();
  });

  const found = async (): Promise<Diagnosis | undefined> => {
    const { checks } = (await topup(['doctor', '--json'], stack.env)).json<{ checks: Diagnosis[] }>();
    expect(checks.find((each) => each.name === 'MongoDB replica set')?.status).to.equal('ok');
    return checks.find((each) => each.name === 'MongoDB lock lifetime');
  };
  const set = (transactionLifetimeLimitSeconds: number) =>
    admin.db('admin').command({ setParameter: 1, transactionLifetimeLimitSeconds });

  it('reports only MongoDB if it is unreachable', async () => {
    await mongo.cut();
    try {
      const { code, stdout } = await topup(['doctor'], stack.env);
      expect(code).to.equal(1);
      expect(stdout)
        .to.include('MongoDB')
        .and.not.match(/correct REDIS_URL|Topology/);
      expect(stdout).to.match(/Redis +version/);
    } finally {
      await mongo.restore();
    }
  });

  it('warns above 10 s with the command to change it, and passes after that', async () => {
    const asItComes = await found();
    expect(asItComes).to.include({ status: 'warn' });
    expect(asItComes?.detail).to.include('transactionLifetimeLimitSeconds is 60');
    const advised = /setParameter: 1, transactionLifetimeLimitSeconds: (\d+)/.exec(asItComes?.advice ?? '');
    await set(Number(advised?.[1]));
    expect(await found()).to.include({ status: 'ok', detail: '10 s' });
    await set(11);
    expect(await found()).to.include({ status: 'warn' });
  });

  it('reports nothing if the database user may not read the lifetime', async () => {
    const uri = stack.env['MONGODB_URI'] ?? '';
    const seen = await withFault({ commands: ['getParameter'], kind: 'forbidden', uri }, found);
    expect(seen).to.equal(undefined);
  });
});

describe('topup doctor, webhook proxy', () => {
  let stack: Stack;
  let proxy: TestProxy;
  before(async () => {
    [stack, proxy] = await Promise.all([startStack({ web: false }), startProxy()]);
  });
  after(async () => {
    await Promise.all([stack.stop(), proxy.close()]);
  });

  const found = async (url: string) => {
    const result = await topup(['doctor', '--json'], { ...stack.env, WEBHOOK_PROXY_URL: url });
    expect(result.stdout + result.stderr).not.to.contain('geheim');
    const { checks } = result.json<{ checks: Diagnosis[] }>();
    return checks.find(({ name }) => name === 'WEBHOOK_PROXY_URL');
  };

  it('reports whether the proxy accepts calls, and nothing without a proxy', async () => {
    expect(await found('')).to.equal(undefined);
    expect(await found(proxy.url)).to.include({ status: 'ok', detail: 'accepts calls' });
    expect(await found(`http://user:geheim@127.0.0.1:${proxy.port}`)).to.include({
      status: 'fail',
      detail: 'The proxy returned 407 (HTTP_407)',
    });
    const unreachable = await found(`http://user:geheim@127.0.0.1:${await findFreePort()}`);
    expect(unreachable?.detail).to.equal('The proxy is unreachable (ECONNREFUSED)');
  });
});

describe('topup doctor, workers', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ web: false });
  });
  after(() => stack.stop());

  const queues = async () => {
    const result = await topup(['doctor', '--json'], stack.env);
    const { checks } = result.json<{ checks: Diagnosis[] }>();
    return { code: result.code, checks: checks.filter(({ name }) => name.startsWith('queue ')) };
  };

  it('fails without any worker and warns about missing process types', async () => {
    const without = await queues();
    expect(without.code).to.equal(1);
    expect(new Set(without.checks.map(({ status }) => status))).to.deep.equal(new Set(['fail']));
    await stack.startWorker('reports');
    const { checks } = await queues();
    expect(checks.find(({ name }) => name === 'queue reports')?.status).to.equal('ok');
    expect(checks.find(({ name }) => name === 'queue fulfilment')?.status).to.equal('warn');
  });
});

describe('topup doctor, required processes', function () {
  this.timeout(120_000);
  let stack: Stack;
  before(async () => {
    stack = await startStack({ web: false });
  });
  after(() => stack.stop());

  const look = async () => {
    const result = await topup(['doctor', '--json'], stack.env);
    const { checks } = result.json<{ checks: Diagnosis[] }>();
    return { code: result.code, of: (name: string) => checks.find((each) => each.name === name) };
  };

  it('reports that a stopped service does not run', async () => {
    const { code, of } = await look();
    expect(code).to.equal(1);
    expect(of('processes')).to.include({ status: 'fail', detail: 'none is running: the service is down' });
    expect(of('process web')).to.equal(undefined);
  });

  it('fails without a web process or without a follow-up worker', async () => {
    const web = await stack.startWeb();
    const reports = await stack.startWorker('reports');
    const withoutFollowUp = await look();
    expect(withoutFollowUp.code).to.equal(1);
    expect(withoutFollowUp.of('process follow-up')).to.include({ status: 'fail', detail: 'none is running' });
    expect(withoutFollowUp.of('process web')).to.include({ status: 'ok' });
    await stack.startWorker('all');
    const { code, of } = await look();
    expect(of('process follow-up')).to.equal(undefined);
    expect(of('processes')).to.equal(undefined);
    expect(code).to.equal(0);
    await web.stop();
    await reports.stop();
    const withoutWeb = await look();
    expect(withoutWeb.code).to.equal(1);
    expect(withoutWeb.of('process web')).to.include({ status: 'fail', detail: 'none is running' });
    expect(withoutWeb.of('process web')?.advice).to.match(/node dist\/src\/server\.js/);
  });
});

describe('topup doctor, overdue delayed job', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ workers: ['reports'] });
  });
  after(() => stack.stop());

  it('fails without a worker, because BullMQ keeps the job delayed until one runs', async () => {
    const queue = new Queue('inquiries', {
      connection: { url: stack.env['REDIS_URL'] ?? '' },
      prefix: stack.env['QUEUE_PREFIX'] ?? '',
    });
    const check = async () => {
      const { checks } = (await topup(['doctor', '--json'], stack.env)).json<{ checks: Diagnosis[] }>();
      return checks.find(({ name }) => name === 'queue inquiries');
    };
    try {
      await queue.add('made-up', {}, { timestamp: Date.now(), delay: 50_000 });
      expect(await check()).to.include({ status: 'warn' });
      const addedAtMs = Date.now();
      await queue.add('made-up', {}, { timestamp: addedAtMs - 120_000, delay: 50_000 });
      const found = await check();
      expect(found).to.include({ status: 'fail' });
      const [, dueForS] = /2 delayed, .* a job has been due for (\d+) s$/.exec(found?.detail ?? '') ?? [];
      expect(Number(dueForS), found?.detail).to.be.within(70, 71 + (Date.now() - addedAtMs) / 1_000);
    } finally {
      await queue.obliterate({ force: true });
      await queue.close();
    }
  });
});
