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

const onlyIds = { $project: { _id: 1 } };

const cases: readonly Case[] = [
  [
    '$project puts _id first, then kept fields in document order, then computed ones in order of the specification',
    [{ $match: { _id: 1 } }, { $project: { z: '$s', o: 1, k: 1, a: '$k' } }],
    [{ _id: 1, k: 1, o: { x: 1, y: 2 }, z: 'x', a: 1 }],
  ],
  [
    '$project keeps the types it does not touch',
    [{ $project: { n: 1 } }],
    [{ _id: 1, n: L(1) }, { _id: 2, n: D(1) }, { _id: 3 }],
  ],
  [
    '$project drops scalars below a path, and computes through arrays',
    [{ $match: { _id: { $ne: 3 } } }, { $project: { items: { q: 1 }, 'o.z': '$no' } }],
    [
      { _id: 1, items: [{ q: 1 }, { q: 2 }], o: {} },
      { _id: 2, items: [], o: {} },
    ],
  ],
  [
    'a computed path is set in every element of an array',
    [{ $match: { _id: 1 } }, { $project: { 'items.b': '$s' } }],
    [{ _id: 1, items: [{ b: 'x' }, { b: 'x' }, { b: 'x' }] }],
  ],
  [
    '$addFields replaces in place, adds at the end and removes with $$REMOVE',
    [{ $match: { _id: 1 } }, { $addFields: { s: '$$REMOVE', k: 'new', 'o.z': 1, t: true } }],
    [{ _id: 1, k: 'new', items: [{ q: 1 }, { q: 2 }, 5], o: { x: 1, y: 2, z: 1 }, n: L(1), t: true }],
  ],
  [
    '$unset takes paths',
    [{ $match: { _id: 1 } }, { $unset: ['items', 'o.x', 'n'] }],
    [{ _id: 1, k: 1, s: 'x', o: { y: 2 } }],
  ],
  [
    '$sort puts an empty array below missing',
    [{ $sort: { items: 1 } }, onlyIds],
    [{ _id: 2 }, { _id: 3 }, { _id: 1 }],
  ],
  [
    '$sort takes the greatest element descending',
    [{ $sort: { 'items.q': -1, _id: -1 } }, onlyIds],
    [{ _id: 1 }, { _id: 3 }, { _id: 2 }],
  ],
  ['$skip and $limit', [{ $sort: { _id: 1 } }, { $skip: 1 }, { $limit: L(1) }, onlyIds], [{ _id: 2 }]],
  ['$count counts in int32', [{ $count: 'n' }], [{ n: 3 }]],
  ['$count of nothing is no document', [{ $match: { _id: 0 } }, { $count: 'n' }], []],
  [
    '$unwind passes what is no array, and drops null, missing and empty',
    [{ $unwind: '$m' }, { $project: { m: 1 } }],
    [{ _id: 3, m: {} }],
  ],
  [
    '$unwind numbers elements with int64, and keeps the rest if asked',
    [
      { $unwind: { path: '$items', includeArrayIndex: 'at.i', preserveNullAndEmptyArrays: true } },
      { $project: { items: 1, at: 1 } },
    ],
    [
      { _id: 1, items: { q: 1 }, at: { i: L(0) } },
      { _id: 1, items: { q: 2 }, at: { i: L(1) } },
      { _id: 1, items: 5, at: { i: L(2) } },
      { _id: 2, at: { i: null } },
      { _id: 3, at: { i: null } },
    ],
  ],
  ['$sortByCount of missing is null', [{ $sortByCount: '$no' }], [{ _id: null, count: 3 }]],
  [
    '$sortByCount',
    [{ $sortByCount: '$s' }],
    [
      { _id: 'x', count: 2 },
      { _id: 'y', count: 1 },
    ],
  ],
  [
    '$bucket lists only buckets that hold something, boundaries of mixed types',
    [{ $bucket: { groupBy: '$k', boundaries: [0, L(2), 2.2, C('3')], output: { ids: { $push: '$_id' } } } }],
    [
      { _id: 0, ids: [1, 2] },
      { _id: 2.2, ids: [3] },
    ],
  ],
  [
    '$bucket with a default',
    [{ $bucket: { groupBy: '$k', boundaries: [0, 2], default: 'other' } }],
    [
      { _id: 0, count: 2 },
      { _id: 'other', count: 1 },
    ],
  ],
  [
    '$bucketAuto cuts into equal parts, equal values never apart',
    [{ $bucketAuto: { groupBy: '$k', buckets: 3 } }],
    [
      { _id: { min: 1, max: C('2.50') }, count: 2 },
      { _id: { min: C('2.50'), max: C('2.50') }, count: 1 },
    ],
  ],
  [
    '$facet runs pipelines over the same documents',
    [
      {
        $facet: {
          all: [{ $count: 'n' }],
          one: [{ $match: { _id: 2 } }, onlyIds],
          none: [{ $match: { _id: 0 } }],
        },
      },
    ],
    [{ all: [{ n: 3 }], one: [{ _id: 2 }], none: [] }],
  ],
  ['$replaceWith', [{ $match: { _id: 1 } }, { $replaceWith: '$o' }], [{ x: 1, y: 2 }]],
  [
    '$redact prunes embedded documents and whole ones',
    [
      { $redact: { $cond: [{ $eq: ['$x', 1] }, '$$PRUNE', '$$DESCEND'] } },
      { $match: { _id: 1 } },
      { $project: { s: 1, o: 1 } },
    ],
    [{ _id: 1, s: 'x' }],
  ],
  ['$redact $$PRUNE removes the document', [{ $redact: '$$PRUNE' }], []],
  [
    '$unionWith adds the documents of a pipeline',
    [
      { $limit: 1 },
      onlyIds,
      { $unionWith: { coll: 'aggregation_other', pipeline: [{ $match: { v: 'c' } }] } },
    ],
    [{ _id: 1 }, { _id: 13, v: 'c' }],
  ],
  [
    '$lookup equality follows the rules of filters: numbers by value, null matches missing, arrays by element',
    [
      { $match: { _id: { $in: [2, 3] } } },
      { $lookup: { from: 'aggregation_other', localField: 'k', foreignField: 'k', as: 'r.found' } },
      { $project: { r: 1 } },
    ],
    [
      {
        _id: 2,
        r: {
          found: [
            { _id: 11, k: 1, v: 'a' },
            { _id: 14, k: [1, 2], v: 'd' },
          ],
        },
      },
      { _id: 3, r: { found: [] } },
    ],
  ],
  [
    '$lookup of a missing field finds null and missing',
    [
      { $match: { _id: 1 } },
      { $lookup: { from: 'aggregation_other', localField: 'no', foreignField: 'k', as: 'r' } },
      { $project: { 'r.v': 1 } },
    ],
    [{ _id: 1, r: [{ v: 'b' }, { v: 'c' }] }],
  ],
  [
    '$lookup with a pipeline sees the variables of let, and compares as expressions do',
    [
      { $match: { _id: { $in: [1, 3] } } },
      {
        $lookup: {
          from: 'aggregation_other',
          let: { k: '$k' },
          pipeline: [{ $match: { $expr: { $eq: ['$k', '$$k'] } } }, { $project: { _id: 0, v: 1 } }],
          as: 'r',
        },
      },
      { $project: { r: 1 } },
    ],
    [
      { _id: 1, r: [{ v: 'a' }] },
      { _id: 3, r: [] },
    ],
  ],
  [
    '$graphLookup walks to the root, with depths as int64',
    [
      { $match: { _id: 1 } },
      {
        $graphLookup: {
          from: 'aggregation_tree',
          startWith: 'c',
          connectFromField: 'parent',
          connectToField: '_id',
          as: 'up',
          depthField: 'depth',
          maxDepth: 1,
        },
      },
      { $unwind: '$up' },
      { $sort: { 'up.depth': 1 } },
      { $replaceWith: '$up' },
    ],
    [
      { _id: 'c', parent: 'b', depth: L(0) },
      { _id: 'b', parent: 'a', depth: L(1) },
    ],
  ],
  [
    '$setWindowFields: ranks, running sums, windows and shifts by partition',
    [
      {
        $setWindowFields: {
          partitionBy: '$s',
          sortBy: { _id: 1 },
          output: {
            rank: { $documentNumber: {} },
            total: { $sum: '$_id', window: { documents: ['unbounded', 'current'] } },
            pair: { $push: '$_id', window: { documents: [-1, 0] } },
            near: { $sum: '$_id', window: { range: [-2, 0] } },
            next: { $shift: { output: '$_id', by: 1, default: 'none' } },
          },
        },
      },
      { $project: { rank: 1, total: 1, pair: 1, near: 1, next: 1 } },
    ],
    [
      { _id: 1, rank: 1, total: 1, pair: [1], near: 1, next: 3 },
      { _id: 3, rank: 2, total: 4, pair: [1, 3], near: 4, next: 'none' },
      { _id: 2, rank: 1, total: 2, pair: [2], near: 2, next: 'none' },
    ],
  ],
  [
    '$fill carries the last value on',
    [
      { $fill: { sortBy: { _id: 1 }, output: { o: { method: 'locf' }, m: { value: 'none' } } } },
      { $project: { o: 1, m: 1 } },
    ],
    [
      { _id: 1, o: { x: 1, y: 2 }, m: 'none' },
      { _id: 2, o: { x: 1, y: 2 }, m: 'none' },
      { _id: 3, m: {}, o: { x: 1, y: 2 } },
    ],
  ],
];

