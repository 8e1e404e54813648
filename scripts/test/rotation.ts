/** `--rotate`: selects the long files that one CI run includes, and those that it leaves out. */
import { changedFiles, roundNumber } from './changed-files.js';
import {
  chooseLong,
  roundOf,
  rounds,
  touchOf,
  wallMs,
  type Candidate,
  type Choice,
  type ImportGraph,
} from './choose-long.js';
import type { Options } from './options.js';
import { runsAlone } from './run-files.js';
import { isSized } from './test-files.js';
import { readSlowFiles, type Times } from './times.js';

/** A file that runs alone takes as much time as this many parallel files. */
const jobsOfCi = 4;

export interface Rotation {
  files: string[];
  /** Lines for the start of the run. */
  chosen: string[];
  /** Lines for the end of the run. */
  leftOut: string[];
}

interface From {
  root: string;
  /** Candidates in the order in which they start. */
  files: string[];
  imports: ImportGraph;
  options: Pick<Options, 'jobs' | 'budgetMs'>;
  times: Times;
  env: NodeJS.ProcessEnv;
}

export function rotate({ root, files, imports, options, times, env }: From): Rotation {
  const changes = changedFiles(root, env['TEST_BASE']);
  const number = roundNumber(root, env);
  const committedMs = Object.fromEntries(
    Object.entries(readSlowFiles(root).long).map(([file, ms]) => [
      file,
      runsAlone.has(file) ? ms * jobsOfCi : ms,
    ]),
  );
  const choice = chooseLong(
    files.map((file) => ({
      file,
      ms: times.expectedMs(file),
      isAlone: runsAlone.has(file),
      // Files without sized tests run in every round, because `npm test` without tools skips some
      // of their tests.
      round: isSized(root, file) ? roundOf(file, committedMs) : null,
      touch: touchOf(file, changes.files, imports),
    })),
    number,
    options,
  );
  const run = new Set([...choice.byTurn, ...choice.touched].map(({ file }) => file));
  return {
    files: files.filter((file) => run.has(file)),
    chosen: describeChosen(choice, number, options.jobs),
    leftOut: describeLeftOut(choice, number),
  };

  function describeChosen({ byTurn, touched }: Choice, round: number, jobs: number): string[] {
    const expected = minutes(wallMs([...byTurn, ...touched], jobs));
    return [
      `Round ${(round % rounds) + 1} of ${rounds} (run ${round}): ${byTurn.length} long files in rotation, and ${touched.length} more that the change touches; about ${expected}`,
      `${changes.files.length} changed files: ${changes.description}`,
      ...touched.map(({ file, touch }) => `  touched: ${file} (${touch?.why ?? ''})`),
    ];
  }
}

function describeLeftOut({ leftOut, waiting }: Choice, number: number): string[] {
  const later = Array.from({ length: rounds - 1 }, (_, index) => (number + index + 1) % rounds);
  return [
    ...(leftOut.length === 0
      ? []
      : [
          `LEFT OUT: ${leftOut.length} files that the change touches, because the time budget of this run is used (${minutes(wallMs(leftOut, 1))} one after the other). They run within ${rounds - 1} runs. To run all: npm run test:long`,
          ...leftOut.map(({ file, ms, touch }) => `  ${minutes(ms)}  ${file} (${touch?.why ?? ''})`),
        ]),
    ...later.flatMap((round, index) => [
      `Not touched, and due ${index === 0 ? 'in the next run' : `in ${index + 1} runs`}:`,
      ...namesOf(waiting.filter((each) => each.round === round)),
    ]),
  ];
}

function namesOf(candidates: Candidate[]): string[] {
  return candidates.length === 0 ? ['  nothing'] : candidates.map(({ file }) => `  ${file}`).sort();
}

function minutes(ms: number): string {
  return ms < 60_000 ? `${Math.round(ms / 1_000)} s` : `${(ms / 60_000).toFixed(1)} min`;
}
