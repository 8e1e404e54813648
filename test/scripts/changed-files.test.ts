import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { changedFiles, roundNumber } from '../../scripts/test/changed-files.js';
import { requireTool } from '../support/require-tool.js';

describe('changed files of a CI run', () => {
  let folder: string;
  let clone: string;

  before(function () {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'changed-files-'));
    requireTool(this, 'git');
    clone = path.join(folder, 'clone');
    git(folder, 'init', '--quiet', clone);
    commit('old.ts', '2026-01-01T10:00:00Z');
    commit('morning.ts', '2026-01-02T10:00:00Z');
    commit('noon.ts', '2026-01-02T12:00:00Z');
    commit('evening.ts', '2026-01-02T17:59:00Z');
  });
  after(() => {
    fs.rmSync(folder, { recursive: true });
  });

  function git(cwd: string, ...args: string[]): string {
    const who = ['-c', 'user.name=test', '-c', 'user.email=test@localhost', '-c', 'commit.gpgsign=false'];
    return execFileSync('git', [...who, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' });
  }

  function commit(file: string, at: string): void {
    fs.writeFileSync(path.join(clone, file), '');
    git(clone, 'add', file);
    execFileSync(
      'git',
      ['-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '-m', file],
      { cwd: clone, stdio: 'pipe', env: { ...process.env, GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at } },
    );
  }

  it('include six hours before the last commit and uncommitted files', () => {
    fs.writeFileSync(path.join(clone, 'new.ts'), '');
    fs.writeFileSync(path.join(clone, 'old.ts'), 'changed');
    try {
      const { files, description } = changedFiles(clone);
      expect(files).to.deep.equal(['evening.ts', 'new.ts', 'noon.ts', 'old.ts']);
      expect(description).to.equal('in the six hours before the last commit');
    } finally {
      fs.rmSync(path.join(clone, 'new.ts'));
      git(clone, 'checkout', '--quiet', 'old.ts');
    }
  });

  it('start at the base commit if it is known', () => {
    expect(changedFiles(clone, 'HEAD~3').files).to.deep.equal(['evening.ts', 'morning.ts', 'noon.ts']);
    const lost = changedFiles(clone, '0'.repeat(40));
    expect(lost.files).to.deep.equal(['evening.ts', 'noon.ts']);
    expect(lost.description).to.contain('is not in this clone');
  });

  it('are limited to the known commits of a shallow clone', () => {
    for (const [depth, files] of [
      ['1', []],
      ['2', ['evening.ts']],
    ] as const) {
      const shallow = path.join(folder, `depth-${depth}`);
      git(folder, 'clone', '--quiet', '--depth', depth, `file://${clone}`, shallow);
      const changes = changedFiles(shallow);
      expect(changes.files, depth).to.deep.equal(files);
      expect(changes.description, depth).to.contain('shallow');
    }
  });

  it('are reported as unknown without git', () => {
    const { files, description } = changedFiles(folder);
    expect(files).to.deep.equal([]);
    expect(description).to.match(/^unknown, because git failed/);
    expect(roundNumber(folder, {})).to.equal(0);
  });

  it('use the given run number, otherwise the number of commits', () => {
    expect(roundNumber(clone, { LONG_ROUND: '7', GITHUB_RUN_NUMBER: '8' })).to.equal(7);
    expect(roundNumber(clone, { LONG_ROUND: '', GITHUB_RUN_NUMBER: '8' })).to.equal(8);
    expect(roundNumber(clone, {})).to.equal(4);
  });
});