describe('Aggregation stages', () => {
  let fixture: Fixture;
  let collection: Collection;

  before(async () => {
    fixture = await startFixture();
    collection = fixture.collection();
    await collection.insertMany(documents as never[]);
    await fixture.db.collection('aggregation_other').insertMany([
      { _id: 11, k: 1, v: 'a' },
      { _id: 12, k: null, v: 'b' },
      { _id: 13, v: 'c' },
      { _id: 14, k: [1, 2], v: 'd' },
    ] as never[]);
    await fixture.db.collection('aggregation_tree').insertMany([
      { _id: 'a', parent: null },
      { _id: 'b', parent: 'a' },
      { _id: 'c', parent: 'b' },
    ] as never[]);
  });
  after(() => stopFixture(fixture));

  for (const [rule, pipeline, results] of cases) {
    it(rule, async () => {
      expect(shown(await run(collection, pipeline))).to.equal(shown(results));
    });
  }

  it('a correlated $lookup gives the same with and without an index', async () => {
    const other = fixture.collection();
    await other.insertMany([{ k: 1 }, { k: D(1) }, { k: [1] }, { k: null }, {}, { k: C('2.5') }] as never[]);
    const pipeline = [
      {
        $lookup: {
          from: other.collectionName,
          let: { k: '$k' },
          pipeline: [{ $match: { $expr: { $eq: ['$$k', '$k'] } } }],
          as: 'r',
        },
      },
      { $project: { n: { $size: '$r' } } },
    ];
    const plain = await run(collection, pipeline);
    await other.createIndex({ k: 1 }, {}, {});
    expect(shown(await run(collection, pipeline))).to.equal(shown(plain));
    expect(shown(plain)).to.equal(
      shown([
        { _id: 1, n: 2 },
        { _id: 2, n: 2 },
        { _id: 3, n: 1 },
      ]),
    );
  });

  it('$documents needs no collection', async () => {
    const found = await fixture.db
      .aggregate([{ $documents: [{ a: 1 }, { a: 2 }] }, { $group: { _id: null, n: { $sum: '$a' } } }])
      .toArray();
    expect(found).to.deep.equal([{ _id: null, n: 3 }]);
  });

  it('$sample takes that many documents at random, none twice', async () => {
    const found = await collection.aggregate([{ $sample: { size: 2 } }]).toArray();
    expect(new Set(found.map((document) => document['_id'])).size).to.equal(2);
  });
});
