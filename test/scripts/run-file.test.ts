/** The test runner itself. A test file can neither fake success nor leave processes running. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { testBundle } from '../../scripts/test/load-built.js';
import { runFile, type FileResult } from '../../scripts/test/run-file.js';
import { commandLine } from '../../scripts/supervisor/process-table.js';
import { eventually } from '../support/eventually.js';

describe('a test file under npm test', () => {
  let dir: string;
  before(() => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'run-file-'));
  });
  after(() => {
    fs.rmSync(dir, { recursive: true });
  });

  async function run(
    source: string,
    {
      limitMs = 30_000,
      forbidOnly = true,
      sizedOnly = false,
      stop = new AbortController(),
      stopsAfterFirst = false,
    } = {},
  ): Promise<FileResult> {
    const file = 'some.test.ts';
    const builtDir = fs.mkdtempSync(path.join(dir, 'built-'));
    fs.writeFileSync(
      path.join(builtDir, testBundle),
      `exports.loaders = { '${file}': async () => { ${source} } };`,
    );
    return runFile({
      file,
      order: { builtDir, file, grep: null, forbidOnly, sizedOnly },
      cwd: dir,
      env: process.env,
      localDir: path.join(dir, 'local'),
      limitMs,
      stopping: stop.signal,
      onResult: () => {
        if (stopsAfterFirst) {
          stop.abort();
        }
      },
    });
  }
  const states = ({ tests }: FileResult) => tests.map((each) => [each.path.join(' '), each.state]);

  it('reports each test with its failure', async () => {
    const result = await run(`describe('a', () => {
      it('works', () => undefined);
      it('waits');
      it('fails', () => { throw new Error('the reason'); });
    });`);
    expect(states(result)).to.deep.equal([
      ['a works', 'passed'],
      ['a waits', 'pending'],
      ['a fails', 'failed'],
    ]);
    expect(result.tests[2]?.failure?.text).to.contain('the reason').and.contain(`${testBundle}:4`);
    expect(result.problem).to.equal(null);
  });

  it('fails if it cannot load or exits early', async () => {
    expect((await run(`throw new Error('not today');`)).problem).to.contain('not today');
    const result = await run(`it('works', () => undefined); it('ends', () => process.exit(0));`);
    expect(states(result)).to.deep.equal([['works', 'passed']]);
    expect(result.problem).to.contain('ended before its tests');
  });

  it('runs only sized tests on request if it has any', async () => {
    const plain = `describe('a', () => { it('this', () => undefined); it('that', () => undefined); });`;
    const mixed = plain.replace("'that'", "'that @sized'");
    expect(states(await run(mixed, { sizedOnly: true }))).to.deep.equal([['a that @sized', 'passed']]);
    expect(states(await run(mixed))).to.have.length(2);
    expect(states(await run(plain, { sizedOnly: true }))).to.have.length(2);
  });

  it('reports the reason of a skipped test or suite', async () => {
    const { tests } = await run(`describe('a', () => {
      before(function () { this.test.parent.skippedBecause = 'no tool'; this.skip(); });
      describe('b', () => { it('c', () => undefined); });
    });
    it('d', function () { this.test.skippedBecause = 'another'; this.skip(); });
    it('e', function () { this.skip(); });`);
    expect(
      tests.map(({ path: titles, skippedBecause }) => [titles.join(' '), skippedBecause]),
    ).to.have.deep.members([
      ['d', 'another'],
      ['e', null],
      ['a b c', 'no tool'],
    ]);
  });

  it('fails on .only where that is forbidden', async () => {
    const source = `it.only('this', () => undefined); it('that', () => undefined);`;
    expect((await run(source)).problem).to.contain('.only');
    expect(states(await run(source, { forbidOnly: false }))).to.deep.equal([['this', 'passed']]);
  });

  it('has its own database, queues and directories, removed at the end', async () => {
    const source = `it('is', () => console.log(JSON.stringify(process.env)));`;
    const [first, second] = (await Promise.all([run(source), run(source)])).map(
      ({ printed }) => JSON.parse(printed) as NodeJS.ProcessEnv,
    );
    for (const name of ['MONGODB_URI', 'QUEUE_PREFIX', 'LOCAL_DIR', 'TMPDIR']) {
      expect(first?.[name], name).to.be.a('string').and.not.equal(second?.[name]);
    }
    expect(fs.existsSync(first?.['LOCAL_DIR'] ?? '')).to.equal(false);
  });

  // A test file that prints the pid of a child process which ignores SIGTERM and never ends.
  const hanging = `const { spawn } = require('node:child_process');
    it('starts a process', () => {
      const code = "process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1000)";
      console.log(spawn(process.execPath, ['-e', code]).pid);
    });
    it('hangs', function (done) { this.timeout(0); });`;
  const expectGone = async ({ printed }: FileResult) => {
    expect(Number(printed)).to.be.greaterThan(1);
    await eventually('its process is gone', () => commandLine(Number(printed)) === '');
  };

  it('is killed with its child processes on a timeout or a stop', async () => {
    const late = await run(hanging, { limitMs: 2_000 });
    expect(late.problem).to.contain('timed out');
    await expectGone(late);

    const stopped = await run(hanging, { stopsAfterFirst: true });
    expect(stopped.problem).to.contain('stopped');
    await expectGone(stopped);
  });
});
