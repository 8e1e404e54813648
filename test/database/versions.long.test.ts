/** Outdated servers. A proxy changes the version that the real servers report. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { describeVersionProblem } from '../../src/shared/server-versions.js';
import { startMongoProxy } from '../support/mongo-proxy.js';
import { startTcpGate, type TcpGate } from '../support/outage.js';
import { startStack, type Stack } from '../support/stack.js';
import { startProgram, type RunningProgram } from '../support/start-program.js';
import { topup } from '../support/topup.js';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';

/** The MongoDB driver itself refuses version 4.2. */
const versionMessages = {
  MongoDB: /MongoDB 4\.\d+\.\d+\S* is too old: this service needs 5\.0 or newer\./,
  Redis: /Redis 5\.\d+\.\d+ is too old: this service needs 6\.2 or newer\./,
  'MongoDB 4.2': /MongoDB 4\.2 is too old: this service needs 5\.0 or newer\./,
};
type Server = keyof typeof versionMessages;

const wireVersionOf42 = 8;
/** In milliseconds. Shorter than the server selection timeout of the driver. */
const exitLimitMs = 15_000;

describe('an outdated server', () => {
  let stack: Stack;
  const envs = new Map<Server, NodeJS.ProcessEnv>();
  const closing: (() => unknown)[] = [];
  /** A gate in front of the outdated Redis. */
  let gate: TcpGate;
  let isOld = true;
  before(async () => {
    stack = await startStack({ web: false });
    const mongodb = await startOld(stack.env['MONGODB_URI'] ?? '');
    // Connect directly. Otherwise the driver would use the address that the server advertises, and
    // bypass the proxy.
    mongodb.searchParams.set('directConnection', 'true');
    const refused = await startMongoProxy(stack.env['MONGODB_URI'] ?? '', ({ name }) =>
      /^(hello|isMaster)$/i.test(name)
        ? { answer: (reply) => ({ ...reply, maxWireVersion: wireVersionOf42 }) }
        : null,
    );
    closing.push(() => refused.stop());
    const redis = await startOld(stack.env['REDIS_URL'] ?? '');
    envs.set('MongoDB', { ...stack.env, PORT: '0', MONGODB_URI: mongodb.href });
    envs.set('MongoDB 4.2', { ...stack.env, PORT: '0', MONGODB_URI: refused.uri });
    gate = await startTcpGate(redis.href);
    closing.push(() => gate.stop());
    envs.set('Redis', { ...stack.env, PORT: '0', REDIS_URL: gate.url });
  });
  after(async () => {
    await Promise.all(closing.map((close) => close()));
    await stack.stop();
  });

  async function startOld(real: string): Promise<URL> {
    const url = new URL(real);
    const to = { host: url.hostname, port: Number(url.port) };
    const server = createServer((client) => {
      const upstream = connect(to);
      client.on('error', () => upstream.destroy()).pipe(upstream);
      upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
      upstream.on('data', (bytes: Buffer) => client.write(isOld ? withOldVersion(bytes) : bytes));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    closing.push(() => server.close());
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    return url;
  }

  for (const server of ['MongoDB', 'Redis', 'MongoDB 4.2'] as const) {
    for (const program of ['scripts/migrate.js', 'scripts/seed.js', 'src/server.js', 'workers/run.js']) {
      it(`${server}: ${program} exits with an error that names both versions`, async () => {
        const args = program === 'workers/run.js' ? ['settlements'] : [];
        const startedMs = performance.now();
        const child = spawn(process.execPath, [getBuiltProgramPath(program), ...args], {
          env: envs.get(server),
        });
        const [stdout, stderr, [code]] = await Promise.all([
          text(child.stdout),
          text(child.stderr),
          once(child, 'close'),
        ]);
        expect(code, stdout + stderr).to.equal(1);
        expect(stdout + stderr)
          .to.match(versionMessages[server])
          .and.not.contain('wire version')
          .and.not.match(/\n +at /);
        expect(performance.now() - startedMs).to.be.below(exitLimitMs);
      });
    }

    it(`${server}: topup doctor fails and names both versions`, async () => {
      const { code, stdout } = await topup(['doctor', '--json'], envs.get(server) ?? {});
      const { checks } = JSON.parse(stdout) as { checks: Diagnosis[] };
      expect(code).to.equal(1);
      const found = checks.find(({ name }) => name === server.split(' ')[0]);
      expect(found).to.include({ status: 'fail' });
      expect(found?.detail).to.match(versionMessages[server]);
    });

    it(`${server}: other commands exit with that error only`, async () => {
      const { code, stderr } = await topup(['ledger', 'verify'], envs.get(server) ?? {});
      expect(code).to.equal(1);
      expect(stderr).to.match(versionMessages[server]);
      expect(stderr.trim().split('\n'), stderr).to.have.length(1);
    });
  }

  it('Redis: ends a web process that started before the server was reachable', async () => {
    await gate.cut();
    const web = await startProgram('src/server.js', [], envs.get('Redis'));
    await expectExitWithMessage(web, () => gate.restore());
  });

  it('Redis: ends a running worker if it replaces a current server', async () => {
    isOld = false;
    const worker = await startProgram('workers/run.js', ['settlements'], envs.get('Redis'));
    await gate.cut();
    isOld = true;
    await expectExitWithMessage(worker, () => gate.restore());
  });

  async function expectExitWithMessage(program: RunningProgram, begin: () => Promise<void>): Promise<void> {
    const ended = once(program.process, 'exit', { signal: AbortSignal.timeout(exitLimitMs) });
    await begin();
    expect(await ended, program.output()).to.deep.equal([1, null]);
    const errors = program
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":"error"'));
    const others = errors.filter((line) => !line.includes('ECONN'));
    expect(others, program.output()).to.have.length(1);
    expect(others[0]).to.match(versionMessages.Redis).and.not.contain('stack');
  }

  it('Redis: an unreachable server does not stop the migration', async () => {
    const env = { ...stack.env, REDIS_URL: 'redis://127.0.0.1:1' };
    const child = spawn(process.execPath, [getBuiltProgramPath('scripts/migrate.js')], { env });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.equal('Collections and indexes are ready.\n');
    expect(stderr.trim()).to.match(/^Redis does not respond\. [^\n]+$/);
  });

  it('is detected by numeric version comparison', () => {
    const tooOld = (server: 'MongoDB' | 'Redis', versions: string[]) =>
      versions.filter((version) => describeVersionProblem(server, version) !== null);
    expect(tooOld('MongoDB', ['4.4.29', '5.0.0', '8.0.13', '10.0.1'])).to.deep.equal(['4.4.29']);
    expect(tooOld('Redis', ['5.0.14', '6.0.20', '6.2.0', '7.2.11', 'unknown', ''])).to.deep.equal([
      '5.0.14',
      '6.0.20',
    ]);
  });
});

/**
 * Changes the first digit of the version in replies. MongoDB sends it as the BSON string `version`
 * in buildInfo, and Redis as `redis_version:` in INFO.
 */
function withOldVersion(bytes: Buffer): Buffer {
  const [mongodb, redis] = [Buffer.from('\u0002version\0'), Buffer.from('redis_version:')];
  const rewritten = Buffer.from(bytes);
  const inMongodb = bytes.indexOf(mongodb);
  if (inMongodb >= 0) {
    rewritten.write('4', inMongodb + mongodb.length + 4);
  }
  const inRedis = bytes.indexOf(redis);
  if (inRedis >= 0) {
    rewritten.write('5', inRedis + redis.length);
  }
  return rewritten;
}
