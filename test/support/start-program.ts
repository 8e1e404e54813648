import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import { getBuiltProgramPath } from '../../config/project-file.js';

const readyTimeoutMs = 30_000;

export interface RunningProgram {
  process: ChildProcess;
  pid: number;
  /** The port that the program listens on. 0 if it does not listen. */
  port: number;
  url: string;
  /** Returns the last part of the program's output. */
  output(): string;
  /**
   * Sends the signal and waits until the process has exited. Returns the exit code, or null if the
   * signal ended the process.
   */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts a built program as a process and waits for its message `{ready: true, port}`. The program
 * ends no later than its parent process.
 * @param script Path below dist/, such as `scripts/inbox/main.js`.
 * @throws Error with the program's output if it exits or sends no message.
 */
export async function startProgram(
  script: string,
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<RunningProgram> {
  const path = getBuiltProgramPath(script);
  if (!existsSync(path)) {
    throw new Error(`dist/${script} is missing: build first (npm run build)`);
  }
  const child = fork(path, args, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: [] });
  let printed = '';
  const keep = (chunk: Buffer): void => {
    printed = (printed + chunk.toString()).slice(-200_000);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);

  const port = await waitForReadyPort(child).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw new Error(`dist/${script} did not start: ${printed}`, { cause: error });
  });
  unrefChild(child);
  running.push({ name: `${script} ${args.join(' ')}`, child, output: () => printed });
  return {
    process: child,
    pid: child.pid ?? 0,
    port,
    url: `http://127.0.0.1:${port}`,
    output: () => printed,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) {
        const exit = once(child, 'exit');
        child.ref();
        child.kill(signal);
        await exit;
      }
      return child.exitCode;
    },
  };
}

const running: { name: string; child: ChildProcess; output: () => string }[] = [];
const lastLines = 25;
const lineMax = 400;

// After a failed test, print the last output of its processes. Benchmarks start programs without
// mocha.
if (typeof afterEach === 'function') {
  afterEach(function tellLastWords() {
    if (this.currentTest?.state === 'failed') {
      for (const { name, child, output } of running) {
        const lines = output().trim().split('\n').slice(-lastLines);
        const state = child.exitCode ?? child.signalCode ?? 'running';
        process.stdout.write(`--- ${name} (${state})\n`);
        lines.forEach((line) => process.stdout.write(`${line.slice(0, lineMax)}\n`));
      }
    }
  });
}

/**
 * Unreferences the child process. If a failed test does not stop its program, the program must not
 * keep the test process alive.
 */
function unrefChild(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  for (const output of [child.stdout, child.stderr]) {
    if (output instanceof Socket) {
      output.unref();
    }
  }
}

function waitForReadyPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`not ready within ${readyTimeoutMs} ms`)),
      readyTimeoutMs,
    );
    child.on('message', (message: { ready?: boolean; port?: number }) => {
      if (message.ready === true) {
        clearTimeout(timer);
        resolve(message.port ?? 0);
      }
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${String(code)}`));
    });
  });
}
