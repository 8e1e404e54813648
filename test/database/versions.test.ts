/** Servers that are too old: a proxy rewrites the version that the real ones say. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { builtProgram } from '../../config/project-file.js';
import { versionProblem } from '../../src/shared/server-versions.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';

const sentences = {
  MongoDB: /MongoDB 4\.\d+\.\d+\S* is too old: this service needs 5\.0 or newer\./,
  Redis: /Redis 5\.\d+\.\d+ is too old: this service needs 6\.2 or newer\./,
};

describe('a server that is too old', () => {
  let stack: Stack;
  const closing: (() => void)[] = [];
  before(async () => {
    stack = await startStack({ web: false });
  });
  after(async () => {
    closing.forEach((close) => close());
    await stack.stop();
  });

  async function oldServer(setting: 'MONGODB_URI' | 'REDIS_URL'): Promise<NodeJS.ProcessEnv> {
    const url = new URL(stack.env[setting] ?? '');
    const to = { host: url.hostname, port: Number(url.port) };
    const server = createServer((client) => {
      const upstream = connect(to);
      client.on('error', () => upstream.destroy()).pipe(upstream);
      upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
      upstream.on('data', (bytes: Buffer) => client.write(withOldVersion(bytes)));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    closing.push(() => server.close());
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    if (setting === 'MONGODB_URI') {
      // Otherwise the driver goes to the address that the server calls itself by.
      url.searchParams.set('directConnection', 'true');
    }
    return { ...stack.env, [setting]: url.toString(), PORT: '0' };
  }

  for (const [server, setting] of [
    ['MongoDB', 'MONGODB_URI'],
    ['Redis', 'REDIS_URL'],
  ] as const) {
    for (const program of ['scripts/migrate.js', 'src/server.js', 'workers/run.js']) {
      it(`${server}: ${program} stops with a sentence that names both versions`, async () => {
        const args = program === 'workers/run.js' ? ['settlements'] : [];
        const child = spawn(process.execPath, [builtProgram(program), ...args], {
          env: await oldServer(setting),
        });
        const [stdout, stderr, [code]] = await Promise.all([
          text(child.stdout),
          text(child.stderr),
          once(child, 'close'),
        ]);
        expect(code, stdout + stderr).to.equal(1);
        expect(stdout + stderr).to.match(sentences[server]);
      });
    }

    it(`${server}: topup doctor fails and says so`, async () => {
      const { code, stdout } = await topup(['doctor', '--json'], await oldServer(setting));
      const { checks } = JSON.parse(stdout) as { checks: Diagnosis[] };
      expect(code).to.equal(1);
      const found = checks.find(({ name }) => name === server);
      expect(found).to.include({ status: 'fail' });
      expect(found?.detail).to.match(sentences[server]);
    });
  }

  it('MongoDB: other commands are refused', async () => {
    const { code, stderr } = await topup(['ledger', 'verify'], await oldServer('MONGODB_URI'));
    expect(code).to.equal(1);
    expect(stderr).to.match(sentences.MongoDB);
  });

  it('compares versions by their numbers', () => {
    const tooOld = (server: 'MongoDB' | 'Redis', versions: string[]) =>
      versions.filter((version) => versionProblem(server, version) !== null);
    expect(tooOld('MongoDB', ['4.4.29', '5.0.0', '8.0.13', '10.0.1'])).to.deep.equal(['4.4.29']);
    expect(tooOld('Redis', ['5.0.14', '6.0.20', '6.2.0', '7.2.11', 'unknown'])).to.deep.equal([
      '5.0.14',
      '6.0.20',
    ]);
  });
});

/** `version` of buildInfo (a BSON string), `redis_version:` of INFO: their first digit. */
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
