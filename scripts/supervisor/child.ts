/** A supervised process: starts it, waits until it is ready and restarts it after a crash. */
import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { on, once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { getBuiltProgramPath, projectRoot } from '../../config/project-file.js';
import { eachLine } from './lines.js';
import type { Output } from './output.js';
import { writePidFile } from './pid-files.js';
import { PlainError } from './plain-error.js';
import { hasTimedOut, limitedSignal } from './limited-signal.js';

export interface ChildSpec {
  name: string;
  /** Script and arguments, which run with the Node binary of this process. */
  args: string[];
  /** Variables added to the environment of this process. */
  env?: Record<string, string>;
  /** Processes of one tier stop together. Services stop first, databases last. */
  tier: 'service' | 'playground' | 'database';
  /**
   * Resolves when the process is usable. By default, the process sends `{ ready: true, port }` over
   * IPC.
   */
  whenReady?: (signal: AbortSignal) => Promise<void>;
  readyTimeoutMs?: number;
}

export interface ChildContext {
  /**
   * Absolute path. It is part of each child's command line, so that a later start recognises the
   * child.
   */
  localDir: string;
  output: Output;
  /** Aborted when the supervisor stops. */
  stopping: AbortSignal;
  /** Called when a child's process id changes. */
  changed: () => void;
}

export interface Child {
  spec: ChildSpec;
  process: ChildProcess | null;
  port: number | null;
  /** Last output lines of the child, for the message if it fails to start. */
  lastLines: string[];
  /** Aborted for a child that must not restart. */
  unwanted: AbortController;
}

const readyTimeoutMs = 60_000;
const unreadyStopMs = 3_000;
const backOffMs = { first: 100, max: 5_000 };
/** A process that ran for this long was healthy, so it is restarted at once after a crash. */
const healthyAfterMs = 10_000;
const lastLinesMax = 15;

/**
 * Starts a child and restarts it until it is no longer wanted. Rejects if the first start fails.
 */
export async function startChild(spec: ChildSpec, context: ChildContext): Promise<Child> {
  const child: Child = { spec, process: null, port: null, lastLines: [], unwanted: new AbortController() };
  const over = await launch(child, context);
  void keepRunning(child, context, over);
  return child;
}

/** Sends SIGTERM, then SIGKILL after the limit. Resolves when the process has ended. */
export async function stopChild(child: Child, limitMs: number): Promise<void> {
  child.unwanted.abort();
  if (child.process !== null) {
    await endProcess(child.process, limitMs);
  }
}

async function endProcess(running: ChildProcess, limitMs: number): Promise<void> {
  if (running.exitCode !== null || running.signalCode !== null || running.pid === undefined) {
    return;
  }
  const exited = once(running, 'exit');
  running.kill('SIGTERM');
  const timer = setTimeout(() => running.kill('SIGKILL'), limitMs);
  await exited;
  clearTimeout(timer);
}

/** @returns A promise that resolves to a description of how the process ended. */
async function launch(child: Child, context: ChildContext): Promise<{ ended: Promise<string> }> {
  const { spec } = child;
  const stopping = AbortSignal.any([context.stopping, child.unwanted.signal]);
  stopping.throwIfAborted();
  const started = spawnNode(spec, context.localDir);
  child.process = started;
  child.lastLines = [];
  const take = (line: string) => {
    child.lastLines = [...child.lastLines.slice(1 - lastLinesMax), line];
    // Database output is verbose, so it is only logged, and quoted if the start fails.
    context.output[spec.tier === 'database' ? 'keep' : 'line'](spec.name, line);
  };
  eachLine(started.stdout, take);
  eachLine(started.stderr, take);
  const ended = new Promise<string>((resolve) => {
    started.once('error', (error) => {
      resolve(error.message);
    });
    // 'close' comes after the last output, so that the message can quote the output.
    started.once('close', (code, signal) => {
      resolve(signal === null ? `ended with exit code ${code ?? 0}` : `was killed (${signal})`);
    });
  });
  try {
    await Promise.race([waitUntilReady(child, started, stopping), rejectWhenEnded(child, ended)]);
  } catch (error) {
    await endProcess(started, unreadyStopMs);
    await ended;
    throw error;
  }
  return { ended };
}

/**
 * Starts a Node process that ends with this process. Its command line and pid file identify it as
 * part of this copy.
 */
export function spawnNode(
  spec: Pick<ChildSpec, 'name' | 'args' | 'env'>,
  localDir: string,
): ChildProcessByStdio<null, Readable, Readable> {
  const preload = `${pathToFileURL(getBuiltProgramPath('scripts/supervisor/follow-parent.js')).href}?copy=${localDir}`;
  const started = spawn(process.execPath, ['--import', preload, ...spec.args], {
    cwd: projectRoot,
    env: { ...process.env, ...spec.env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A separate process group, so that Ctrl-C reaches only the supervisor, which stops all
    // processes in order.
    detached: true,
  }) as ChildProcessByStdio<null, Readable, Readable>;
  if (started.pid !== undefined) {
    writePidFile(localDir, spec.name, started.pid);
  }
  return started;
}

async function waitUntilReady(child: Child, started: ChildProcess, stopping: AbortSignal): Promise<void> {
  const { spec } = child;
  const signal = limitedSignal(stopping, spec.readyTimeoutMs ?? readyTimeoutMs);
  try {
    await (spec.whenReady === undefined
      ? waitForReadyMessage(child, started, signal)
      : spec.whenReady(signal));
  } catch (error) {
    throw hasTimedOut(signal)
      ? new PlainError(`${spec.name} timed out at startup.${formatLastLines(child)}`)
      : error;
  }
}

async function waitForReadyMessage(child: Child, started: ChildProcess, signal: AbortSignal): Promise<void> {
  // A repeated `once` could miss the second of two messages that arrive together.
  for await (const [message] of on(started, 'message', { signal }) as AsyncIterable<[unknown]>) {
    if (typeof message === 'object' && message !== null && 'ready' in message && message.ready === true) {
      child.port = 'port' in message && typeof message.port === 'number' ? message.port : null;
      return;
    }
  }
}

async function rejectWhenEnded(child: Child, ended: Promise<string>): Promise<never> {
  throw new PlainError(`${child.spec.name} ${await ended} before it was ready.${formatLastLines(child)}`);
}

function formatLastLines({ spec, lastLines }: Child): string {
  return spec.tier === 'database'
    ? lastLines.map((line) => `\n    ${line}`).join('')
    : ' The reason is above.';
}

async function keepRunning(child: Child, context: ChildContext, first: { ended: Promise<string> }) {
  const stopping = AbortSignal.any([context.stopping, child.unwanted.signal]);
  let current: { ended: Promise<string> } | null = first;
  let failures = 0;
  while (current !== null) {
    const readyAt = performance.now();
    const how = await current.ended;
    current = null;
    failures = performance.now() - readyAt > healthyAfterMs ? 0 : failures;
    for (let reason = `${child.spec.name} ${how}.`; current === null && !stopping.aborted; failures++) {
      const waitMs = Math.min(backOffMs.max, backOffMs.first * 2 ** failures);
      context.output.say(`${reason} Restarting it in ${waitMs} ms.`);
      try {
        await delay(waitMs, undefined, { signal: stopping });
        current = await launch(child, context);
        context.changed();
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error);
      }
    }
  }
}
