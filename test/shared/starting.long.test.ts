/** A process that is started before its MongoDB is there, or while it holds an election. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { builtProgram } from '../../config/project-file.js';
import { eventually } from '../support/eventually.js';
import { startPrivateMongo, type Outage } from '../support/outage.js';

describe('a process that is started while MongoDB is away', () => {
  let mongo: Outage;
  const started: ChildProcess[] = [];

  before(async () => {
    mongo = await startPrivateMongo();
  });
  beforeEach(() => mongo.cut());
  after(async () => {
    started.forEach((child) => child.kill('SIGKILL'));
    await mongo.stop();
  });

  /** One that has found that MongoDB is away. */
  async function startWaiting(script: string, ...args: string[]) {
    const env = { ...process.env, MONGODB_URI: mongo.url, LOG_LEVEL: 'warn', PORT: '0' };
    const child = fork(builtProgram(script), args, {
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
    await eventually('it to say that it waits', () => printed.includes('waiting for it'));
    return { child, isReady: () => isReady, printed: () => printed };
  }

  for (const [script, ...args] of [['src/server.js'], ['workers/run.js', 'all']] as const) {
    it(`waits for it and is ready: ${[script, ...args].join(' ')}`, async () => {
      const { child, isReady, printed } = await startWaiting(script, ...args);
      await mongo.restore();
      await eventually('it to be ready', () => isReady() || child.exitCode !== null, 30_000);
      expect([isReady(), child.exitCode], printed()).to.deep.equal([true, null]);
    });

    it(`stops in order while it waits: ${[script, ...args].join(' ')}`, async () => {
      const { child } = await startWaiting(script, ...args);
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await exit).to.deep.equal([0, null]);
    });
  }
});
