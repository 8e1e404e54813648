import { constants } from 'node:os';
import { commandLine, parentOf } from './process-table.js';

const parentCheckMs = 500;
/** npm forwards Ctrl-C in addition to the terminal. Signals within this time count as one. */
const sameRequestMs = 1_000;

/**
 * Calls `stop` once with an exit code: on Ctrl-C, SIGTERM, a closed terminal, or the end of npm. A
 * later Ctrl-C exits at once; the children then stop by themselves.
 */
export function whenAskedToStop(stop: (reason: string, exitCode: number) => void): void {
  let askedAt: number | null = null;
  const ask = (reason: string, signal: NodeJS.Signals | null) => {
    const exitCode = signal === null ? 1 : 128 + constants.signals[signal];
    if (askedAt === null) {
      askedAt = performance.now();
      stop(reason, exitCode);
    } else if (signal !== null && performance.now() - askedAt > sameRequestMs) {
      process.exit(exitCode);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      ask(signal === 'SIGINT' ? 'Ctrl-C' : signal, signal);
    });
  }
  const once = () => {
    ask('The parent process has ended', null);
  };
  process.once('disconnect', once);
  process.channel?.unref();
  const npmIsGone = watchNpm();
  if (npmIsGone !== null) {
    setInterval(() => {
      if (npmIsGone()) {
        once();
      }
    }, parentCheckMs).unref();
  }
}

/**
 * Detects a killed npm, which cannot send a signal. Other parents may end on purpose (nohup, a
 * shell's &).
 * @returns null if npm did not start this process.
 */
function watchNpm(): (() => boolean) | null {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script } = process.env;
  if (event === undefined || script === undefined) {
    return null;
  }
  const parent = process.ppid;
  // npm runs a script through a shell. Some shells exec the script, others remain as its parent.
  const npm = commandLine(parent).includes(`-c ${script}`) ? parentOf(parent) : null;
  return () => process.ppid !== parent || (npm !== null && parentOf(parent) !== npm);
}
