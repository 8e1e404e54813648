import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { findOnPath } from '../../scripts/databases/commands.js';
import { pathWith, resolve, type Resolution } from './resolver.js';
import { skipBecause } from '../support/skip-because.js';

const realServer = findOnPath('redis-server', process.env) ?? findOnPath('valkey-server', process.env);
const givenUrl = process.env['REDIS_URL'] ?? '';

/**
 * Starts a fake Redis that replies to INFO with this line and to every other command with an empty
 * list.
 */
async function fakeRedis(info: string): Promise<{ url: string; close: () => void }> {
  const server = net.createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        const commands = data
          .toString()
          .split(/^\*\d+\r\n/m)
          .slice(1);
        commands.forEach((each) => {
          socket.write(
            /info/i.test(each)
              ? `$${info.length}\r\n${info}\r\n`
              : /scan/i.test(each)
                ? '*2\r\n$1\r\n0\r\n*0\r\n'
                : '*0\r\n',
          );
        });
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  };
}

describe('Redis resolver', () => {
  const open: Resolution[] = [];

  async function resolveRedis(options: Parameters<typeof resolve>[1]): Promise<Resolution> {
    const resolution = await resolve('redis', options);
    open.push(resolution);
    return resolution;
  }

  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.stop()));
  });

  function needsServer(test: Mocha.Context): string {
    return realServer ?? skipBecause(test, 'redis-server is missing: apt-get install redis-server');
  }

  it('prefers REDIS_URL and starts nothing', async () => {
    const { database, localDir } = await resolveRedis({
      env: { REDIS_URL: givenUrl, PATH: pathWith({ 'redis-server': { script: 'exit 1' } }) },
    });
    expect(database?.url).to.equal(givenUrl);
    expect(database?.used).to.contain('REDIS_URL');
    expect(fs.readdirSync(localDir)).to.deep.equal([]);
  });

  it('reports an unreachable REDIS_URL without its password', async () => {
    const { database, refusal } = await resolveRedis({
      env: { REDIS_URL: 'redis://user:hidden-word@127.0.0.1:9', PATH: process.env['PATH'] },
    });
    expect(database).to.equal(null);
    expect(refusal).to.contain('REDIS_URL').and.contain('127.0.0.1:9').and.not.contain('hidden-word');
  });

  it('starts redis-server from PATH with a free port, noeviction and an AOF', async function () {
    const env = { PATH: pathWith({ 'redis-server': { link: needsServer(this) } }) };
    const { database, localDir } = await resolveRedis({ env });
    expect(database?.used).to.equal('redis-server on PATH');
    expect(new URL(database?.url ?? '').port).not.to.equal('6379');
    const redis = new Redis(database?.url ?? '');
    const settings = await redis.config(
      'GET',
      'maxmemory-policy',
      'appendonly',
      'appendfsync',
      'dir',
      'bind',
    );
    redis.disconnect();
    expect(settings).to.have.members([
      'maxmemory-policy',
      'noeviction',
      'appendonly',
      'yes',
      'appendfsync',
      'everysec',
      'dir',
      fs.realpathSync(path.join(localDir, 'redis')),
      'bind',
      '127.0.0.1',
    ]);
  });

  it('uses valkey-server if redis-server is missing', async function () {
    const env = { PATH: pathWith({ 'valkey-server': { link: needsServer(this) } }) };
    expect((await resolveRedis({ env })).database?.used).to.equal('valkey-server on PATH');
  });

  it('keeps its data and its port across a restart', async function () {
    const env = { PATH: pathWith({ 'redis-server': { link: needsServer(this) } }) };
    const first = await resolveRedis({ env });
    const writer = new Redis(first.database?.url ?? '');
    await writer.set('kept', 'yes');
    writer.disconnect();
    await first.stop();

    const second = await resolveRedis({ env, localDir: first.localDir });
    const reader = new Redis(second.database?.url ?? '');
    expect(await reader.get('kept')).to.equal('yes');
    reader.disconnect();
    expect(second.database?.url).to.equal(first.database?.url);
  });

  it('skips an outdated server', async () => {
    const env = {
      PATH: pathWith({
        'redis-server': { script: 'echo "Redis server v=5.0.7 sha=0:0"' },
        'apt-get': { script: 'exit 1' },
        npm: { script: 'exit 1' },
      }),
      INSTALL_REDIS: '1',
    };
    const { database, said } = await resolveRedis({ env });
    expect(database).to.equal(null);
    expect(said.join('\n')).to.contain('version 5.0 is too old');
  });

  /** Returns a PATH whose apt-get "installs" the real Redis server. */
  function pathWithApt(test: Mocha.Context): string {
    const server = needsServer(test);
    if (process.getuid?.() !== 0 || !fs.existsSync('/etc/debian_version')) {
      skipBecause(test, 'this needs root on Debian');
    }
    const dir = pathWith({});
    const apt = `[ "$1" != install ] || /bin/ln -s ${server} ${dir}/redis-server`;
    fs.writeFileSync(path.join(dir, 'apt-get'), `#!/bin/sh\n${apt}\n`, { mode: 0o755 });
    return dir;
  }

  it('installs redis-server by apt-get as root with INSTALL_REDIS=1', async function () {
    const { database, said } = await resolveRedis({
      env: { PATH: pathWithApt(this), INSTALL_REDIS: '1' },
    });
    expect(database?.used).to.equal('redis-server, installed by apt-get');
    expect(said.join('\n')).to.contain('installing redis-server with apt-get');
  });

  it('asks at the terminal and installs after a yes', async function () {
    const questions: string[] = [];
    const { database } = await resolveRedis({
      env: { PATH: pathWithApt(this) },
      confirm: (question) => {
        questions.push(question);
        return Promise.resolve(true);
      },
    });
    expect(database?.used).to.equal('redis-server, installed by apt-get');
    expect(questions).to.have.length(1);
    expect(questions[0]).to.contain('redis-server').and.contain('apt-get as root');
  });

  for (const [who, confirm] of [
    ['the answer at the terminal is no', () => Promise.resolve(false)],
    ['there is no terminal', undefined],
  ] as const) {
    it(`installs nothing when ${who} and names the option and the command`, async () => {
      const touched = path.join(pathWith({}), 'touched');
      const script = `/bin/touch ${touched}`;
      const { database, refusal } = await resolveRedis({
        env: { PATH: pathWith({ 'apt-get': { script }, npm: { script } }) },
        ...(confirm && { confirm }),
      });
      expect(database).to.equal(null);
      expect(fs.existsSync(touched)).to.equal(false);
      expect(refusal)
        .to.contain('npm start -- --install-redis')
        .and.contain('INSTALL_REDIS=1')
        .and.contain('sudo apt-get install redis-server');
    });
  }

  it('reuses an earlier build without asking', async function () {
    const localDir = fs.mkdtempSync(path.join(os.tmpdir(), 'topup-resolver-'));
    fs.mkdirSync(path.join(localDir, 'redis-memory-server'));
    fs.writeFileSync(path.join(localDir, 'redis-memory-server', 'program'), needsServer(this));
    const { database } = await resolveRedis({ env: { PATH: pathWith({}) }, localDir });
    expect(database?.used).to.equal('redis-memory-server');
  });

  it('names the install command of this system if nothing works', async () => {
    const env = {
      PATH: pathWith({ 'apt-get': { script: 'exit 100' }, npm: { script: 'exit 1' } }),
      INSTALL_REDIS: '1',
    };
    const { database, refusal, said } = await resolveRedis({ env });
    expect(database).to.equal(null);
    expect(refusal).to.contain('sudo apt-get install redis-server').and.contain('REDIS_URL');
    expect(said.join('\n')).to.match(/no usable redis-server[^]*apt-get[^]*redis-memory-server/);
  });

  describe('a Redis at the default address without an installed one', () => {
    const PATH = pathWith({ npm: { script: 'exit 1' } });
    const QUEUE_PREFIX = `resolver-${randomUUID().slice(0, 8)}`;

    it('is used only after consent', async () => {
      const asked: string[] = [];
      const { database } = await resolveRedis({
        env: { PATH, QUEUE_PREFIX },
        usualRedisUrl: givenUrl,
        confirm: (question) => Promise.resolve(asked.push(question) > 0),
      });
      expect(database?.url).to.equal(givenUrl);
      expect(asked).to.have.length(1);
      expect(asked[0]).to.contain(givenUrl).and.contain(QUEUE_PREFIX);
    });

    it('is not used after a no', async () => {
      const { database, refusal } = await resolveRedis({
        env: { PATH, QUEUE_PREFIX },
        usualRedisUrl: givenUrl,
        confirm: () => Promise.resolve(false),
      });
      expect(database).to.equal(null);
      expect(refusal).to.contain('No usable Redis was found');
    });

    it('is not used without a terminal; the message names REDIS_URL', async () => {
      const { database, said } = await resolveRedis({ env: { PATH, QUEUE_PREFIX }, usualRedisUrl: givenUrl });
      expect(database).to.equal(null);
      expect(said.join('\n')).to.contain(`set REDIS_URL=${givenUrl}`);
    });

    it('is reported if it already holds keys with the prefix', async () => {
      const redis = new Redis(givenUrl);
      await redis.set(`${QUEUE_PREFIX}:somebody`, 'theirs', 'EX', 60);
      const { said } = await resolveRedis({ env: { PATH, QUEUE_PREFIX }, usualRedisUrl: givenUrl });
      await redis.del(`${QUEUE_PREFIX}:somebody`);
      redis.disconnect();
      expect(said.join('\n')).to.contain(`holds keys under ${QUEUE_PREFIX}:`);
    });

    it('is skipped if it is outdated', async () => {
      const old = await fakeRedis('redis_version:5.0.14');
      const { database, said } = await resolveRedis({
        env: { PATH, QUEUE_PREFIX },
        usualRedisUrl: old.url,
        confirm: () => Promise.resolve(true),
      });
      old.close();
      expect(database).to.equal(null);
      expect(said.join('\n')).to.contain('has version 5.0.14; 6.2 or newer is needed');
    });
  });

  it('refuses to start in production without REDIS_URL', async () => {
    const { database, refusal } = await resolveRedis({
      env: { NODE_ENV: 'production', PATH: process.env['PATH'] },
    });
    expect(database).to.equal(null);
    expect(refusal).to.contain('REDIS_URL is not set').and.contain('production');
  });
});
