/**
 * `npm test [-- files and mocha options]`: the whole suite, or the files named, on databases of its own that are
 * gone afterwards. `--soak` runs the same tests with larger numbers (SOAK=1).
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { resolveMongodb } from './databases/resolve-mongodb.js';
import { resolveRedis } from './databases/resolve-redis.js';
import { createOutput } from './supervisor/output.js';
import { PlainError } from './supervisor/plain-error.js';
import { createSupervisor, type Supervisor } from './supervisor/supervisor.js';
import { whenAskedToStop } from './supervisor/when-asked-to-stop.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const packageDir = 'packages/embedded-mongo';
const mochaStopMs = 10_000;

async function main(args: string[]): Promise<number> {
  const localDir = fs.mkdtempSync(path.join(os.tmpdir(), 'topup-test-'));
  const output = createOutput(path.join(localDir, 'logs'));
  const supervisor = createSupervisor({ localDir, output, changed: () => undefined });
  whenAskedToStop((reason) => {
    output.say(`${reason}: stopping …`);
    void supervisor.stopAll();
  });
  try {
    const context = { env: { ...process.env, NODE_ENV: 'test' }, supervisor, durable: false };
    const [mongodb, redis] = await Promise.all([resolveMongodb(context), resolveRedis(context)]);
    output.say(`Tests run on: ${mongodb.used}; ${redis.used}`);
    const env = {
      NODE_ENV: 'test',
      APP_MODE: 'sandbox',
      LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'error',
      LOCAL_DIR: localDir,
      // What tests write goes with the rest.
      TMPDIR: temporaryDir(localDir),
      MONGODB_URI: mongodb.url,
      REDIS_URL: redis.url,
      ...(args.includes('--soak') && { SOAK: '1' }),
    };
    return await runSuites(
      args.filter((each) => each !== '--soak'),
      { ...process.env, ...env },
      supervisor,
    );
  } catch (error) {
    console.error(error instanceof PlainError ? `\n${error.message}\n` : error);
    return 1;
  } finally {
    await supervisor.stopAll();
    output.close();
    fs.rmSync(localDir, { recursive: true, force: true });
  }
}

function temporaryDir(localDir: string): string {
  const dir = path.join(localDir, 'tmp');
  fs.mkdirSync(dir);
  return dir;
}

/** The service's tests and those of the embedded database; with files named, only where there are some. */
async function runSuites(args: string[], env: NodeJS.ProcessEnv, supervisor: Supervisor): Promise<number> {
  const named = args.filter(isTestFile).map((file) => path.relative(root, path.resolve(root, file)));
  const options = args.filter((each) => !isTestFile(each));
  const inPackage = named.filter((file) => file.startsWith(packageDir));
  const suites = [
    { dir: '.', files: named.filter((file) => !inPackage.includes(file)) },
    { dir: packageDir, files: inPackage.map((file) => path.relative(packageDir, file)) },
  ];
  let exitCode = 0;
  for (const suite of suites) {
    if (!supervisor.stopping.aborted && (named.length === 0 || suite.files.length > 0)) {
      exitCode = (await mocha({ ...suite, options }, env, supervisor.stopping)) || exitCode;
    }
  }
  return exitCode;
}

function isTestFile(argument: string): boolean {
  return (
    !argument.startsWith('-') && (argument.includes('.test.') || fs.existsSync(path.join(root, argument)))
  );
}

/** @returns its exit code, which is the number of failed tests. */
async function mocha(
  { dir, files, options }: { dir: string; files: string[]; options: string[] },
  env: NodeJS.ProcessEnv,
  stopping: AbortSignal,
): Promise<number> {
  const args = [
    path.join(root, 'node_modules/mocha/bin/mocha.js'),
    ...['--config', path.join(root, '.mocharc.json')],
    ...options,
    ...(files.length > 0 ? files : ['test/**/*.test.ts']),
  ];
  const child = spawn(process.execPath, args, { cwd: path.join(root, dir), env, stdio: 'inherit' });
  const stop = () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), mochaStopMs).unref();
  };
  stopping.addEventListener('abort', stop);
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('exit', (code, signal) => {
      resolve(code ?? 128 + os.constants.signals[signal ?? 'SIGTERM']);
    });
  });
  stopping.removeEventListener('abort', stop);
  return exitCode;
}

process.exit(await main(process.argv.slice(2)));
