/**
 * Runs the commands of package.json before packages are installed and before the first build and
 * start.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';

describe('commands of a clone without packages', () => {
  let clone: string;

  before(() => {
    clone = fs.mkdtempSync(path.join(os.tmpdir(), 'topup-clone-'));
    fs.mkdirSync(path.join(clone, 'scripts'));
    fs.mkdirSync(path.join(clone, 'bin'));
    fs.writeFileSync(path.join(clone, 'bin/npm'), '#!/bin/sh\ntouch npm-was-called\nexit 9\n', {
      mode: 0o755,
    });
    fs.copyFileSync('package.json', path.join(clone, 'package.json'));
    fs.copyFileSync('package-lock.json', path.join(clone, 'package-lock.json'));
    for (const file of fs.readdirSync('scripts').filter((each) => each.endsWith('.mjs'))) {
      fs.copyFileSync(path.join('scripts', file), path.join(clone, 'scripts', file));
    }
    fs.cpSync('scripts/test', path.join(clone, 'scripts/test'), { recursive: true });
  });
  after(() => {
    fs.rmSync(clone, { recursive: true });
  });

  function run(script: string, ...args: string[]) {
    return spawnSync(process.execPath, [`scripts/${script}.mjs`, ...args], {
      cwd: clone,
      env: { ...process.env, PATH: `${path.join(clone, 'bin')}:${process.env['PATH'] ?? ''}` },
      encoding: 'utf8',
    });
  }

  const commands = {
    start: ['npm start', '--install-redis', '--listen', 'LOCAL_DIR'],
    demo: ['npm run demo', 'LOCAL_DIR'],
    reset: ['npm run reset', 'LOCAL_DIR'],
    test: ['npm test', '--grep', '--jobs', '--long'],
    topup: ['npm run topup', 'npm start'],
  };
  for (const [script, words] of Object.entries(commands)) {
    for (const option of ['--help', '-h']) {
      it(`${script} ${option} prints help and does nothing else`, () => {
        const before = fs.readdirSync(clone);
        const { status, stdout, stderr } = run(script, option);
        expect(stderr).to.equal('');
        expect(status).to.equal(0);
        words.forEach((each) => expect(stdout).to.contain(each));
        expect(fs.readdirSync(clone)).to.deep.equal(before);
      });
    }
  }

  for (const script of ['start', 'demo', 'reset']) {
    for (const wrong of ['--bogus', 'bogus']) {
      it(`${script} refuses ${wrong} by name and points to --help`, () => {
        const before = fs.readdirSync(clone);
        const { status, stdout, stderr } = run(script, wrong);
        expect(stdout).to.equal('');
        expect(stderr.trim().split('\n')).to.have.length(1);
        expect(stderr).to.contain(`'${wrong}'`).and.contain('nothing was done').and.contain('-- --help');
        expect(status).to.equal(2);
        expect(fs.readdirSync(clone)).to.deep.equal(before);
      });
    }
  }
});
