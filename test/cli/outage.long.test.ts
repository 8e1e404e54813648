/** Commands during a database outage print one sentence and exit with a non-zero code. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { toOutageError } from '../../scripts/topup/outage.js';
import { UnknownOutcomeError } from '../../src/database/mongo.js';
import { disconnectRedis } from '../../src/redis/connection.js';
import { DependencyError, NotFoundError } from '../../src/shared/errors.js';
import { asWritten } from '../../src/shared/say.js';
import { eventually } from '../support/eventually.js';
import { startPrivateRedis } from '../support/private-redis.js';
import { startTcpGate, type TcpGate } from '../support/outage.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup, topupProcess } from '../support/topup.js';

const unreachableDatabases = { MONGODB_URI: 'mongodb://127.0.0.1:1/x', REDIS_URL: 'redis://127.0.0.1:1' };
const outageMessages = {
  mongodb: 'error: MongoDB does not respond. Is the service running? (npm start, or check MONGODB_URI)\n',
  redis: 'error: Redis does not respond. Is the service running? (npm start, or check REDIS_URL)\n',
  both: 'error: MongoDB does not respond, Redis does not respond. Is the service running? (npm start, or check MONGODB_URI and REDIS_URL)\n',
};

describe('topup in an outage', function () {
  this.timeout(120_000);
  let stack: Stack;
  let mongodb: TcpGate;
  let redis: TcpGate;
  before(async () => {
    stack = await startStack({ web: false });
    const url = ['--callback-url', 'https://shop.example/'];
    await topup(['account', 'create', 'shop', '--role', 'buyer', ...url], stack.env);
    mongodb = await startTcpGate(String(stack.env['MONGODB_URI']));
    redis = await startTcpGate(String(stack.env['REDIS_URL']));
  });
  after(async () => {
    await Promise.all([mongodb.stop(), redis.stop()]);
    await stack.stop();
  });

  const commands = [
    ['transaction', 'show', 'none'],
    ['ledger', 'verify'],
    ['deposit', 'list'],
    ['account', 'suspend', 'shop', '--reason', 'a test'],
    ['process', 'list'],
  ];
  for (const [name, away, sentence] of [
    ['MongoDB', { MONGODB_URI: unreachableDatabases.MONGODB_URI }, outageMessages.mongodb],
    ['both', unreachableDatabases, outageMessages.both],
  ] as const) {
    it(`${name} unreachable: each command prints only the error`, async () => {
      const env = { ...stack.env, ...away };
      for (const command of name === 'both' ? commands : commands.slice(0, 4)) {
        const { code, stdout, stderr } = await topup(command, env);
        expect({ code, stdout, stderr }, command.join(' ')).to.deep.equal({
          code: 1,
          stdout: '',
          stderr: sentence,
        });
      }
    });
  }

  it('Redis unreachable: only commands that need it fail', async () => {
    const env = { ...stack.env, REDIS_URL: unreachableDatabases.REDIS_URL };
    expect(await topup(['process', 'list'], env)).to.include({
      code: 1,
      stdout: '',
      stderr: outageMessages.redis,
    });
    for (const [command, code, stderr] of [
      [['deposit', 'list'], 0, ''],
      [['ledger', 'verify'], 0, ''],
      [['account', 'suspend', 'shop', '--reason', 'a test'], 0, ''],
      [
        ['transaction', 'show', 'none'],
        1,
        "error: There is no transaction none. To find a client's ref_id, give the client: --account\n",
      ],
    ] as const) {
      expect(await topup([...command], env), command.join(' ')).to.include({ code, stderr });
    }
  });

  it('Redis full or read-only: a command prints only the problem and the advice', async () => {
    const own = await startPrivateRedis();
    const client = new Redis(own.url);
    const env = { ...stack.env, REDIS_URL: own.url };
    const mend = 'Fix it (docs/guides/operate/prepare-redis.md), or check REDIS_URL.\n';
    const tried = async (command: string[]) => {
      const { code, stdout, stderr } = await topup(command, env);
      return { code, stdout, stderr };
    };
    try {
      await client.config('SET', 'maxmemory', '1');
      const full = `error: Redis is full: it has reached its maxmemory. ${mend}`;
      expect(await tried(['process', 'list'])).to.deep.equal({ code: 1, stdout: '', stderr: full });
      await client.config('SET', 'maxmemory', '0');
      await client.replicaof('127.0.0.1', 1);
      const replica = `error: Redis is read-only: it is a replica. ${mend}`;
      // The last Redis error is cached briefly, so the first attempts may show an older message.
      const found = await eventually('the message is about the read-only Redis', async () => {
        const each = await tried(['process', 'list']);
        return each.stderr === full ? null : each;
      });
      expect(found).to.deep.equal({ code: 1, stdout: '', stderr: replica });
      await client.replicaof('NO', 'ONE');
      await eventually('the command succeeds', async () => (await tried(['process', 'list'])).code === 0);
    } finally {
      client.disconnect();
      await own.stop();
    }
  });

  it('doctor still prints its table if both databases are unreachable', async () => {
    const { code, stdout, stderr } = await topupProcess(['doctor'], {
      ...stack.env,
      ...unreachableDatabases,
    });
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' });
    expect(stdout)
      .to.match(/MongoDB +does not respond/)
      .and.match(/Redis +does not respond/);
  });

  it('an unknown outcome and special advice come first in the message', async () => {
    const advice = new DependencyError(new Error('lost'), asWritten('Look at the statement first.'));
    const unknown = new UnknownOutcomeError(new Error('lost'));
    const away = new Error('MongoDB is away');
    expect((await toOutageError(advice, away)).message).to.match(
      /^Look at the statement first\. MongoDB does not respond/,
    );
    expect((await toOutageError(unknown, away)).message).to.match(
      /^The outcome is unknown\. Check the state before you repeat the command\. MongoDB does/,
    );
    const refusal = new NotFoundError(asWritten('There is none.'));
    expect(await toOutageError(refusal, away)).to.equal(refusal);
    await disconnectRedis();
  });

  it('an outage during a command prints only the error', async () => {
    // Connect directly. Otherwise the driver would use the address that the replica set member
    // advertises, and bypass the gate.
    const direct = new URL(mongodb.url);
    direct.search = 'directConnection=true';
    const env = { ...stack.env, NO_COLOR: '1', MONGODB_URI: direct.href, REDIS_URL: redis.url };
    for (const [cut, sentence] of [
      [[mongodb], outageMessages.mongodb],
      [[mongodb, redis], outageMessages.both],
    ] as const) {
      const cli = getBuiltProgramPath('scripts/topup.js');
      const listen = ['listen', 'shop', '--forward-to', 'http://127.0.0.1:1'];
      const child = spawn(process.execPath, [cli, ...listen], { env });
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      const ended = once(child, 'close');
      await Promise.race([once(child.stderr, 'data'), ended]);
      expect(stderr).to.match(/^Forwarding events of shop .*\n$/);
      const begun = stderr;
      await Promise.all(cut.map((each) => each.cut()));
      const [code] = (await ended) as [number];
      expect({ code, stderr }).to.deep.equal({ code: 1, stderr: begun + sentence });
      await Promise.all(cut.map((each) => each.restore()));
    }
  });
});
