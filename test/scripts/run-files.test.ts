/** Runs several test files. A file that fails is run again alone. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { knownFlaky, runAgainMax, findSeed, type Outcome } from '../../scripts/test/flaky.js';
import { testBundle } from '../../scripts/test/load-built.js';
import { isFailedRun, runFiles } from '../../scripts/test/run-files.js';

describe('failed test files under npm test', () => {
  let dir: string;
  beforeEach(() => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'run-files-'));
  });
  afterEach(() => {
    fs.rmSync(dir, { recursive: true });
  });

  const green = `it('works', () => undefined);`;
  const red = `it('fails', () => { throw new Error('always'); });`;
  /** A test file that fails on its first run and records each run with its seed. */
  const flaky = `
    const fs = require('node:fs');
    it('fails once', () => {
      const file = __dirname + '/ran';
      const before = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
      fs.writeFileSync(file, before + (process.env.SEED ?? 'none') + '\\n');
      console.log('played with SEED=1234');
      if (before === '') { throw new Error('the first time'); }
    });`;

  async function run(sources: Record<string, string>, { bail = false } = {}) {
    const lines: string[] = [];
    const loaders = Object.entries(sources).map(([file, source]) => `'${file}': async () => { ${source} },`);
    fs.writeFileSync(path.join(dir, testBundle), `exports.loaders = { ${loaders.join('\n')} };`);
    const pair = { MONGODB_URI: process.env['MONGODB_URI'] ?? '', REDIS_URL: process.env['REDIS_URL'] ?? '' };
    const { SEED: _seed, ...env } = process.env;
    const outcome = await runFiles({
      root: dir,
      files: Object.keys(sources),
      built: { dir, imports: new Map() },
      options: {
        names: [],
        grep: null,
        jobs: 2,
        random: null,
        size: 'normal',
        rotate: false,
        budgetMs: 0,
        flakyBefore: 0,
        bail,
        forbidOnly: true,
      },
      databases: {
        env,
        pairs: [pair, pair],
        localDir: path.join(dir, 'local'),
        used: '',
        stopping: new AbortController().signal,
        node: () => Promise.reject(new Error('nobody runs Node here')),
      },
      report: {
        test: () => undefined,
        file: ({ file }, failed) => lines.push(`${file} ${failed ? 'failed' : 'passed'}`),
        again: (file) => lines.push(`${file} again`),
        sum: () => undefined,
      },
    });
    return { ...outcome, lines };
  }
  const failedFiles = ({ results }: Outcome) =>
    results.filter(({ tests }) => tests.some(({ state }) => state === 'failed')).map(({ file }) => file);

  it('count as flaky if they pass alone, with failure and log kept', async () => {
    const outcome = await run({ 'flaky.test.ts': flaky, 'green.test.ts': green });
    expect(failedFiles(outcome)).to.deep.equal([]);
    expect(outcome.results).to.have.length(2);
    const [first] = outcome.flaky;
    expect(outcome.flaky).to.have.length(1);
    expect(first?.tests[0]?.failure?.text).to.contain('the first time');
    expect(first?.printed).to.contain('played with');
    expect(outcome.lines.slice(-2)).to.deep.equal(['flaky.test.ts again', 'flaky.test.ts passed']);
    expect(isFailedRun(outcome, { grep: null, flakyBefore: 0 })).to.equal(false);
  });

  it('are repeated with the seed of the failure', async () => {
    await run({ 'flaky.test.ts': flaky, 'green.test.ts': green });
    expect(fs.readFileSync(path.join(dir, 'ran'), 'utf8')).to.equal('none\n1234\n');
  });

  it('count as failed if they fail again', async () => {
    const outcome = await run({ 'red.test.ts': red, 'green.test.ts': green });
    expect(failedFiles(outcome)).to.deep.equal(['red.test.ts']);
    expect(outcome.flaky).to.deep.equal([]);
    expect(outcome.lines.filter((line) => line === 'red.test.ts failed')).to.have.length(2);
    expect(isFailedRun(outcome, { grep: null, flakyBefore: 0 })).to.equal(true);
  });

  it('are not repeated for one file, with --bail or after many failures', async () => {
    const many = Object.fromEntries(
      Array.from({ length: runAgainMax + 1 }, (_, n) => [`red-${n}.test.ts`, red] as const),
    );
    for (const outcome of [
      await run({ 'red.test.ts': red }),
      await run({ 'red.test.ts': red, 'green.test.ts': green }, { bail: true }),
      await run(many),
    ]) {
      expect(outcome.lines.some((line) => line.endsWith(' again'))).to.equal(false);
      expect(failedFiles(outcome)).not.to.deep.equal([]);
    }
  });

  it('fail a CI run with more than two flaky files in all parts', () => {
    const file = { file: 'x.test.ts', tests: [], problem: null, printed: '', ms: 0, cpuMs: 0 };
    const passed = { path: ['x'], state: 'passed' as const, ms: 0, failure: null, skippedBecause: null };
    const ended = (flakyNow: number, flakyBefore: number) =>
      isFailedRun(
        { results: [{ ...file, tests: [passed] }], flaky: Array.from({ length: flakyNow }, () => file) },
        { grep: null, flakyBefore },
      );
    expect(ended(2, 0)).to.equal(false);
    expect(ended(1, 1)).to.equal(false);
    expect(ended(3, 0)).to.equal(true);
    expect(ended(1, 2)).to.equal(true);
  });

  it('count as known flaky files only if test/FLAKY.md lists them', () => {
    const text =
      '# Flaky tests\n\nWrite `- `path`: cause`.\n\n- `test/money/model.test.ts`: a race\n- `test/money/posting.test.ts`: a clock\n';
    expect([...knownFlaky(text)]).to.deep.equal(['test/money/model.test.ts', 'test/money/posting.test.ts']);
  });

  it('use the seed of the failed test and none if there are several', () => {
    const test = (title: string, state: 'passed' | 'failed') => ({
      path: [title],
      state,
      ms: 0,
      failure: null,
      skippedBecause: null,
    });
    const tests = [test('a (SEED=1)', 'passed'), test('b (SEED=2)', 'failed')];
    expect(findSeed({ tests, printed: 'SEED=3' })).to.equal('2');
    expect(findSeed({ tests: [...tests, test('c (SEED=4)', 'failed')], printed: '' })).to.equal(null);
    expect(findSeed({ tests: [test('d', 'failed')], printed: 'SEED=3 and SEED=3' })).to.equal('3');
    expect(findSeed({ tests: [test('d', 'failed')], printed: '' })).to.equal(null);
  });
});
