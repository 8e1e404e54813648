/** Options of `npm test`. */
import { parseArgs } from 'node:util';
import { wholeNumber } from '../support/arguments.js';
import { PlainError } from '../supervisor/plain-error.js';
import { defaultJobs } from './usage.mjs';

export type TestSize = 'normal' | 'long' | 'full';

export interface Options {
  /** Files and folders. Empty for all. */
  names: string[];
  /** Runs only tests whose full title matches. */
  grep: string | null;
  /** Number of files that run in parallel. */
  jobs: number;
  /** Seed for a random order of the files. Null to start the longest files first. */
  random: number | null;
  /**
   * Size of the run. `long` and `full` include the long files, and the sized tests of the other
   * files.
   */
  size: TestSize;
  /**
   * True to run the long files of one CI run: those of the round, and those that the change
   * affects.
   */
  rotate: boolean;
  /** Time limit of `rotate` in milliseconds. */
  budgetMs: number;
  /** Number of flaky files in earlier parts of the same CI run. */
  flakyBefore: number;
  /** Stops after the first failed file. */
  bail: boolean;
  /** Refuses `it.only`, which would silently skip the other tests. */
  forbidOnly: boolean;
}

/** @throws PlainError with the usage if the arguments are invalid. */
export function readOptions(args: string[], env: NodeJS.ProcessEnv): Options {
  try {
    const { values, positionals } = parseArgs({
      // parseArgs has no options with an optional value.
      args: args.map((each) => (each === '--random' ? '--random=' : each)),
      allowPositionals: true,
      options: {
        grep: { type: 'string', short: 'g' },
        jobs: { type: 'string', short: 'j' },
        random: { type: 'string' },
        long: { type: 'boolean', default: false },
        rotate: { type: 'boolean', default: false },
        full: { type: 'boolean', default: false },
        bail: { type: 'boolean', short: 'b', default: false },
        'forbid-only': { type: 'boolean', default: env['CI'] !== undefined && env['CI'] !== '' },
      },
    });
    const size = values.full ? 'full' : values.long || values.rotate ? 'long' : 'normal';
    return {
      names: positionals,
      grep: values.grep ?? null,
      jobs: Math.max(1, values.jobs === undefined ? defaultJobs() : wholeNumber('--jobs', values.jobs)),
      random: values.random === undefined ? null : parseSeed(values.random),
      size,
      rotate: values.rotate && positionals.length === 0,
      budgetMs: wholeNumber('LONG_BUDGET_S', env['LONG_BUDGET_S'] || '780') * 1_000,
      flakyBefore: wholeNumber('FLAKY_BEFORE', env['FLAKY_BEFORE'] || '0'),
      bail: values.bail,
      forbidOnly: values['forbid-only'],
    };
  } catch (error) {
    throw new PlainError(
      `${error instanceof Error ? error.message : String(error)}; nothing was done. npm test -- --help lists the options.`,
    );
  }
}

function parseSeed(text: string): number {
  return text === '' ? Math.floor(Math.random() * 2 ** 31) : wholeNumber('--random', text);
}
