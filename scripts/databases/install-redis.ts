/** Installs Redis on a machine without one, after consent. */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { findOnPath, runCommand } from './commands.js';
import type { DatabaseContext } from './database.js';
import { mayInstall } from './may-install.js';

const aptMs = 180_000;
const npmMs = 120_000;
const buildMs = 600_000;
const memoryServerVersion = '0.17.1';
const failFastOptions = [
  '-o',
  'Acquire::Retries=0',
  '-o',
  'Acquire::http::Timeout=5',
  '-o',
  'Acquire::https::Timeout=5',
];

/**
 * Installs as root on Debian or Ubuntu.
 * @returns The path of the program. Null after printing why the installation failed.
 */
export async function installRedisByApt(context: DatabaseContext): Promise<string | null> {
  const { env, supervisor } = context;
  const { output, stopping } = supervisor;
  const apt = findOnPath('apt-get', env);
  if (apt === null || process.getuid?.() !== 0 || !isDebianLike()) {
    output.say('Redis: no installation with apt-get (it needs root on Debian or Ubuntu)');
    return null;
  }
  if (!(await mayInstall('the package redis-server on this system, with apt-get as root', context))) {
    return null;
  }
  const options = {
    // RUNLEVEL=1 keeps the package from starting a Redis on the default port.
    env: { ...env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    signal: stopping,
    limitMs: aptMs,
    line: (line: string) => {
      output.line('apt-get', line);
    },
  };
  try {
    output.say('Redis: installing redis-server with apt-get …');
    const install = ['install', '--yes', '--no-install-recommends', ...failFastOptions, 'redis-server'];
    try {
      await runCommand(apt, install, options);
    } catch {
      // A fresh machine has no package lists.
      await runCommand(apt, ['update', ...failFastOptions], options);
      await runCommand(apt, install, options);
    }
  } catch (error) {
    stopping.throwIfAborted();
    output.say(
      `Redis: apt-get could not install it (${error instanceof Error ? error.message : String(error)})`,
    );
  }
  return findOnPath('redis-server', env);
}

/** Returns the program that an earlier start built in LOCAL_DIR. Null if there is none. */
export function findBuiltProgram({ supervisor }: DatabaseContext): string | null {
  const file = builtFile(supervisor.localDir);
  const program = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  return fs.existsSync(program) ? program : null;
}

function builtFile(localDir: string): string {
  return path.join(localDir, 'redis-memory-server', 'program');
}

/**
 * Builds Redis from source in LOCAL_DIR.
 * @returns The path of the program. Null after printing why the build failed.
 */
export async function installRedisFromNpm(context: DatabaseContext): Promise<string | null> {
  const { env, supervisor } = context;
  const { localDir, output, stopping } = supervisor;
  const dir = path.join(localDir, 'redis-memory-server');
  const npm = findOnPath('npm', env);
  if (npm === null) {
    output.say('Redis: redis-memory-server cannot be installed, because npm is not on PATH');
    return null;
  }
  if (!(await mayInstall(`the npm package redis-memory-server, which builds Redis, in ${dir}`, context))) {
    return null;
  }
  const line = (text: string) => {
    output.line('npm', text);
  };
  try {
    output.say(`Redis: installing redis-memory-server into ${dir} …`);
    fs.mkdirSync(dir, { recursive: true });
    await runCommand(
      npm,
      [
        'install',
        '--prefix',
        dir,
        '--no-save',
        '--no-audit',
        '--no-fund',
        '--fetch-retries=0',
        '--prefer-offline',
        `redis-memory-server@${memoryServerVersion}`,
      ],
      // The postinstall script would build into a folder outside LOCAL_DIR. `getPath` below builds
      // into LOCAL_DIR.
      { env: { ...env, REDISMS_DISABLE_POSTINSTALL: '1' }, signal: stopping, limitMs: npmMs, line },
    );
    output.say('Redis: redis-memory-server builds Redis; this takes a few minutes the first time …');
    const program = await memoryServerProgram(dir, { env, signal: stopping, limitMs: buildMs, line });
    if (program !== null) {
      fs.writeFileSync(builtFile(localDir), program);
    }
    return program;
  } catch (error) {
    stopping.throwIfAborted();
    output.say(
      `Redis: redis-memory-server failed (${error instanceof Error ? error.message : String(error)})`,
    );
    return null;
  }
}

/** Runs in a separate process, so that the build can be stopped. */
async function memoryServerProgram(
  dir: string,
  options: Parameters<typeof runCommand>[2],
): Promise<string | null> {
  const entry = pathToFileURL(path.join(dir, 'node_modules', 'redis-memory-server', 'lib', 'index.js')).href;
  const downloadDir = JSON.stringify(path.join(dir, 'binaries'));
  const script =
    `import server from '${entry}';\n` +
    `console.log('PROGRAM ' + await server.RedisBinary.getPath({ downloadDir: ${downloadDir} }));`;
  const written = await runCommand(process.execPath, ['--input-type=module', '--eval', script], options);
  return /^PROGRAM (.+)$/m.exec(written)?.[1] ?? null;
}

/** Returns the command that installs Redis on this system. */
export function installRedisHint(env: NodeJS.ProcessEnv): string {
  const managers: [string, string][] = [
    ['brew', 'brew install redis'],
    ['apt-get', 'sudo apt-get install redis-server'],
    ['dnf', 'sudo dnf install valkey'],
    ['apk', 'sudo apk add redis'],
    ['pacman', 'sudo pacman -S valkey'],
    ['zypper', 'sudo zypper install redis'],
  ];
  const hint = managers.find(([manager]) => findOnPath(manager, env) !== null)?.[1];
  return hint ?? 'docker run -p 6379:6379 redis:7 (then set REDIS_URL=redis://127.0.0.1:6379)';
}

function isDebianLike(): boolean {
  const file = '/etc/os-release';
  return fs.existsSync(file) && /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(fs.readFileSync(file, 'utf8'));
}
