/** The property that the process of a test file reads (scripts/test/file-process.ts). */
interface WithReason {
  skippedBecause?: string;
}

/**
 * Skips a test, or all tests of the suite if called in `before`. The end of a run lists the reason.
 * @param reason The missing thing and how to get it.
 */
export function skipBecause(context: Mocha.Context, reason: string): never {
  const runnable: Mocha.Runnable & { type?: string } = context.runnable();
  const skipped: (Mocha.Runnable | Mocha.Suite) & WithReason =
    runnable.type === 'hook' && runnable.parent ? runnable.parent : runnable;
  skipped.skippedBecause = reason;
  return context.skip();
}
