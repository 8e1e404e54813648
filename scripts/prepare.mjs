/**
 * Prepares a fresh clone: checks Node, installs the dependencies and builds. Uses only Node,
 * because it runs before the packages exist. Does nothing if everything is current, and never
 * installs into an image or a production checkout. Output is written to stderr, because stdout
 * belongs to the script that follows.
 */
import { spawn } from 'node:child_process';
import { existsSync, linkSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const stamp = path.join(root, 'dist', '.built');
const sources = [
  'src',
  'workers',
  'config',
  'scripts',
  'packages/embedded-mongo/src',
  'packages/embedded-mongo/tsconfig.json',
  'packages/client-node/src',
  'packages/client-node/tsconfig.json',
  'packages/client-node/package.json',
  'packages/client-node/README.md',
  'packages/console/src',
  'packages/console/index.html',
  'packages/console/portal.html',
  'packages/console/vite.config.ts',
  'tsconfig.json',
];

/**
 * Prints a plain message and exits if this machine or the build is unusable.
 * @param options.development True if the script needs development packages.
 */
export async function prepare({ development = false } = {}) {
  checkNodeVersion();
  if (isImage() || (buildIsCurrent() && packagesAreCurrent({ development }))) {
    return;
  }
  if (packagesAreCurrent({ development: false }) && !packagesAreCurrent({ development: true })) {
    console.error(
      'This checkout has only the production packages (npm prune --omit=dev). This command needs an up-to-date\n' +
        'build or the development packages. Stop everything that runs from this checkout, then run:\n' +
        '  npm ci --include=dev && npm run build',
    );
    throw new Stopped(1);
  }
  // Two copies of one clone may start at the same time. The second one waits for the first
  // installation.
  const release = await takeTurn();
  try {
    if (!packagesAreCurrent({ development: true })) {
      console.error('Installing the dependencies (npm ci); this takes a moment the first time …');
      // The build needs the development packages, even with NODE_ENV=production.
      await run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
    }
    if (!buildIsCurrent()) {
      console.error('Building …');
      await run('npm', ['run', 'build', '--silent']);
    }
  } finally {
    release();
  }
}

function checkNodeVersion() {
  const { engines } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const wanted = engines.node.replace('>=', '').split('.').map(Number);
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < wanted[0] || (major === wanted[0] && minor < (wanted[1] ?? 0))) {
    console.error(
      `This needs Node ${engines.node}, and this is Node ${process.versions.node} (${process.execPath}).\n` +
        'Install a newer one from https://nodejs.org or with your version manager (nvm install 22), then try again.',
    );
    process.exit(1);
  }
}

/** True in an image, which contains the build but neither sources nor package-lock.json. */
function isImage() {
  return existsSync(stamp) && !existsSync(path.join(root, 'package-lock.json'));
}

/** True if the installed packages match package-lock.json. */
function packagesAreCurrent({ development }) {
  const installed = lockfile('node_modules/.package-lock.json');
  const wanted = lockfile('package-lock.json');
  return (
    installed !== null &&
    Object.entries(wanted).every(
      ([name, entry]) =>
        // Optional packages are for other systems. Paths without node_modules are workspaces.
        entry.optional ||
        (!development && (entry.dev || entry.devOptional)) ||
        !name.includes('node_modules/') ||
        installed[name]?.version === entry.version,
    )
  );
}

function lockfile(file) {
  try {
    return JSON.parse(readFileSync(path.join(root, file), 'utf8')).packages;
  } catch {
    return null;
  }
}

function buildIsCurrent() {
  const builtAt = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs;
  return (
    builtAt !== undefined &&
    readFileSync(stamp, 'utf8') === packagesHash() &&
    sources.every((file) => newest(path.join(root, file)) < builtAt)
  );
}

/**
 * Identifies the packages of a build. The file time of package-lock.json is unreliable, because npm
 * rewrites the file when it prunes.
 */
export function packagesHash() {
  return createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .digest('hex');
}

/**
 * Returns the newest modification time. Includes folders, because their time changes when a file is
 * removed.
 */
function newest(file) {
  const entry = statSync(file, { throwIfNoEntry: false });
  if (!entry?.isDirectory()) {
    return entry?.mtimeMs ?? 0;
  }
  return readdirSync(file).reduce(
    (latest, name) => Math.max(latest, newest(path.join(file, name))),
    entry.mtimeMs,
  );
}

