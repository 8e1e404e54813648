import { expect } from 'chai';
import type { Collection, Document } from 'mongodb';
import { C, D, formatValue } from './aggregation-support.js';
import { startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';

// golden/aggregation.json contains one result for each stage. The tests here need several results.

/** A local document, and the ids of the foreign documents that match it. */
type Join = readonly [local: Document, matches: readonly number[]];

const foreign: readonly Document[] = [
  { _id: 0, k: 1 },
  { _id: 1, k: D(2) },
  { _id: 2, k: null },
  { _id: 3 },
  { _id: 4, k: [1, 2] },
  { _id: 5, k: [[1, 2]] },
  { _id: 6, k: [] },
  { _id: 7, k: [null] },
  { _id: 8, k: { x: 1 } },
];

const joins: readonly Join[] = [
  [{ a: C('1.0') }, [0, 4]],
  [{ a: null }, [2, 3, 7]],
  [{}, [2, 3, 7]],
  [{ a: [] }, [2, 3, 7]],
  [{ a: [1, 2] }, [0, 1, 4]],
  [{ a: [[1, 2]] }, [4, 5]],
  [{ a: [null, 2] }, [1, 2, 3, 4, 7]],
  [{ a: { x: 1 } }, [8]],
  [{ a: /1/ }, []],
];

const pathJoins: readonly Join[] = [
  [{ a: { b: 1 } }, [0, 4]],
  [{ a: [{ b: 1 }, { c: 1 }] }, [0, 4]],
  [{ a: [{ b: [1, 2] }, { b: null }] }, [0, 1, 2, 3, 4, 7]],
  [{ a: [{ c: 1 }, 5] }, [2, 3, 7]],
  [{ a: 5 }, [2, 3, 7]],
];

describe('Aggregation stages', () => {
  let fixture: Fixture;
  let others: Collection;

  before(async () => {
    fixture = await startFixture();
    others = fixture.collection();
    await others.insertMany(foreign);
  });
  after(() => stopFixture(fixture));

  async function matchesOf(local: Document, localField: string): Promise<number[]> {
    const collection = fixture.collection();
    await collection.insertOne(local);
    const [joined] = await collection
      .aggregate<{ found: number[] }>([
        { $lookup: { from: others.collectionName, localField, foreignField: 'k', as: 'found' } },
        { $project: { found: '$found._id' } },
      ])
      .toArray();
    return joined?.found ?? [];
  }

  for (const indexed of [false, true]) {
    describe(`$lookup by equality, ${indexed ? 'with an index' : 'without an index'}`, () => {
      before(async () => {
        if (indexed) {
          await others.createIndex({ k: 1 }, {}, {});
        }
      });
      for (const [local, matches] of joins) {
        it(`${formatValue(local)} joins ${matches.join()}`, async () => {
          expect((await matchesOf(local, 'a')).sort()).to.deep.equal(matches);
        });
      }
      for (const [local, matches] of pathJoins) {
        it(`${formatValue(local)} joins ${matches.join()} by a.b`, async () => {
          expect((await matchesOf(local, 'a.b')).sort()).to.deep.equal(matches);
        });
      }
    });
  }

  it('a pipeline of $lookup runs over the joined documents', async () => {
    const collection = fixture.collection();
    await collection.insertOne({ a: [1, 2] });
    const pipeline = [{ $match: { _id: { $gt: 0 } } }, { $sort: { _id: -1 } }, { $project: { k: 0 } }];
    const [joined] = await collection
      .aggregate([
        {
          $lookup: {
            from: others.collectionName,
            localField: 'a',
            foreignField: 'k',
            pipeline,
            as: 'found',
          },
        },
      ])
      .toArray();
    expect(joined?.found).to.deep.equal([{ _id: 4 }, { _id: 1 }]);
  });

  it('an array of 400,000 elements can be joined and concatenated', async () => {
    const collection = fixture.collection();
    const list = Array.from({ length: 400_000 }, (_, index) => index % 1000);
    await collection.insertOne({ list });
    const [result] = await collection
      .aggregate([
        { $set: { length: { $size: { $concatArrays: ['$list', [-1]] } } } },
        { $lookup: { from: others.collectionName, localField: 'list', foreignField: 'k', as: 'found' } },
        { $project: { length: 1, found: '$found._id' } },
      ])
      .toArray();
    expect(result?.length).to.equal(400_001);
    expect((result?.found as number[]).sort()).to.deep.equal([0, 1, 4]);
  });
});
