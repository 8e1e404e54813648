/** What `npm test -- …` was asked for. */
import { parseArgs } from 'node:util';
import { wholeNumber } from '../support/arguments.js';
import { PlainError } from '../supervisor/plain-error.js';
import { defaultJobs } from './usage.mjs';

export type TestSize = 'normal' | 'long' | 'full';

export interface Options {
  /** Files and folders; none means everything. */
  names: string[];
  /** Only tests whose full title fits this pattern. */
  grep: string | null;
  /** Files at the same time. */
  jobs: number;
  /** The seed of a random order of files; null: the longest first. */
  random: number | null;
  /** Long and full: the files that take long, and of the others the tests that have sizes. */
  size: TestSize;
  /** Of the long files only those whose turn it is and those that a change touches: one CI run. */
  rotate: boolean;
  /** How long the files of `rotate` may take. */
  budgetMs: number;
  /** Files that were flaky in an earlier part of the same CI run. */
  flakyBefore: number;
  /** Stop after the first file that fails. */
  bail: boolean;
  /** `it.only` is an error: it would pass over every other test unseen. */
  forbidOnly: boolean;
}

/** @throws PlainError that says how it is used. */
export function readOptions(args: string[], env: NodeJS.ProcessEnv): Options {
  try {
    const { values, positionals } = parseArgs({
      // parseArgs knows no option whose value may be left out.
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
      random: values.random === undefined ? null : seedOf(values.random),
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

function seedOf(text: string): number {
  return text === '' ? Math.floor(Math.random() * 2 ** 31) : wholeNumber('--random', text);
}