/**
 * Waits until no other process prepares this clone.
 * @returns A function that releases the lock.
 */
async function takeTurn() {
  const lock = path.join(
    tmpdir(),
    `topup-prepare-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`,
  );
  const mine = `${lock}.${process.pid}`;
  for (let waited = false; ; waited = true) {
    writeFileSync(mine, String(process.pid));
    try {
      // The link appears together with its content, so a lock always names its holder.
      linkSync(mine, lock);
      const release = () => rmSync(lock, { force: true });
      process.once('exit', release);
      return () => {
        process.off('exit', release);
        release();
      };
    } catch (error) {
      if (error.code !== 'EEXIST') {
        throw error;
      }
    } finally {
      rmSync(mine);
    }
    if (!holderIsAlive(lock)) {
      rmSync(lock, { force: true });
      continue;
    }
    if (!waited) {
      console.error('Waiting for another process that installs or builds this clone …');
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function holderIsAlive(lock) {
  try {
    return process.kill(Number(readFileSync(lock, 'utf8')), 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Runs a command in the clone. Ends this process if the command fails or if this process is
 * stopped.
 */
async function run(command, args) {
  const hasGroups = process.platform !== 'win32';
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', process.stderr, process.stderr],
    shell: !hasGroups,
    // With a separate process group, Ctrl-C reaches only this process. Otherwise npm and its
    // scripts would each print an error.
    detached: hasGroups,
  });
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (exitCode) => resolve(exitCode ?? 1));
    killCommand = () => {
      try {
        process.kill(hasGroups ? -child.pid : child.pid, 'SIGKILL');
      } catch {
        // The process has already ended.
      }
    };
  });
  killCommand = () => undefined;
  if (code !== 0) {
    console.error(`\n${command} ${args.join(' ')} failed (exit ${code}); the reason is above.`);
    throw new Stopped(1);
  }
}

/** Thrown instead of process.exit(), so that the lock is released first. */
class Stopped extends Error {
  constructor(exitCode) {
    super('stopped');
    this.exitCode = exitCode;
  }
}

/** Kills npm and its child processes. Set while npm runs. */
let killCommand = () => undefined;

/**
 * Handles Ctrl-C and SIGTERM until the script installs its own handlers. The next start repeats
 * interrupted work.
 */
function stopNow(signal) {
  killCommand();
  console.error(`${signal === 'SIGINT' ? 'Ctrl-C' : signal}: stopped.`);
  process.exit(128 + constants.signals[signal]);
}

/**
 * Prepares the clone, then runs a built script in this process. `--help` and an unknown option
 * prepare nothing.
 *
 * @param script.command The command as the user types it, for messages.
 * @param script.usage The text for `--help`.
 * @param script.options Options in the format of `parseArgs`. Absent if the script parses its own
 * arguments.
 * @param script.hasOwnHelp True if the built script prints its own help once a build exists.
 */
export async function prepareAndRun(name, { command, usage, options, hasOwnHelp, development }) {
  const built = new URL(`../dist/scripts/${name}.js`, import.meta.url);
  const args = process.argv.slice(2);
  if (usage !== undefined && args.some((each) => each === '--help' || each === '-h')) {
    if (hasOwnHelp && existsSync(built)) {
      await import(built.href);
    } else {
      console.log(usage);
    }
    return;
  }
  if (options !== undefined && !isUnderstood(args, { command, options })) {
    process.exitCode = 2;
    return;
  }
  process.on('SIGINT', stopNow).on('SIGTERM', stopNow);
  try {
    await prepare({ development });
    await import(built.href);
  } catch (error) {
    if (error instanceof Stopped) {
      process.exit(error.exitCode);
    }
    throw error;
  } finally {
    process.off('SIGINT', stopNow).off('SIGTERM', stopNow);
  }
}

function isUnderstood(args, { command, options }) {
  try {
    parseArgs({ args, options });
    return true;
  } catch (error) {
    console.error(
      `${error.message.split('. ')[0]}; nothing was done. ${command} -- --help lists the options.`,
    );
    return false;
  }
}
