import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../config/project-file.js';

describe('npm run check', () => {
  let dir: string;
  before(() => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'check-'));
  });
  after(() => {
    fs.rmSync(dir, { recursive: true });
  });

  function check(scripts: Record<string, string>, ...args: string[]) {
    fs.writeFileSync(path.join(dir, 'package.json'), JSON.stringify({ scripts }));
    const program = path.join(projectRoot, 'scripts/check.mjs');
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args], {
      cwd: dir,
      encoding: 'utf8',
    });
    const lines = stdout.trim().split('\n');
    return { status, stdout, stderr, last: lines.at(-1) };
  }

  it('runs every step, prints every failure and ends with a summary line', () => {
    const { status, stdout, last } = check({
      'check:lint': 'echo first mistake; echo second mistake >&2; exit 1',
      'check:types': 'echo all is well',
      'check:format': 'echo third mistake; exit 3',
      build: 'echo not a check',
    });
    expect(status).to.equal(1);
    expect(stdout).to.match(/✖ lint \(\d+ s\)\n {4}first mistake\n {4}second mistake\n/);
    expect(stdout).to.match(/✖ format \(\d+ s\)\n {4}third mistake\n/);
    expect(stdout).to.match(/✔ types \(\d+ s\)\n {4}all is well\n/);
    expect(stdout).not.to.contain('not a check');
    expect(last).to.match(
      /^check: 1 steps passed, 2 failed: (lint|format) \(\d+ s\), (lint|format) \(\d+ s\)$/,
    );
  });

  it('passes when every step passes', () => {
    const { status, last } = check({ 'check:lint': 'exit 0', 'check:types': 'exit 0' });
    expect(status).to.equal(0);
    expect(last).to.equal('check: 2 steps passed');
  });

  it('runs only the named steps and refuses an unknown name', () => {
    const scripts = { 'check:lint': 'exit 1', 'check:types': 'exit 0' };
    expect(check(scripts, 'types').last).to.equal('check: 1 steps passed');
    const wrong = check(scripts, 'typos');
    expect(wrong.status).to.equal(2);
    expect(wrong.stderr).to.contain('typos').and.contain('lint, types');
  });
});
