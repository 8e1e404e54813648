/** A process that starts while MongoDB is unreachable or while a primary is being elected. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { eventually } from '../support/eventually.js';
import { startMongoProxy } from '../support/mongo-proxy.js';
import { startPrivateMongo, type Outage } from '../support/outage.js';

const started: ChildProcess[] = [];

describe('a process that starts while MongoDB is unreachable', () => {
  let mongo: Outage;

  before(async () => {
    mongo = await startPrivateMongo();
  });
  beforeEach(() => mongo.cut());
  after(async () => {
    started.forEach((child) => child.kill('SIGKILL'));
    await mongo.stop();
  });

  for (const [script, ...args] of [['src/server.js'], ['workers/run.js', 'all']] as const) {
    it(`waits and becomes ready: ${[script, ...args].join(' ')}`, async () => {
      const { child, isReady, printed } = await startWaiting(mongo.url, script, ...args);
      await mongo.restore();
      await eventually('the process is ready', () => isReady() || child.exitCode !== null, 30_000);
      expect([isReady(), child.exitCode], printed()).to.deep.equal([true, null]);
    });

    it(`stops in order while it waits: ${[script, ...args].join(' ')}`, async () => {
      const { child } = await startWaiting(mongo.url, script, ...args);
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await exit).to.deep.equal([0, null]);
    });
  }
});

describe('a process that starts while MongoDB shuts down', () => {
  after(() => started.forEach((child) => child.kill('SIGKILL')));

  for (const [code, codeName] of [
    [11_600, 'InterruptedAtShutdown'],
    [91, 'ShutdownInProgress'],
  ] as const) {
    it(`waits and becomes ready: ${codeName}`, async () => {
      let left = 1;
      const proxy = await startMongoProxy(process.env['MONGODB_URI'] ?? '', ({ name }) =>
        name === 'buildInfo' && left-- > 0
          ? { replyWith: { ok: 0, code, codeName, errmsg: 'interrupted at shutdown' } }
          : null,
      );
      const { child, isReady, printed } = await startWaiting(proxy.uri, 'workers/run.js', 'all');
      await eventually('the process is ready', () => isReady() || child.exitCode !== null, 30_000);
      expect([isReady(), child.exitCode], printed()).to.deep.equal([true, null]);
      await proxy.stop();
    });
  }
});

/** Starts a process and waits until it has logged the outage. */
async function startWaiting(mongodbUri: string, script: string, ...args: string[]) {
  const env = { ...process.env, MONGODB_URI: mongodbUri, LOG_LEVEL: 'warn', PORT: '0' };
  const child = fork(getBuiltProgramPath(script), args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
  });
  started.push(child);
  let printed = '';
  let isReady = false;
  const keep = (chunk: Buffer) => (printed += chunk.toString());
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  child.on('message', () => (isReady = true));
  await eventually('the process logs that it waits', () => printed.includes('waiting for it'));
  return { child, isReady: () => isReady, printed: () => printed };
}
