import { expect } from 'chai';
import type { Document } from 'mongodb';
import { C, D, L, formatValue } from './aggregation-support.js';
import { errorOf, startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';

const document = {
  b: 5,
  _id: 1,
  l: L(1),
  d: D(1),
  c: C('1.0'),
  a: [1, 2, 3],
  o: { arr: [1, 2, 3], x: 1, y: { z: 1 } },
  items: [{ q: 1, r: 1 }, { q: 2, r: 2 }, 7, [{ q: 3 }]],
};
const { _id, ...rest } = document;

/**
 * A projection, and the projected document or an error code. The third value is the filter, if the
 * projection needs one.
 */
type Case = readonly [projection: Document, answer: Document | number, filter?: Document];
const fails = (code: number, ...projections: Document[]): Case[] =>
  projections.map((projection) => [projection, code]);

const groups: Readonly<Record<string, readonly Case[]>> = {
  '_id is first, other fields keep the document order, values keep their types': [
    [
      { d: 1, l: 1, b: true },
      { _id, b: 5, l: L(1), d: D(1) },
    ],
    [{ _id: 0, c: 1 }, { c: C('1.0') }],
    [{ _id: 1 }, { _id }],
    [{ _id: 0 }, rest],
    [
      { a: 0, o: 0, items: 0 },
      { _id, b: 5, l: L(1), d: D(1), c: C('1.0') },
    ],
    [
      { a: 0, _id: 0, 'o.arr': 0, 'o.y.z': 0, items: 0 },
      { b: 5, l: L(1), d: D(1), c: C('1.0'), o: { x: 1, y: {} } },
    ],
  ],
  'a path through an array applies to its documents': [
    [{ 'items.q': 1 }, { _id, items: [{ q: 1 }, { q: 2 }, [{ q: 3 }]] }],
    [
      { 'items.q': 0, a: 0, o: 0, l: 0, d: 0, c: 0 },
      { _id, b: 5, items: [{ r: 1 }, { r: 2 }, 7, [{}]] },
    ],
    [{ o: { x: 1 } }, { _id, o: { x: 1 } }],
    [{ 'no.x': 1 }, { _id }],
  ],
  'computed fields come last, in the order of the specification': [
    [
      { z: '$b', b: 1, y: { $add: ['$l', 1] } },
      { _id, b: 5, z: 5, y: L(2) },
    ],
    [{ x: { a: '$no' } }, { _id, x: {} }],
    [{ x: ['$b', '$no'] }, { _id, x: [5, null] }],
    [{ 'o.w': '$no' }, { _id, o: {} }],
    [{ x: { kept: null } }, { _id, x: { kept: null } }],
    [
      { s: [], t: '', u: 'text' },
      { _id, s: [], t: '', u: 'text' },
    ],
    [{ 'a.b': '$b' }, { _id, a: [{ b: 5 }, { b: 5 }, { b: 5 }] }],
  ],
  '$slice cuts an array in place': [
    [
      { a: { $slice: 1 }, b: 1 },
      { _id, b: 5, a: [1] },
    ],
    [
      { a: { $slice: -2 }, b: 1 },
      { _id, b: 5, a: [2, 3] },
    ],
    [
      { a: { $slice: [-9, 1] }, b: 1 },
      { _id, b: 5, a: [1] },
    ],
    [
      { a: { $slice: [1, 5] }, b: 1 },
      { _id, b: 5, a: [2, 3] },
    ],
    [
      { 'o.arr': { $slice: 1 }, b: 1 },
      { _id, b: 5, o: { arr: [1] } },
    ],
    [{ a: { $slice: 1 } }, { _id, ...rest, a: [1] }],
    ...fails(28667, { a: { $slice: 'x' } }),
    ...fails(28724, { x: { $slice: ['$a', 1, 1] } }, { a: { $slice: [1, 0] } }, { a: { $slice: [1, 'x'] } }),
  ],
  '$elemMatch returns the first matching element, after the included fields': [
    [
      { items: { $elemMatch: { q: { $gt: 1 } } }, l: 1 },
      { _id, l: L(1), items: [{ q: 2, r: 2 }] },
    ],
    [{ items: { $elemMatch: { q: 9 } } }, { _id }],
    [{ a: { $elemMatch: { $gt: 1 } } }, { _id, a: [2] }],
    [{ b: { $elemMatch: { $gt: 1 } } }, { _id }],
    ...fails(31275, { 'o.arr': { $elemMatch: { $gt: 1 } } }),
    ...fails(31274, { a: { $elemMatch: 1 } }),
  ],
  'contradictory projections are refused': [
    ...fails(31254, { a: 1, b: 0 }),
    ...fails(31253, { a: 0, b: 1 }),
    ...fails(31310, { a: 0, b: '$x' }),
    ...fails(31249, { o: 1, 'o.x': 1 }),
    ...fails(31250, { 'o.x': 1, o: 1 }),
    ...fails(40352, { '': 1 }),
    ...fails(15998, { 'a..b': 1 }),
    ...fails(40353, { 'a.': 1 }),
    ...fails(16410, { $n: 1 }),
    ...fails(31325, { a: { $foo: 1 } }),
    ...fails(238, { 'items.$': 1 }, { 'items.$.q': 1 }),
  ],
};

describe('projection', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  for (const [name, cases] of Object.entries(groups)) {
    it(name, async () => {
      const collection = fixture.collection();
      await collection.insertOne(document as unknown as Document);
      for (const [projection, answer, filter = {}] of cases) {
        const found = collection.findOne(filter, { projection, promoteValues: false });
        if (typeof answer === 'number') {
          expect(Number((await errorOf(found)).code), formatValue(projection)).to.equal(answer);
        } else {
          expect(formatValue(await found), formatValue(projection)).to.equal(formatValue(answer));
        }
      }
    });
  }

  it('findAndModify projects the document before or after', async () => {
    const collection = fixture.collection();
    await collection.insertOne({ _id: 1 as never, n: L(1), items: [{ q: 1 }, { q: 2 }] });
    const options = { projection: { n: 1, items: { $elemMatch: { q: 2 } } }, promoteValues: false } as const;
    const change = { $inc: { n: 1 } };
    const before = await collection.findOneAndUpdate({ 'items.q': 2 }, change, options);
    expect(formatValue(before)).to.equal(formatValue({ _id: 1, n: L(1), items: [{ q: 2 }] }));
    const after = await collection.findOneAndUpdate({ 'items.q': 1 }, change, {
      ...options,
      returnDocument: 'after',
    });
    expect(formatValue(after)).to.equal(formatValue({ _id: 1, n: L(3), items: [{ q: 2 }] }));
  });
});
