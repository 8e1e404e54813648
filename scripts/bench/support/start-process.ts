import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { getBuiltProgramPath } from '../../../config/project-file.js';

export interface RunningProcess {
  /** Name in the figures. Processes with the same name are summed. */
  name: string;
  pid: number;
  /** Address of a process that listens. It is not usable for other processes. */
  url: string;
  child: ChildProcess;
  stop(): Promise<void>;
}

export interface ProcessSpec {
  name: string;
  /** Path below dist/. */
  script: string;
  args?: string[];
  env?: NodeJS.ProcessEnv;
}

const readyTimeoutMs = 60_000;
const running = new Set<RunningProcess>();
let started = 0;

/**
 * Starts a built program and waits for its `{ready: true}`. The program stops no later than this
 * process. Its output is written to a file in the temporary directory. With PROFILE=<folder>, the
 * program writes a CPU profile to that folder.
 * @throws Error with the end of the program's output if it does not become ready.
 */
export async function startProcess({
  name,
  script,
  args = [],
  env = {},
}: ProcessSpec): Promise<RunningProcess> {
  const logFile = path.join(os.tmpdir(), `${name}-${(started += 1)}.log`);
  const log = fs.openSync(logFile, 'w');
  const profiles = process.env['PROFILE'];
  const child = fork(getBuiltProgramPath(script), args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', log, log, 'ipc'],
    execArgv: [
      '--import',
      pathToFileURL(getBuiltProgramPath('scripts/supervisor/follow-parent.js')).href,
      ...(profiles
        ? [
            '--cpu-prof',
            `--cpu-prof-dir=${path.resolve(profiles)}`,
            `--cpu-prof-name=${name}-${started}.cpuprofile`,
          ]
        : []),
    ],
  });
  fs.closeSync(log);
  const port = await waitForPort(child).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw new Error(`${name} did not start: ${fs.readFileSync(logFile, 'utf8').slice(-3_000)}`, {
      cause: error,
    });
  });
  const found: RunningProcess = {
    name,
    child,
    pid: child.pid ?? 0,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      running.delete(found);
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        await exited;
      }
    },
  };
  running.add(found);
  return found;
}

/** Stops every process of this benchmark. */
export async function stopProcesses(): Promise<void> {
  await Promise.all([...running].map((each) => each.stop()));
}

function waitForPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('timed out before it was ready')), readyTimeoutMs);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${String(code)}`));
    });
    child.on('message', (message: { ready?: boolean; port?: number }) => {
      if (message.ready === true) {
        clearTimeout(timer);
        resolve(message.port ?? 0);
      }
    });
  });
}
