/**
 * The property that the process of a test file reads from a skipped test
 * (scripts/test/file-process.ts).
 */
interface WithReason {
  skippedBecause?: string;
}

/**
 * Skips a test, or all tests of a suite if called in `before`. The test run lists the reason at its
 * end.
 * @param reason What is missing and how to get it.
 */
export function skipBecause(context: Mocha.Context, reason: string): never {
  const runnable: Mocha.Runnable & { type?: string } = context.runnable();
  const skipped: (Mocha.Runnable | Mocha.Suite) & WithReason =
    runnable.type === 'hook' && runnable.parent ? runnable.parent : runnable;
  skipped.skippedBecause = reason;
  return context.skip();
}
