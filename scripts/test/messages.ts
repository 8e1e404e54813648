/** Messages from a test file's process to the runner. */
export interface Failure {
  /** Message and stack with source lines, and the diff if there is one. */
  text: string;
}

export interface TestResult {
  /** Titles of the enclosing suites, and then the title of the test. */
  path: string[];
  state: 'passed' | 'failed' | 'pending';
  ms: number;
  failure: Failure | null;
  /** Reason of a skipped test, if given (test/support/skip-because.ts). */
  skippedBecause: string | null;
}

export type FileMessage =
  | { type: 'test'; result: TestResult }
  /** The file failed to load, or it uses a forbidden feature. */
  | { type: 'broken'; failure: Failure }
  /** The last message. `cpuMs` covers the process and its finished children. */
  | { type: 'end'; cpuMs: number };

export interface FileOrder {
  /** Folder of the built tests. */
  builtDir: string;
  /** Path of the test file in the repository. */
  file: string;
  grep: string | null;
  forbidOnly: boolean;
  /** Runs only the tests tagged `@sized`, if the file has any. */
  sizedOnly: boolean;
}
