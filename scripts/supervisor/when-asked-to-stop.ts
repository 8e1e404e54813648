import { constants } from 'node:os';
import { commandLine, parentOf } from './process-table.js';

const parentCheckMs = 500;
/** npm passes Ctrl-C on to us although the terminal has sent it already: within this, two are one. */
const sameRequestMs = 1_000;

/**
 * Calls `stop` once: on Ctrl-C, on SIGTERM, when the terminal is closed, and when the program that started us is
 * gone, with the exit code that says so. Ctrl-C again, later, ends this process at once; its children then stop by themselves.
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
    ask('The program that started this one is gone', null);
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
 * npm that is killed can't tell us. Any other parent may end before us on purpose (nohup, a shell's &).
 * @returns null when it was not npm that started us.
 */
function watchNpm(): (() => boolean) | null {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script } = process.env;
  if (event === undefined || script === undefined) {
    return null;
  }
  const parent = process.ppid;
  // npm runs a script through a shell; some shells give way to it, others stay between the two.
  const npm = commandLine(parent).includes(`-c ${script}`) ? parentOf(parent) : null;
  return () => process.ppid !== parent || (npm !== null && parentOf(parent) !== npm);
}
