import { expect } from 'chai';
import type { Collection, Document } from 'mongodb';
import { D, L, codeOf, run, formatValue } from './aggregation-support.js';
import { startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';

describe('Aggregation writes', () => {
  let fixture: Fixture;

  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  async function source(): Promise<Collection> {
    const collection = fixture.collection();
    await collection.insertMany([
      { _id: 1, v: L(1) },
      { _id: 2, v: D(2) },
    ] as never[]);
    return collection;
  }

  async function target(...existing: Document[]): Promise<Collection> {
    const collection = fixture.collection();
    if (existing.length > 0) {
      await collection.insertMany(existing);
    }
    return collection;
  }

  const all = [{ $sort: { _id: 1 } }];

  it('$out replaces the whole collection and keeps every type', async () => {
    const [from, into] = [await source(), await target({ _id: 9 })];
    expect(await run(from, [{ $out: into.collectionName }])).to.deep.equal([]);
    expect(formatValue(await run(into, all))).to.equal(
      formatValue([
        { _id: 1, v: L(1) },
        { _id: 2, v: D(2) },
      ]),
    );
  });

  it('a failed $out leaves the collection unchanged', async () => {
    const [from, into] = [await source(), await target({ _id: 9 })];
    expect(
      await codeOf(from, [
        { $project: { v: { $divide: ['$v', { $subtract: ['$v', 2] }] } } },
        { $out: into.collectionName },
      ]),
    ).to.equal(2);
    expect(formatValue(await run(into, all))).to.equal(formatValue([{ _id: 9 }]));
  });

  const modes: readonly (readonly [merge: Document, expected: unknown[]])[] = [
    [
      {},
      [
        { _id: 1, old: 1, v: L(1) },
        { _id: 2, v: D(2) },
      ],
    ],
    [
      { whenMatched: 'replace' },
      [
        { _id: 1, v: L(1) },
        { _id: 2, v: D(2) },
      ],
    ],
    [
      { whenMatched: 'keepExisting' },
      [
        { _id: 1, old: 1 },
        { _id: 2, v: D(2) },
      ],
    ],
    [{ whenNotMatched: 'discard' }, [{ _id: 1, old: 1, v: L(1) }]],
  ];
  for (const [mode, expected] of modes) {
    it(`$merge ${JSON.stringify(mode)}`, async () => {
      const [from, into] = [await source(), await target({ _id: 1, old: 1 })];
      await run(from, [{ $merge: { into: into.collectionName, ...mode } }]);
      expect(formatValue(await run(into, all))).to.equal(formatValue(expected));
    });
  }

  it('$merge with mode fail gives 11000 on a match and 13113 without one', async () => {
    const [from, into] = [await source(), await target({ _id: 1 })];
    const merge = { into: into.collectionName };
    expect(await codeOf(from, [{ $merge: { ...merge, whenMatched: 'fail' } }])).to.equal(11000);
    expect(await codeOf(from, [{ $merge: { ...merge, whenNotMatched: 'fail' } }])).to.equal(13113);
  });

  it('$merge keeps the stored _id and requires one in each result', async () => {
    const [from, into] = [await source(), await target({ _id: D(1), old: 1 })];
    await run(from, [{ $match: { _id: 1 } }, { $merge: { into: into.collectionName, on: '_id' } }]);
    expect(formatValue(await run(into, all))).to.equal(formatValue([{ _id: D(1), old: 1, v: L(1) }]));
    const nameless = [{ $project: { _id: null } }, { $merge: into.collectionName }];
    expect(await codeOf(from, nameless)).to.equal(51132);
  });
});
