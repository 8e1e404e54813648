import { setTimeout as wait } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';
import { defineCommand } from './define-command.js';
import { colours, formatHeading, status, table, time, wrapLine } from './format.js';
import { printOutput, type Output } from './print.js';

const watchEveryMs = 5_000;
/**
 * Interval after which an unchanged result is printed again, in milliseconds. It shows that the
 * watch is alive. If the reader has exited, the write fails and ends the watch.
 */
const unchangedEveryMs = 60_000;

/** `topup doctor` */
export function registerDoctor(program: Command): void {
  defineCommand<{ watch?: boolean; json?: boolean }>(program, {
    usage: 'doctor',
    action: 'system.look',
    summary: 'Check the whole system and print what to do',
    details:
      'Checks databases, indexes, clocks, configuration, stalled or missing processes, queues and their workers, late work, and work that is waiting for an operator.\nChanges nothing. Exit code 1 if a check fails, otherwise 0, even with warnings. Run it with the same settings as the service, so that it checks the same configuration. With --watch it checks every 5 s until Ctrl-C. It prints every change in the result, and one line a minute while nothing changes. The exit code is that of the last check.',
    examples: ['doctor', 'doctor --json', 'doctor --watch'],
    options: [new Option('--watch', 'repeat the checks until Ctrl-C')],
    toleratesOutage: true,
    run: ({ options: { watch, json } }) => (watch ? watchSystem(json === true) : diagnoseOnce()),
  });
}

async function diagnoseOnce(): Promise<Output> {
  const { diagnose } = await import('../../src/doctor/diagnose.js');
  return outputOf(await diagnose());
}

/**
 * Prints each result that differs from the previous one. The command itself prints the last result.
 */
async function watchSystem(json: boolean): Promise<Output> {
  const stop = new AbortController();
  const end = () => {
    stop.abort();
  };
  process.once('SIGINT', end).once('SIGTERM', end);
  let shown: Diagnosis[] | null = null;
  let printedAtMs = 0;
  for (;;) {
    const [{ diagnose }, { now }] = await Promise.all([
      import('../../src/doctor/diagnose.js'),
      import('../../src/shared/clock.js'),
    ]);
    const found = await diagnose();
    if (stop.signal.aborted) {
      return outputOf(found);
    }
    if (stateOf(found) !== stateOf(shown)) {
      const at = now();
      const output = outputOf(found);
      printOutput(
        { data: { at, ...(output.data as object) }, text: `${formatHeading(time(at))}\n${output.text}` },
        json,
      );
      shown = found;
      printedAtMs = Date.now();
    } else if (Date.now() - printedAtMs >= unchangedEveryMs) {
      const at = now();
      printOutput({ data: { at, unchanged: true }, text: colours.dim(`${time(at)} unchanged`) }, json);
      printedAtMs = Date.now();
    }
    await wait(watchEveryMs, undefined, { signal: stop.signal }).catch(() => undefined);
  }
}

/** Returns the names of the failed checks. The passing checks vary with processes and providers. */
function stateOf(found: Diagnosis[] | null): string | null {
  return (
    found &&
    found
      .filter((each) => each.status !== 'ok')
      .map((each) => `${each.status} ${each.name}`)
      .sort()
      .join('\n')
  );
}

function outputOf(found: Diagnosis[]): Output {
  const failed = found.some((each) => each.status === 'fail');
  const rows = found.map((each) => [status(each.status), each.name, each.detail]);
  const todo = found.flatMap((each) =>
    each.advice === null
      ? []
      : [wrapLine(`${status(each.status).padEnd(4)}  ${each.name}: ${each.advice}`, 6)],
  );
  return {
    data: { ok: !failed, checks: found },
    failed,
    text: [
      table(['', 'check', 'found'], rows),
      ...(todo.length > 0
        ? [formatHeading('What to do'), ...todo]
        : ['', colours.green('All checks passed.')]),
    ].join('\n'),
  };
}
