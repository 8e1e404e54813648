/** Runs a set of processes: starts them, restarts them after a crash, stops them in order. */
import { once } from 'node:events';
import { spawnNode, startChild, stopChild, type Child, type ChildContext, type ChildSpec } from './child.js';
import { eachLine } from './lines.js';
import type { Output } from './output.js';
import { stopLeftovers } from './pid-files.js';
import { PlainError } from './plain-error.js';

export interface Supervisor {
  /**
   * Starts a process and keeps it running. If the first start fails, rejects with the last output
   * of the process.
   */
  start: (spec: ChildSpec) => Promise<void>;
  /** Stops one process permanently. */
  stop: (name: string) => Promise<void>;
  /**
   * Runs a script to its end. Rejects unless the script exits with 0.
   * @returns The script's stdout.
   */
  run: (spec: Pick<ChildSpec, 'name' | 'args' | 'env'>) => Promise<string>;
  /** Stops all processes within 30 s, services first and databases last. Idempotent. */
  stopAll: () => Promise<void>;
  /** Returns the running processes. `port` is null for processes that do not listen. */
  processes: () => { name: string; tier: ChildSpec['tier']; pid: number; port: number | null }[];
  localDir: string;
  output: Output;
  /** Aborted by the first call of `stopAll`. */
  stopping: AbortSignal;
}

/** Time limits per tier, in total below 30 s. A service may use its whole drain timeout. */
const stopLimitsMs: [ChildSpec['tier'], number][] = [
  ['service', 25_500],
  ['playground', 1_000],
  ['database', 2_000],
];

const firstReportMs = 5_000;

/** @param options.changed Called when a process is replaced. */
export function createSupervisor(options: {
  localDir: string;
  output: Output;
  changed: () => void;
}): Supervisor {
  const { localDir, output, changed } = options;
  const stop = new AbortController();
  const context: ChildContext = { localDir, output, changed, stopping: stop.signal };
  const children = new Map<string, Child>();
  const starting = new Set<Promise<unknown>>();
  const reportWait = createWaitReporter(output);
  let stopped: Promise<void> | null = null;
  /** Lets `stopAll` wait for this work. */
  const track = async <T>(work: Promise<T>): Promise<T> => {
    starting.add(work);
    try {
      return await work;
    } finally {
      starting.delete(work);
    }
  };
  return {
    localDir,
    output,
    stopping: stop.signal,
    async start(spec) {
      children.set(spec.name, await track(reportWait(spec.name, startChild(spec, context))));
    },
    async stop(name) {
      const child = children.get(name);
      children.delete(name);
      await (child && stopChild(child, stopTimeoutMs(child)));
    },
    run: (spec) => track(reportWait(spec.name, runToEnd(spec, context))),
    stopAll() {
      stop.abort(new Error('stopping'));
      stopped ??= Promise.allSettled(starting).then(() => stopInOrder(context, [...children.values()]));
      return stopped;
    },
    processes: () =>
      [...children.values()].flatMap(({ spec: { name, tier }, process, port }) =>
        process?.pid === undefined ? [] : [{ name, tier, pid: process.pid, port }],
      ),
  };
}

/** Reports which processes a slow start waits for, at growing intervals. */
function createWaitReporter({ say }: Output): <T>(name: string, work: Promise<T>) => Promise<T> {
  const missing = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const sayAfter = (intervalMs: number, waitedMs: number) => {
    timer = setTimeout(() => {
      const nowMs = waitedMs + intervalMs;
      say(`Still waiting for ${[...missing].join(', ')} (${nowMs / 1_000} s) …`);
      sayAfter(intervalMs * 2, nowMs);
    }, intervalMs);
    timer.unref();
  };
  return async (name, work) => {
    if (missing.size === 0) {
      sayAfter(firstReportMs, 0);
    }
    missing.add(name);
    try {
      return await work;
    } finally {
      missing.delete(name);
      if (missing.size === 0) {
        clearTimeout(timer);
      }
    }
  };
}

function stopTimeoutMs(child: Child): number {
  return stopLimitsMs.find(([tier]) => tier === child.spec.tier)?.[1] ?? 0;
}

async function stopInOrder({ localDir }: ChildContext, children: Child[]): Promise<void> {
  for (const [tier, limitMs] of stopLimitsMs) {
    await Promise.all(
      children.filter((child) => child.spec.tier === tier).map((child) => stopChild(child, limitMs)),
    );
  }
  // If a guard was killed, its program still runs.
  await stopLeftovers(localDir, 500);
}

async function runToEnd(spec: Pick<ChildSpec, 'name' | 'args' | 'env'>, context: ChildContext) {
  context.stopping.throwIfAborted();
  const child = spawnNode(spec, context.localDir);
  const stop = () => child.kill('SIGTERM');
  context.stopping.addEventListener('abort', stop);
  const written: string[] = [];
  eachLine(child.stdout, (line) => written.push(line));
  eachLine(child.stderr, (line) => {
    context.output.line(spec.name, line);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  context.stopping.removeEventListener('abort', stop);
  context.stopping.throwIfAborted();
  if (code !== 0) {
    throw new PlainError(`${spec.name} failed (exit code ${code ?? 'none'}). The reason is above.`);
  }
  return written.join('\n');
}
