/** What the scripts do when packages or sources are missing. */
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { readPidFile } from '../../scripts/supervisor/pid-files.js';
import { commandLine } from '../../scripts/supervisor/process-table.js';
import { eventually } from './service-copy.js';

describe('scripts in a checkout that must not install packages', () => {
  const root = process.cwd();
  let dir: string;
  beforeEach(() => {
    dir = path.join(os.tmpdir(), `prepare-${randomUUID()}`);
    fs.mkdirSync(path.join(dir, 'scripts'), { recursive: true });
    for (const file of ['package.json', 'scripts/topup.mjs', 'scripts/test.mjs', 'scripts/prepare.mjs']) {
      fs.copyFileSync(file, path.join(dir, file));
    }
    fs.cpSync('scripts/test', path.join(dir, 'scripts/test'), { recursive: true });
    for (const name of ['dist', 'config', 'docs']) {
      fs.symlinkSync(path.join(root, name), path.join(dir, name));
    }
  });
  afterEach(() => {
    fs.rmSync(dir, { recursive: true });
  });

  /** Runs a script with a fake npm on the PATH that reports each call. */
  function run(script: string, ...args: string[]) {
    const bin = path.join(dir, 'bin');
    fs.mkdirSync(bin, { recursive: true });
    fs.writeFileSync(path.join(bin, 'npm'), '#!/bin/sh\necho npm was called >&2\nexit 9\n', { mode: 0o755 });
    const { status, stdout, stderr } = spawnSync(process.execPath, [`scripts/${script}.mjs`, ...args], {
      cwd: dir,
      env: { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` },
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  }

  /** Removes the development packages, as `npm prune --omit=dev` does. */
  function prune(): void {
    fs.copyFileSync('package-lock.json', path.join(dir, 'package-lock.json'));
    fs.utimesSync(path.join(dir, 'scripts'), 1, 1);
    fs.readdirSync(path.join(dir, 'scripts')).forEach((file) => {
      fs.utimesSync(path.join(dir, 'scripts', file), 1, 1);
    });
    const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8')) as {
      packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
    };
    const productionPackages = Object.entries(lock.packages).filter(
      ([, { dev, devOptional }]) => !dev && !devOptional,
    );
    fs.mkdirSync(path.join(dir, 'node_modules'));
    fs.writeFileSync(
      path.join(dir, 'node_modules/.package-lock.json'),
      JSON.stringify({ ...lock, packages: Object.fromEntries(productionPackages) }),
    );
  }

  it('run in an image without sources or package-lock.json', () => {
    const { status, stdout, stderr } = run('topup', '--help');
    expect(stderr).to.equal('');
    expect(status).to.equal(0);
    expect(stdout).to.contain('ledger');
  });

  it('run in a checkout without development packages', () => {
    prune();
    const { status, stdout, stderr } = run('topup', '--help');
    expect(stderr).to.equal('');
    expect(status).to.equal(0);
    expect(stdout).to.contain('ledger');
  });

  it('name the install command instead of installing packages for a build or test', () => {
    prune();
    const tests = run('test');
    fs.appendFileSync(path.join(dir, 'package-lock.json'), '\n');
    for (const each of [tests, run('topup', 'doctor')]) {
      expect(each.stderr)
        .to.contain('npm ci --include=dev && npm run build')
        .and.not.contain('npm was called');
      expect(each.status).to.equal(1);
    }
  });

  for (const [signal, said, code] of [
    ['SIGINT', 'Ctrl-C', 130],
    ['SIGTERM', 'SIGTERM', 143],
  ] as const) {
    it(`end with one line and leave no npm process on ${said} during an installation`, async () => {
      const bin = path.join(dir, 'bin');
      fs.mkdirSync(bin);
      // On a signal, the fake npm prints an error and does not forward the signal, as npm does.
      const npm = `#!/bin/sh\ntrap 'echo npm error $0 >&2; exit 1' INT TERM\nsleep 1000 & echo $! > ${dir}/grandchild\nwait\n`;
      fs.writeFileSync(path.join(bin, 'npm'), npm, { mode: 0o755 });
      fs.rmSync(path.join(dir, 'dist'));
      fs.copyFileSync('package-lock.json', path.join(dir, 'package-lock.json'));
      const started = spawn(process.execPath, ['scripts/topup.mjs', 'doctor'], {
        cwd: dir,
        env: { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` },
      });
      let printed = '';
      started.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      started.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      const exited = once(started, 'close');
      const grandchild = await eventually('npm has started a child', () =>
        readPidFile(path.join(dir, 'grandchild')),
      );
      started.kill(signal);
      expect((await exited)[0]).to.equal(code);
      const lines = printed.trim().split('\n');
      expect(lines).to.have.length(2);
      expect(lines[0]).to.contain('Installing');
      expect(lines[1]).to.equal(`${said}: stopped.`);
      await eventually('the child has ended', () => (commandLine(grandchild) === '' ? true : null));
    });
  }
});
