import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { readDemoFile, type DemoFile } from '../../scripts/start/demo-file.js';
import { consoleClient } from '../support/console-client.js';
import { pathWith } from './resolver.js';
import { eventually, processesOf, sharedDatabases, startCopy, type ServiceCopy } from './service-copy.js';

/** Returns an address of this machine that is not a loopback address. */
function findExternalAddress(): string {
  const all = Object.values(os.networkInterfaces()).flatMap((each) => each ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.2';
}

async function expectRefused(host: string, port: number): Promise<void> {
  const code = await new Promise((resolve) => {
    const socket = net.connect({ host, port }, () => {
      socket.destroy();
      resolve('connected');
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code);
    });
  });
  expect(code, `${host}:${port}`).to.equal('ECONNREFUSED');
}

const serviceNames = ['web', 'fulfilment', 'follow-up', 'webhooks'];
const playgroundNames = ['simulator', 'inbox'];
const accountNames = ['buyer', 'buyer2', 'seller', 'seller2', 'suspended', 'admin'];

describe('npm start', function () {
  this.timeout(120_000);

  describe('a running copy', () => {
    let copy: ServiceCopy;
    let demo: DemoFile;
    const env = sharedDatabases();

    before(async () => {
      copy = startCopy(env);
      demo = await copy.ready();
    });

    after(async () => {
      await copy.end('SIGKILL');
    });

    it('writes addresses, accounts and processes to demo.json', async () => {
      expect(demo.base_url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(demo.mongodb_uri).to.equal(env['MONGODB_URI']);
      expect(demo.redis_url).to.match(/^redis:\/\//);
      expect(demo.accounts).to.include.keys(accountNames);
      for (const [name, account] of Object.entries(demo.accounts)) {
        expect(account.username, name).to.be.a('string');
        expect(account.password ?? (account.api_key && account.webhook_secret), name).to.be.ok;
      }
      expect(demo.processes).to.include.keys([...serviceNames, ...playgroundNames]);
      const pids = Object.values(demo.processes).map(({ pid }) => pid);
      expect(new Set(pids).size).to.equal(pids.length);
      expect(demo.processes['web']?.port).to.equal(Number(new URL(demo.base_url).port));
      expect(demo.processes['inbox']?.port).to.equal(Number(new URL(demo.inbox_url ?? '').port));
      expect(demo.processes['follow-up']?.port).to.equal(null);
      for (const url of [demo.base_url, demo.simulator_url, demo.inbox_url]) {
        expect((await fetch(`${url ?? ''}/healthz`)).status, url ?? '').to.equal(200);
      }
    });

    it('prints addresses, keys, databases, test numbers and sample calls', () => {
      const printed = copy.printed();
      for (const text of [
        demo.base_url,
        `${demo.base_url}/admin   `,
        `${demo.base_url}/docs`,
        demo.simulator_url ?? '',
        demo.accounts['buyer']?.api_key ?? '',
        'MONGODB_URI',
        '081234561235',
        '/api/buyer/deposit',
        '/api/buyer/transaction',
        '/api/reseller/request?username=buyer&sign=',
      ]) {
        expect(printed).to.contain(text);
      }
    });

    it('listens only on this machine', async () => {
      for (const url of [demo.base_url, demo.simulator_url, demo.inbox_url]) {
        await expectRefused(findExternalAddress(), Number(new URL(url ?? '').port));
      }
    });

    it('prints a random console password once and keeps it private', async () => {
      const password = demo.accounts['admin']?.password ?? '';
      expect(password).to.match(/^[\w-]{20}$/);
      const file = path.join(copy.localDir, 'admin-password');
      expect(fs.readFileSync(file, 'utf8').trim()).to.equal(password);
      expect(fs.statSync(file).mode & 0o077).to.equal(0);
      expect(copy.printed()).to.contain(`admin / ${password}`).and.contain(file);
      const login = await consoleClient(demo.base_url, '192.0.2.1').login('admin', password);
      expect(login.status).to.equal(303);
    });

    it('restarts a killed process and updates its pid in demo.json', async () => {
      const before = demo.processes['fulfilment']?.pid ?? 0;
      process.kill(before, 'SIGKILL');
      const now = await eventually('demo.json has another pid', () => {
        const pid = readDemoFile(copy.localDir)?.processes['fulfilment']?.pid ?? before;
        return pid === before ? null : pid;
      });
      expect(processesOf(copy.localDir)).to.include(now);
    });

    it('completes npm run demo', async () => {
      const play = startCopy({ LOCAL_DIR: copy.localDir }, { script: 'demo' });
      const { code } = await play.ended();
      expect(play.printed())
        .to.contain('The purchase works from end to end')
        .and.contain('Look at the console now');
      expect(code).to.equal(0);
    });

    it('refuses a second start and a reset of its directory', async () => {
      for (const script of ['start', 'reset']) {
        const other = startCopy({ ...env, LOCAL_DIR: copy.localDir }, { script });
        expect((await other.ended()).code, script).to.equal(1);
        expect(other.printed(), script)
          .to.contain(copy.localDir)
          .and.contain(`process ${copy.process.pid ?? 0}`);
      }
    });

    it('names PORT and the solution if the port is taken', async () => {
      const port = new URL(demo.base_url).port;
      const other = startCopy({ ...env, PORT: port });
      expect((await other.ended()).code).to.equal(1);
      expect(other.printed()).to.contain(`PORT=${port} is already in use`).and.contain('npm start');
    });

    it('stops its processes after a kill and restarts with the same data', async () => {
      await copy.end('SIGKILL');
      await eventually('every process has ended', () =>
        processesOf(copy.localDir).length === 0 ? true : null,
      );

      copy = startCopy({ ...env, LOCAL_DIR: copy.localDir, LISTEN_ADDRESS: '0.0.0.0' });
      const again = await copy.ready();
      expect(again.accounts['buyer']).to.deep.equal(demo.accounts['buyer']);
      expect(again.inbox_url).to.equal(demo.inbox_url);
      const { password = '' } = demo.accounts['admin'] ?? {};
      expect(again.accounts['admin']?.password).to.equal(password);
      expect(copy.printed()).to.contain('its password is in').and.not.contain(password);
    });

    it('warns if it listens on other addresses', async () => {
      const { port } = new URL(readDemoFile(copy.localDir)?.base_url ?? '');
      expect((await fetch(`http://${findExternalAddress()}:${port}/healthz`)).status).to.equal(200);
      expect(copy.printed()).to.contain('WARNING: it listens on 0.0.0.0');
    });

    it('stops in order within 30 s on SIGTERM and removes demo.json', async () => {
      const { code, tookMs } = await copy.end('SIGTERM');
      expect(code).to.equal(0);
      expect(tookMs).to.be.below(30_000);
      expect(processesOf(copy.localDir)).to.deep.equal([]);
      expect(fs.existsSync(path.join(copy.localDir, 'demo.json'))).to.equal(false);
    });

    it('can be emptied by npm run reset after it has stopped', async () => {
      const reset = startCopy({ LOCAL_DIR: copy.localDir }, { script: 'reset' });
      expect((await reset.ended()).code).to.equal(0);
      expect(fs.readdirSync(copy.localDir)).to.deep.equal([]);
    });
  });

  it('completes npm run demo when both start at the same moment', async () => {
    const copy = startCopy(sharedDatabases());
    const play = startCopy({ ...sharedDatabases(), LOCAL_DIR: copy.localDir }, { script: 'demo' });
    const { code } = await play.ended();
    expect(code, play.printed()).to.equal(0);
    await copy.end('SIGTERM');
    await eventually('every process has ended', () =>
      processesOf(copy.localDir).length === 0 ? true : null,
    );
  });

  for (const [script, moment] of [
    ['start', 'starting redis-server'],
    ['start', 'demo accounts'],
    ['start', 'Starting the service'],
    ['demo', 'starting redis-server'],
    ['demo', 'Starting the service'],
    ['demo', 'Purchase accepted'],
  ] as const) {
    it(`npm run ${script} exits with 130 and one line on Ctrl-C (at "${moment}")`, async () => {
      const copy = startCopy({ ...sharedDatabases(), REDIS_URL: '' }, { script });
      await copy.prints(moment);
      const { code, tookMs } = await copy.end('SIGINT');
      expect(code, copy.printed()).to.equal(130);
      expect(tookMs).to.be.below(moment === 'Purchase accepted' ? 30_000 : 10_000);
      expect(processesOf(copy.localDir)).to.deep.equal([]);
      const stopped = copy.printed().trimEnd().split('\n').at(-1);
      expect(stopped).to.contain('Ctrl-C: stopping …');
    });
  }

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`stops every process when npm ends with ${signal}`, async () => {
      const copy = startCopy(sharedDatabases(), { byNpm: true });
      await copy.ready();
      copy.process.kill(signal);
      await eventually('every process has ended', () =>
        processesOf(copy.localDir).length === 0 ? true : null,
      );
      await eventually('demo.json is gone', () => (readDemoFile(copy.localDir) === null ? true : null));
    });
  }

  it('lists every configuration error and leaves no process running', async () => {
    const copy = startCopy({ ...sharedDatabases(), COMMISSION_RATE: '7', BUSINESS_TIMEZONE: 'Moon/Crater' });
    expect((await copy.ended()).code).to.equal(1);
    expect(copy.printed()).to.contain('COMMISSION_RATE').and.contain('BUSINESS_TIMEZONE');
    expect(processesOf(copy.localDir)).to.deep.equal([]);
  });

  it('installs no Redis without consent and names the option', async () => {
    const path = pathWith({});
    const copy = startCopy({ ...sharedDatabases(), REDIS_URL: '', INSTALL_REDIS: '', PATH: path });
    expect((await copy.ended()).code).to.equal(1);
    expect(copy.printed()).to.contain('npm start -- --install-redis').and.not.contain('installing redis');
    expect(processesOf(copy.localDir)).to.deep.equal([]);
  });

  it('explains why it refuses production without database addresses', async () => {
    const copy = startCopy({ NODE_ENV: 'production', MONGODB_URI: '', REDIS_URL: '' });
    expect((await copy.ended()).code).to.equal(1);
    expect(copy.printed())
      .to.match(/(MONGODB_URI|REDIS_URL) is not set/)
      .and.contain('NODE_ENV=production');
  });
});
