/** Output of a run: one line per file, then failures, times and totals. */
import colours from 'picocolors';
import type { TestResult } from './messages.js';
import { findSeed, type Outcome } from './flaky.js';
import { flakyMax } from './usage.mjs';
import type { FileResult } from './run-file.js';

export interface Report {
  /** Reports a finished test. */
  test: (result: TestResult) => void;
  /** Reports a finished file. */
  file: (result: FileResult, failed: boolean) => void;
  /** Reports that a failed file will be repeated alone. */
  again: (file: string) => void;
  /**
   * Reports the totals.
   * @param known The files listed in test/FLAKY.md.
   */
  sum: (outcome: Outcome, tookMs: number, known: ReadonlySet<string>) => void;
}

const slowestShown = 10;
const printedLinesMax = 200;
const flakyLinesMax = 40;

/** @param options.showTests True to print each test as it ends. Used for a single file. */
export function createReport({ showTests }: { showTests: boolean }): Report {
  return {
    test(result) {
      if (showTests) {
        console.log(`  ${mark(result.state)} ${result.path.join(' ')} ${colours.dim(seconds(result.ms))}`);
      }
    },
    file(result, failed) {
      const bad = result.tests.filter((each) => each.state === 'failed').length;
      const count = `${result.tests.length} tests${bad > 0 ? `, ${bad} failed` : ''}`;
      const sign = failed ? colours.red('✖') : colours.green('✔');
      console.log(
        `${sign} ${result.file} ${colours.dim(`${count}, ${seconds(result.ms)}, cpu ${seconds(result.cpuMs)}`)}`,
      );
      // Printed immediately and again at the end, so that failures are visible during a long run.
      for (const { path, text } of failed && !showTests ? failuresOf([result]) : []) {
        console.log(indent(colours.red(`${path.join(' › ')}\n${indent(text, 2)}`), 4));
      }
      const printed = worthReading(result.printed, failed || showTests);
      if (printed.length > 0) {
        console.log(indent(printed.slice(-printedLinesMax).join('\n'), 4));
      }
    },
    again(file) {
      console.log(`${file} failed and runs again, alone`);
    },
    sum: ({ results, flaky }, tookMs, known) => {
      const failures = failuresOf(results);
      printSlowest(results);
      printSkipped(results);
      printFlaky(flaky, known);
      // Printed last, where readers of a long log look.
      printFailures(failures);
      const count = (state: TestResult['state']) =>
        results.flatMap((each) => each.tests).filter((each) => each.state === state).length;
      const cpuMs = results.reduce((sum, each) => sum + each.cpuMs, 0);
      console.log(`\n  ${colours.green(`${count('passed')} passing`)} (${duration(tookMs)})`);
      if (count('pending') > 0) {
        console.log(`  ${colours.cyan(`${count('pending')} pending`)}`);
      }
      if (failures.length > 0) {
        console.log(`  ${colours.red(`${failures.length} failing`)}`);
      }
      if (flaky.length > 0) {
        console.log(`  ${colours.red(`${flaky.length} flaky`)}`);
      }
      console.log(colours.dim(`  ${results.length} files, ${duration(cpuMs)} of CPU\n`));
    },
  };
}

/**
 * Prints the tests that were skipped because a tool is missing, by tool. Tests that are too large
 * for this run have no such reason.
 */
function printSkipped(results: FileResult[]): void {
  const skipped = results.flatMap(({ file, tests }) =>
    tests.flatMap(({ skippedBecause }) => (skippedBecause === null ? [] : [{ file, skippedBecause }])),
  );
  if (skipped.length === 0) {
    return;
  }
  console.log(`\nSKIPPED: ${skipped.length} tests`);
  for (const reason of new Set(skipped.map((each) => each.skippedBecause))) {
    const tests = skipped.filter((each) => each.skippedBecause === reason);
    console.log(`  ${reason} (${tests.length} tests)`);
    for (const file of new Set(tests.map((each) => each.file))) {
      console.log(colours.dim(`    ${file}`));
    }
  }
}

function printFlaky(flaky: FileResult[], known: ReadonlySet<string>): void {
  if (flaky.length === 0) {
    return;
  }
  console.log(`\nFLAKY: failed, and passed alone (a CI run fails with more than ${flakyMax} of them)`);
  for (const first of flaky) {
    const seed = findSeed(first);
    console.log(`\n  ${first.file}${seed === null ? '' : ` (SEED=${seed})`}`);
    for (const { path, text } of failuresOf([first])) {
      console.log(indent(colours.red(`${path.join(' › ')}\n${indent(text, 2)}`), 4));
    }
    const log = worthReading(first.printed, true).slice(-flakyLinesMax);
    if (log.length > 0) {
      console.log(indent(`Its last ${log.length} lines:\n${log.join('\n')}`, 4));
    }
    console.log(
      known.has(first.file)
        ? '    test/FLAKY.md names it.'
        : '    It is not in test/FLAKY.md: fix the cause, or add it with its cause.',
    );
  }
}

interface ShownFailure {
  file: string;
  path: string[];
  text: string;
}

function failuresOf(results: FileResult[]): ShownFailure[] {
  return results.flatMap(({ file, tests, problem }) => [
    ...tests.flatMap(({ path, failure }) => (failure === null ? [] : [{ file, path, text: failure.text }])),
    ...(problem === null ? [] : [{ file, path: ['the file itself'], text: problem }]),
    ...(problem === null && tests.length === 0
      ? [{ file, path: ['the file itself'], text: 'it contains no test' }]
      : []),
  ]);
}

function printFailures(failures: ShownFailure[]): void {
  for (const [index, { file, path, text }] of failures.entries()) {
    console.log(`\n  ${index + 1}) ${path.join(' › ')}`);
    console.log(indent(colours.red(text), 5));
    console.log(colours.dim(`     Again: npm test -- ${file}`));
  }
}

function printSlowest(results: FileResult[]): void {
  const tests = results
    .flatMap(({ file, tests: all }) => all.map((each) => ({ file, ...each })))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, slowestShown);
  console.log('\nThe slowest tests:');
  for (const { ms, file, path } of tests) {
    console.log(`  ${seconds(ms).padStart(7)}  ${path.join(' ')} ${colours.dim(file)}`);
  }
  console.log('The slowest files:');
  for (const { ms, cpuMs, file } of [...results].sort((a, b) => b.ms - a.ms).slice(0, slowestShown)) {
    console.log(`  ${seconds(ms).padStart(7)}  ${file} ${colours.dim(`(${seconds(cpuMs)} of CPU)`)}`);
  }
}

/**
 * Returns the lines worth printing. For a passed file, keeps tables and seeds and removes the
 * service's log, which contains simulated faults.
 */
function worthReading(printed: string, whole: boolean): string[] {
  const lines = printed.trim() === '' ? [] : printed.trim().split('\n');
  return whole ? lines : lines.filter((line) => !line.startsWith('{'));
}

function mark(state: TestResult['state']): string {
  switch (state) {
    case 'passed':
      return colours.green('✔');
    case 'pending':
      return colours.cyan('-');
    case 'failed':
      return colours.red('✖');
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function duration(ms: number): string {
  const whole = Math.round(ms / 1_000);
  return whole < 60 ? `${whole}s` : `${Math.floor(whole / 60)}m ${whole % 60}s`;
}

function indent(text: string, by: number): string {
  return text.replace(/^/gm, ' '.repeat(by));
}
