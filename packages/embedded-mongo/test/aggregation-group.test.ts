import { expect } from 'chai';
import type { Collection, Document } from 'mongodb';
import { C, D, L, run, shown } from './aggregation-support.js';
import { startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';

const documents = [
  { _id: 1, k: 1, s: 'x', items: [{ q: 1 }, { q: 2 }, 5], o: { x: 1, y: 2 }, n: L(1) },
  { _id: 2, k: D(1), s: 'y', items: [], n: D(1) },
  { _id: 3, k: C('2.50'), s: 'x', m: {} },
];

type Case = readonly [rule: string, pipeline: Document[], results: unknown[]];

const cases: readonly Case[] = [
  [
    '$group takes keys that are equal across types as one, with the first value',
    [{ $group: { _id: '$k', n: { $sum: 1 }, ids: { $push: '$_id' } } }],
    [
      { _id: 1, n: 2, ids: [1, 2] },
      { _id: C('2.50'), n: 1, ids: [3] },
    ],
  ],
  ['a missing key alone is null', [{ $group: { _id: '$no' } }], [{ _id: null }]],
  ['a missing key in an array is null', [{ $group: { _id: ['$no'] } }], [{ _id: [null] }]],
  [
    'a missing key in an object of one field is null',
    [{ $group: { _id: { b: '$no' } } }],
    [{ _id: { b: null } }],
  ],
  [
    'a missing key in an object of several fields stays missing',
    [{ $group: { _id: { s: '$s', z: '$no' } } }, { $sort: { _id: 1 } }],
    [{ _id: { s: 'x' } }, { _id: { s: 'y' } }],
  ],
  ['nested too', [{ $group: { _id: { a: { b: '$no' } } } }], [{ _id: { a: {} } }]],
  ['no documents, no group', [{ $match: { _id: 0 } }, { $group: { _id: null, n: { $sum: 1 } } }], []],
  [
    'accumulators keep types, ignore what is no number, and give null for missing',
    [
      {
        $group: {
          _id: null,
          count: { $sum: 1 },
          longs: { $sum: L(1) },
          sum: { $sum: '$k' },
          text: { $sum: '$s' },
          average: { $avg: '$n' },
          least: { $min: '$n' },
          greatest: { $max: '$k' },
          first: { $first: '$no' },
          last: { $last: '$s' },
          pushed: { $push: '$m' },
          merged: { $mergeObjects: '$o' },
          deviation: { $stdDevPop: '$_id' },
          counted: { $count: {} },
        },
      },
    ],
    [
      {
        _id: null,
        count: 3,
        longs: L(3),
        sum: C('4.50'),
        text: 0,
        average: D(1),
        least: L(1),
        greatest: C('2.50'),
        first: null,
        last: 'x',
        pushed: [{}],
        merged: { x: 1, y: 2 },
        deviation: Math.sqrt(2 / 3),
        counted: 3,
      },
    ],
  ],
  [
    'N-accumulators take the first, last, least, greatest and ranked',
    [
      {
        $group: {
          _id: null,
          firstN: { $firstN: { n: 2, input: '$m' } },
          lastN: { $lastN: { n: 2, input: '$_id' } },
          minN: { $minN: { n: 2, input: '$_id' } },
          maxN: { $maxN: { n: L(2), input: '$_id' } },
          top: { $top: { sortBy: { s: -1 }, output: '$_id' } },
          bottomN: { $bottomN: { n: 2, sortBy: { s: 1 }, output: ['$s', '$_id'] } },
        },
      },
    ],
    [
      {
        _id: null,
        firstN: [null, null],
        lastN: [2, 3],
        minN: [1, 2],
        maxN: [3, 2],
        top: 2,
        bottomN: [
          ['x', 3],
          ['y', 2],
        ],
      },
    ],
  ],
];

describe('$group', () => {
  let fixture: Fixture;
  let collection: Collection;

  before(async () => {
    fixture = await startFixture();
    collection = fixture.collection();
    await collection.insertMany(documents as never[]);
  });
  after(() => stopFixture(fixture));

  for (const [rule, pipeline, results] of cases) {
    it(rule, async () => {
      expect(shown(await run(collection, pipeline))).to.equal(shown(results));
    });
  }
});
