/**
 * Chooses the long files of a CI run: a quarter of them by rotation, and then files that the change
 * affects, as long as time remains.
 */
import { createHash } from 'node:crypto';

/** Number of consecutive rounds in which every long file runs once. */
export const rounds = 4;

/** The direct imports of each file. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the round of a file. The round depends only on committed times, so that a file keeps its
 * round across machines and commits.
 */
export function roundOf(file: string, committedMs: Readonly<Record<string, number>>): number {
  return (
    balanceRounds(committedMs).get(file) ?? createHash('sha256').update(file).digest().readUInt8() % rounds
  );
}

/** Assigns the longest files first, each to the round with the least load. */
function balanceRounds(committedMs: Readonly<Record<string, number>>): Map<string, number> {
  const load = Array.from({ length: rounds }, () => 0);
  const longestFirst = Object.entries(committedMs).sort(
    ([fileA, a], [fileB, b]) => b - a || fileA.localeCompare(fileB, 'en'),
  );
  return new Map(
    longestFirst.map(([file, ms]) => {
      const round = load.indexOf(Math.min(...load));
      load[round] = (load[round] ?? 0) + ms;
      return [file, round];
    }),
  );
}

/**
 * Test folders of source folders whose tests have another name or several places. Source folders
 * whose tests have the same name need no entry.
 */
const testsOfRoom: readonly [room: string, tests: readonly string[]][] = [
  ['clients/', ['test/client/']],
  ['docs/', ['test/docs/']],
  ['ops/', ['test/signals/']],
  ['packages/client-node/', ['test/client/']],
  ['packages/console/', ['test/console/']],
  ['packages/embedded-mongo/', ['packages/embedded-mongo/test/']],
  ['scripts/topup/', ['test/cli/', 'test/doctor/']],
  ['src/alarms/', ['test/signals/']],
  ['src/api/http/', ['test/api/']],
  ['src/bills/', ['test/purchases/']],
  ['src/console/', ['test/operators/']],
  ['src/database/', ['test/money/']],
  ['src/products/', ['test/providers/imports/']],
  ['src/purchases/', ['test/products/markups/']],
  ['src/reconciliation/', ['test/deposits/bank/', 'test/products/markups/']],
  ['src/reports/', ['test/api/reports/', 'test/reconciliation/closes/']],
  ['src/samples/', ['test/signals/']],
  ['src/workbook/', ['test/deposits/bank/', 'test/providers/imports/']],
];

/**
 * Returns the test folders for a file. A folder with the same name one level down is preferred, as
 * for src/api/buyer.
 */
function testFoldersOf(changed: string): string[] {
  const [top = '', room = '', sub = '', deeper] = changed.split('/');
  const isNested = room === 'api' && deeper !== undefined;
  const sameName = ['config', 'scripts', 'src', 'test'].includes(top)
    ? [
        ...(isNested ? [`test/api/${sub}/`] : [`test/${room}/`]),
        ...(top === 'scripts' || top === 'config' ? [`test/${top}/`] : []),
      ]
    : [];
  return [
    ...sameName,
    ...testsOfRoom.filter(([prefix]) => changed.startsWith(prefix)).flatMap(([, tests]) => tests),
  ];
}

export interface Touch {
  /**
   * How far the test is from the change. 0 if the test itself changed, and 1 if a file of its
   * folder changed. Otherwise one more than the length of the shortest import path to a changed
   * file.
   */
  distance: number;
  why: string;
}

/** Returns how a change affects a test. Null if no relation is known. */
export function touchOf(test: string, changed: readonly string[], graph: ImportGraph): Touch | null {
  if (changed.includes(test)) {
    return { distance: 0, why: 'it changed' };
  }
  const ofRoom = changed.find(
    // A change of another test in the folder does not affect this one.
    (file) => !file.endsWith('.test.ts') && testFoldersOf(file).some((folder) => test.startsWith(folder)),
  );
  if (ofRoom !== undefined) {
    return { distance: 1, why: `${ofRoom} changed` };
  }
  const isChanged = new Set(changed);
  const seen = new Set([test]);
  let front = [test];
  for (let distance = 2; front.length > 0; distance++) {
    front = front.flatMap((file) => graph.get(file) ?? []).filter((file) => !seen.has(file));
    const found = front.find((file) => isChanged.has(file));
    if (found !== undefined) {
      return { distance, why: `it imports ${found}` };
    }
    front.forEach((file) => seen.add(file));
  }
  return null;
}

export interface Candidate {
  file: string;
  /** Expected duration in milliseconds. */
  ms: number;
  /** True if no other file runs at the same time. */
  isAlone: boolean;
  /** Its round in the rotation. Null if it runs in every round. */
  round: number | null;
  touch: Touch | null;
}

export interface Choice {
  byTurn: Candidate[];
  touched: Candidate[];
  /** Files that are affected but do not fit into the time limit. */
  leftOut: Candidate[];
  /** Files that are neither affected nor in this round. */
  waiting: Candidate[];
}

export interface Time {
  /** Time limit of the run in milliseconds. Files of the current round always run. */
  budgetMs: number;
  /** Number of files that run in parallel. */
  jobs: number;
}

export function chooseLong(candidates: readonly Candidate[], round: number, time: Time): Choice {
  const isInTurn = (each: Candidate) => each.round === null || each.round === round % rounds;
  const byTurn = candidates.filter(isInTurn);
  const rest = candidates.filter((each) => !isInTurn(each));
  const choice: Choice = {
    byTurn,
    touched: [],
    leftOut: [],
    waiting: rest.filter(({ touch }) => touch === null),
  };
  const closestFirst = rest
    .flatMap((each) => (each.touch === null ? [] : [{ each, distance: each.touch.distance }]))
    .sort((a, b) => a.distance - b.distance || a.each.ms - b.each.ms);
  for (const { each } of closestFirst) {
    const fits = wallMs([...byTurn, ...choice.touched, each], time.jobs) <= time.budgetMs;
    (fits ? choice.touched : choice.leftOut).push(each);
  }
  return choice;
}

/**
 * Share of the workers that is used, measured in CI. Some workers are idle at the end of a phase.
 */
const usedShare = 0.9;

/** Returns the wall-clock time of the parallel files plus those that run alone, in milliseconds. */
export function wallMs(files: readonly Pick<Candidate, 'ms' | 'isAlone'>[], jobs: number): number {
  const sum = (some: typeof files) => some.reduce((total, { ms }) => total + ms, 0);
  const parallel = files.filter(({ isAlone }) => !isAlone);
  const longest = parallel.reduce((most, { ms }) => Math.max(most, ms), 0);
  return Math.max(longest, sum(parallel) / (jobs * usedShare)) + sum(files.filter(({ isAlone }) => isAlone));
}
