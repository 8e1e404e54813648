/** What the process of a test file tells the runner. */
export interface Failure {
  /** Message and stack, with the lines of the sources; the diff of what was expected, if there is one. */
  text: string;
}

export interface TestResult {
  /** The titles of the suites around it and its own. */
  path: string[];
  state: 'passed' | 'failed' | 'pending';
  ms: number;
  failure: Failure | null;
  /** Why a pending test was skipped, where it says so (test/support/skip-because.ts). */
  skippedBecause: string | null;
}

export type FileMessage =
  | { type: 'test'; result: TestResult }
  /** The file could not be loaded, or asks for something that is not allowed. */
  | { type: 'broken'; failure: Failure }
  /** Its last message. `cpuMs` is of this process and of those that it started and saw end. */
  | { type: 'end'; cpuMs: number };

export interface FileOrder {
  /** The built file. */
  built: string;
  grep: string | null;
  forbidOnly: boolean;
  /** Of a file that has tests with the tag `@sized`, only those. */
  sizedOnly: boolean;
}
