/**
 * Runs one test file with mocha and reports to the runner over IPC. A separate process isolates
 * connections, clocks, environment and modules.
 */
import fs from 'node:fs';
import Mocha from 'mocha';
import type { FileMessage, FileOrder, TestResult } from './messages.js';
import { describeError } from './describe-error.js';
import { loadBuilt } from './load-built.js';

/**
 * Time limit that ends a hanging test, with a margin for slow machines. Tests of speed measure the
 * time themselves.
 */
const testTimeoutMs = 60_000;
const { EVENT_TEST_PASS, EVENT_TEST_FAIL, EVENT_TEST_PENDING } = Mocha.Runner.constants;
const { EVENT_FILE_PRE_REQUIRE, EVENT_FILE_REQUIRE, EVENT_FILE_POST_REQUIRE } = Mocha.Suite.constants;

// If the runner has exited, kills the whole process group.
process.once('disconnect', () => process.kill(-process.pid, 'SIGKILL'));
process.once('message', (order: FileOrder) => {
  void run(order).then(
    (failures) => end(failures === 0 ? 0 : 1),
    (error: unknown) => {
      sendMessage({ type: 'broken', failure: { text: describeError(error) } });
      end(1);
    },
  );
});

async function run({ builtDir, file, grep, forbidOnly, sizedOnly }: FileOrder): Promise<number> {
  const mocha = new Mocha({
    timeout: testTimeoutMs,
    forbidOnly,
    reporter: ResultReporter,
    ...(grep !== null && { grep: new RegExp(grep) }),
  });
  await loadInto(mocha, builtDir, file);
  if (sizedOnly && hasSized(mocha.suite)) {
    keepSized(mocha.suite);
  }
  return new Promise((resolve) => mocha.run(resolve));
}

/** Does what Mocha's own loader does, which cannot load a part of a bundle. */
async function loadInto(mocha: Mocha, builtDir: string, file: string): Promise<void> {
  mocha.suite.emit(EVENT_FILE_PRE_REQUIRE, globalThis, file, mocha);
  mocha.suite.emit(EVENT_FILE_REQUIRE, await loadBuilt(builtDir, file), file, mocha);
  mocha.suite.emit(EVENT_FILE_POST_REQUIRE, globalThis, file, mocha);
}

/** True if the test has the tag of tests with several sizes (test/support/sizes.ts). */
function isSized({ title }: Mocha.Test): boolean {
  return title.endsWith(' @sized');
}

function hasSized(suite: Mocha.Suite): boolean {
  return suite.tests.some(isSized) || suite.suites.some(hasSized);
}

function keepSized(suite: Mocha.Suite): void {
  suite.tests = suite.tests.filter(isSized);
  suite.suites.forEach(keepSized);
}

class ResultReporter extends Mocha.reporters.Base {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.on(EVENT_TEST_PASS, (test) => reportResult(test, 'passed'));
    runner.on(EVENT_TEST_PENDING, (test) => reportResult(test, 'pending'));
    runner.on(EVENT_TEST_FAIL, (test, error: unknown) => reportResult(test, 'failed', error));
  }
}

/** @param test A test, or a hook that failed. */
function reportResult(test: Mocha.Runnable, state: TestResult['state'], error?: unknown): void {
  sendMessage({
    type: 'test',
    result: {
      path: test.titlePath(),
      state,
      ms: test.duration ?? 0,
      failure: state === 'failed' ? { text: describeError(error) } : null,
      skippedBecause: state === 'pending' ? reasonOf(test) : null,
    },
  });
}

/** Returns the reason that test/support/skip-because.ts set on the test or on a suite around it. */
function reasonOf(from: Mocha.Runnable | Mocha.Suite | undefined): string | null {
  return from === undefined
    ? null
    : ((from as { skippedBecause?: string }).skippedBecause ?? reasonOf(from.parent));
}

function sendMessage(message: FileMessage, then?: () => void): void {
  process.send?.(message, undefined, undefined, then);
}

function end(exitCode: number): void {
  // Exits even if a test left a server or a connection open.
  sendMessage({ type: 'end', cpuMs: cpuMs() }, () => process.exit(exitCode));
}

function cpuMs(): number {
  try {
    // Format: "pid (name) state …". Sums user and system time of this process and its children, in
    // ticks of 10 ms.
    const fields = fs
      .readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
  } catch {
    const { user, system } = process.cpuUsage();
    return Math.round((user + system) / 1_000);
  }
}
