import { expect } from 'chai';
import { projectRoot } from '../../config/project-file.js';
import {
  chooseLong,
  roundOf,
  rounds,
  touchOf,
  wallMs,
  type Candidate,
} from '../../scripts/test/choose-long.js';
import { chooseFiles } from '../../scripts/test/test-files.js';
import { readSlowFiles, slowness } from '../../scripts/test/times.js';

const time = { budgetMs: Number.MAX_SAFE_INTEGER, jobs: 2 };
const candidate = (file: string, given: Partial<Candidate> = {}): Candidate => ({
  file,
  ms: 1_000,
  isAlone: false,
  round: 1,
  touch: null,
  ...given,
});
const namesOf = (candidates: Candidate[]) => candidates.map(({ file }) => file);

describe('selection of long test files in CI', () => {
  it('runs every long file once in four consecutive runs', () => {
    const committed = readSlowFiles(projectRoot).long;
    const files = chooseFiles(projectRoot, { names: [], size: 'long', rotate: false });
    expect(files.length).to.be.above(100);
    const candidates = files.map((file) => candidate(file, { round: roundOf(file, committed) }));
    for (const first of [0, 3, 1_002]) {
      const played = [0, 1, 2, 3].flatMap((n) => namesOf(chooseLong(candidates, first + n, time).byTurn));
      expect(played.sort()).to.deep.equal([...files].sort());
    }
  });

  it('balances the duration of the rounds', () => {
    const committed = readSlowFiles(projectRoot).long;
    const msOf = (round: number) =>
      Object.entries(committed).reduce(
        (sum, [file, ms]) => sum + (roundOf(file, committed) === round ? ms : 0),
        0,
      );
    const all = Array.from({ length: rounds }, (_, round) => msOf(round));
    expect(Math.max(...all) / Math.min(...all)).to.be.below(1.05);
  });

  it('gives a file without a known time a fixed round', () => {
    const known = { 'a.test.ts': 4, 'b.test.ts': 3, 'c.test.ts': 2, 'd.test.ts': 1 };
    const round = roundOf('new.long.test.ts', known);
    expect(round).to.be.within(0, rounds - 1);
    expect(roundOf('new.long.test.ts', {})).to.equal(round);
    expect(Object.keys(known).map((file) => roundOf(file, known))).to.deep.equal([0, 1, 2, 3]);
  });

  const graph = new Map([
    ['test/money/model.test.ts', ['test/support/stack.ts']],
    ['test/webhooks/pace.long.test.ts', ['test/support/stack.ts', 'src/webhooks/deliver/sign-delivery.ts']],
    ['test/support/stack.ts', ['test/support/topup.ts']],
    ['test/support/topup.ts', ['test/support/stack.ts', 'config/env.ts']],
    ['src/webhooks/deliver/sign-delivery.ts', []],
  ]);
  const distanceOf = (test: string, ...changed: string[]) => touchOf(test, changed, graph)?.distance ?? null;

  it('relates a change to its test, its folder and importing tests', () => {
    const test = 'test/money/model.test.ts';
    expect(distanceOf(test, 'src/money/posting/decide.ts', test)).to.equal(0);
    expect(distanceOf(test, 'config/env.ts', 'src/money/posting/decide.ts')).to.equal(1);
    expect(distanceOf(test, 'test/money/support/book.ts')).to.equal(1);
    expect(distanceOf(test, 'test/money/kill-points.test.ts')).to.equal(null);
    expect(distanceOf(test, 'test/support/stack.ts')).to.equal(2);
    expect(distanceOf(test, 'config/env.ts')).to.equal(4);
    expect(distanceOf(test, 'src/webhooks/deliver/sign-delivery.ts')).to.equal(null);
    expect(distanceOf(test)).to.equal(null);
  });

  it('relates a source folder to test folders with other names', () => {
    for (const [changed, test] of [
      ['src/purchases/accept/create-payment.ts', 'test/purchases/crash.long.test.ts'],
      ['src/api/buyer/deposits.ts', 'test/api/buyer/payment.test.ts'],
      ['scripts/topup/doctor.ts', 'test/cli/outage.long.test.ts'],
      ['packages/console/vite.config.ts', 'test/console/portal.long.test.ts'],
      ['packages/embedded-mongo/src/cli.ts', 'packages/embedded-mongo/test/crash.long.test.ts'],
      ['scripts/start.ts', 'test/scripts/start.long.test.ts'],
      ['clients/php/topup.php', 'test/client/client.long.test.ts'],
    ] as const) {
      expect(distanceOf(test, changed), changed).to.equal(1);
    }
    expect(distanceOf('test/api/seller/settlement.test.ts', 'src/api/buyer/deposits.ts')).to.equal(null);
  });

  it('adds affected files, closest first, while time remains', () => {
    const touch = (distance: number) => ({ distance, why: '' });
    const candidates = [
      candidate('in-turn', { round: 0, ms: 4_000 }),
      candidate('every-time', { round: null, ms: 0 }),
      candidate('far', { touch: touch(5) }),
      candidate('near', { touch: touch(1) }),
      candidate('itself', { touch: touch(0), ms: 2_000 }),
      candidate('untouched'),
    ];
    const budgetMs = wallMs([{ ms: 7_000, isAlone: true }], 1);
    const choice = chooseLong(candidates, 8, { budgetMs, jobs: 1 });
    expect(namesOf(choice.byTurn)).to.deep.equal(['in-turn', 'every-time']);
    expect(namesOf(choice.touched)).to.deep.equal(['itself']);
    expect(namesOf(choice.leftOut)).to.deep.equal(['near', 'far']);
    expect(namesOf(choice.waiting)).to.deep.equal(['untouched']);
    const all = chooseLong(candidates, 8, time);
    expect(namesOf(all.touched)).to.deep.equal(['itself', 'near', 'far']);
    expect(all.leftOut).to.deep.equal([]);
  });

  it('runs the files of the round even beyond the time limit', () => {
    const choice = chooseLong([candidate('slow', { round: 2, ms: 9_999 })], 2, { budgetMs: 0, jobs: 3 });
    expect(namesOf(choice.byTurn)).to.deep.equal(['slow']);
  });

  it('estimates at least the longest file and adds files that run alone', () => {
    const of = (ms: number, isAlone = false) => ({ ms, isAlone });
    expect(wallMs([of(9_000), of(10)], 3)).to.equal(9_000);
    expect(wallMs([of(9_000), of(1_000, true), of(2_000, true)], 3)).to.equal(12_000);
    expect(wallMs([of(900), of(900), of(900)], 3)).to.be.within(900, 1_100);
  });

  it('scales expected times by the speed of this machine', () => {
    expect(slowness({ a: 10, b: 30, c: 5 }, { a: 20, b: 40, d: 1 })).to.equal(1.5);
    expect(slowness({ a: 10 }, {})).to.equal(1);
  });
});
