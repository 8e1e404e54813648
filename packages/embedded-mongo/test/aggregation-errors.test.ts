import type { Collection, Document } from 'mongodb';
import { expect } from 'chai';
import { codeOf, shown } from './aggregation-support.js';
import { startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';

const failures: readonly (readonly [pipeline: Document[], code: number])[] = [
  [[{}], 40323],
  [[{ $limit: 1, $skip: 1 }], 40323],
  [[{ $foo: 1 }], 40324],
  [[{ $limit: 0 }], 15958],
  [[{ $limit: -1 }], 5107201],
  [[{ $skip: -1 }], 5107200],
  [[{ $project: {} }], 51272],
  [[{ $project: { a: 1, b: 0 } }], 31254],
  [[{ $project: { a: 0, b: 1 } }], 31253],
  [[{ $project: { a: 0, b: '$a' } }], 31310],
  [[{ $project: { a: 1, 'a.b': 1 } }], 31249],
  [[{ $project: { 'a.b': 1, a: 1 } }], 31250],
  [[{ $project: { x: { $foo: 1 } } }], 31325],
  [[{ $addFields: { x: { $foo: 1 } } }], 168],
  [[{ $sort: {} }], 15976],
  [[{ $sort: { a: 2 } }], 15975],
  [[{ $sort: { a: 'up' } }], 15974],
  [[{ $group: { n: { $sum: 1 } } }], 15955],
  [[{ $group: { _id: 1, n: 1 } }], 40234],
  [[{ $group: { _id: 1, n: { $sum: 1, $avg: 1 } } }], 40238],
  [[{ $group: { _id: 1, n: { $foo: 1 } } }], 15952],
  [[{ $group: { _id: 1, 'n.m': { $sum: 1 } } }], 40235],
  [[{ $unwind: 'items' }], 28818],
  [[{ $count: '' }], 40157],
  [[{ $count: 'a.b' }], 40160],
  [[{ $bucket: { groupBy: '$k', boundaries: [1] } }], 40192],
  [[{ $bucket: { groupBy: '$k', boundaries: [2, 1] } }], 40194],
  [[{ $bucket: { groupBy: '$k', boundaries: [0, 1] } }], 40066],
  [[{ $replaceRoot: { newRoot: '$s' } }], 40228],
  [[{ $facet: {} }], 40169],
  [[{ $facet: { a: [{ $out: 'x' }] } }], 40600],
  [[{ $out: 'x' }, { $limit: 1 }], 40601],
  [[{ $sort: { 'items.q': 1, list: 1 } }], 2],
  [[{ $merge: { into: 'x', whenMatched: 'fail', whenNotMatched: 'discard' } }], 51181],
  [[{ $merge: { into: 'aggregation_other', on: 'k' } }], 51183],
  [[{ $changeStream: {} }], 40573],
];

describe('Aggregation errors', () => {
  let fixture: Fixture;
  let collection: Collection;

  before(async () => {
    fixture = await startFixture();
    collection = fixture.collection();
    await collection.insertOne({ k: 1, s: 'z', items: [{ q: 1 }], list: [1] });
    await fixture.db.collection('aggregation_other').insertOne({ k: 1 });
  });
  after(() => stopFixture(fixture));

  for (const [pipeline, code] of failures) {
    it(`${shown(pipeline)} fails with ${code}`, async () => {
      expect(await codeOf(collection, pipeline)).to.equal(code);
    });
  }
});
