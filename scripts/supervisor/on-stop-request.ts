import { constants } from 'node:os';
import { commandLine, parentOf } from './process-table.js';

const parentCheckMs = 500;
/**
 * Maximum time between two signals that count as one request, in milliseconds. npm forwards Ctrl-C,
 * and the terminal sends it as well.
 */
const sameRequestMs = 1_000;

/**
 * Calls `stop` once with an exit code: on Ctrl-C, on SIGTERM, when the terminal is closed, or when
 * npm ends. A later Ctrl-C exits at once, and the children then stop by themselves.
 */
export function onStopRequest(stop: (reason: string, exitCode: number) => void): void {
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
 * Detects a killed npm, which cannot send a signal. Other parents may end on purpose, such as nohup
 * or a shell after `&`.
 * @returns A function that returns true once npm has ended. Null if npm did not start this process.
 */
function watchNpm(): (() => boolean) | null {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script } = process.env;
  if (event === undefined || script === undefined) {
    return null;
  }
  const parent = process.ppid;
  // npm runs a script through a shell. Some shells replace themselves with the script, others
  // remain as its parent.
  const npm = commandLine(parent).includes(`-c ${script}`) ? parentOf(parent) : null;
  return () => process.ppid !== parent || (npm !== null && parentOf(parent) !== npm);
}
