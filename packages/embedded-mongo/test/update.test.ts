import { Binary, BSONRegExp, ObjectId, Timestamp } from 'mongodb';
import { expect } from 'chai';
import type { Collection, Document, UpdateFilter, UpdateOptions } from 'mongodb';
import { C, D, L, formatValue } from './aggregation-support.js';
import { errorOf, startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';

interface Options {
  filter?: Document;
  arrayFilters?: Document[];
}
/**
 * A document, an update and the result. The result is the updated document without `_id`, `same` if
 * nothing changes, or an error code.
 */
type Case = readonly [
  document: Document,
  update: Document | Document[],
  answer: Document | 'same' | number,
  options?: Options,
];

const fails = (code: number, ...updates: Document[]): Case[] => updates.map((update) => [{}, update, code]);

const groups: Readonly<Record<string, readonly Case[]>> = {
  // In MongoDB, PushNode reports whether it has acted. It does not compare the arrays before and
  // after.
  '$push counts as a change even if the array stays the same': [
    [{ a: [1, 2] }, { $push: { a: { $each: [], $slice: 2 } } }, 'same'],
    [{ a: [] }, { $push: { a: { $each: [], $sort: 1 } } }, 'same'],
    [{ a: [2, 1] }, { $push: { a: { $each: [], $position: 0 } } }, 'same'],
    [{ a: [1, 2] }, { $push: { a: { $each: [], $sort: 1 } } }, { a: [1, 2] }],
    [{ a: [1, 2] }, { $push: { a: { $each: [3], $slice: 2 } } }, { a: [1, 2] }],
    [{ a: [7, 7] }, { $push: { a: { $each: [7], $slice: -2 } } }, { a: [7, 7] }],
    [{ a: [] }, { $push: { a: { $each: [1], $slice: 0 } } }, { a: [] }],
    [{ a: [{ b: [1] }] }, { $push: { 'a.0.b': { $each: [2], $slice: 1 } } }, { a: [{ b: [1] }] }],
  ],
  'a document counts as modified if its bytes change': [
    [{ a: 1 }, { $set: { a: 1 } }, 'same'],
    [{ a: 1 }, { $set: { a: D(1) } }, { a: D(1) }],
    [{ a: C('1.0') }, { $set: { a: C('1.00') } }, { a: C('1.00') }],
    [{ a: { x: 1, y: 2 } }, { $set: { a: { y: 2, x: 1 } } }, { a: { y: 2, x: 1 } }],
    [{ a: 1 }, { $inc: { a: 0 } }, 'same'],
    [{ a: 1 }, { $inc: { a: D(0) } }, { a: D(1) }],
    [{ a: 1 }, { $set: {} }, 'same'],
    [{ a: 1 }, { $push: {} }, 'same'],
    [{ a: [1] }, { $push: { a: { $each: [] } } }, 'same'],
    [{ a: 1 }, { a: 1 }, 'same'],
    [{ a: 1 }, [{ $set: { a: 1 } }], 'same'],
    [{ a: 1 }, [{ $set: { a: { $literal: L(1) } } }], { a: L(1) }],
  ],
  '$inc and $mul are exact and follow the type rules': [
    [{ a: 2147483647 }, { $inc: { a: 1 } }, { a: L('2147483648') }],
    [{ a: L('9223372036854775806') }, { $inc: { a: 1 } }, { a: L('9223372036854775807') }],
    [{ a: L('9223372036854775807') }, { $inc: { a: 1 } }, 2],
    [{ a: L('9223372036854775807') }, { $mul: { a: 2 } }, 2],
    [{ a: 1 }, { $inc: { a: D(1) } }, { a: D(2) }],
    [{ a: 0.1 }, { $inc: { a: C('0.2') } }, { a: C('0.300000000000000') }],
    [{ a: C('1.10') }, { $inc: { a: C('2.20') } }, { a: C('3.30') }],
    [{ a: 1 }, { $inc: { a: C('0.10') } }, { a: C('1.10') }],
    [{ a: C('1.00') }, { $inc: { a: -1 } }, { a: C('0.00') }],
    [{ a: 65536 }, { $mul: { a: 65536 } }, { a: L('4294967296') }],
    [{}, { $inc: { a: L(5) } }, { a: L(5) }],
    [{}, { $mul: { a: L(5) } }, { a: L(0) }],
    [{}, { $mul: { a: D(5) } }, { a: D(0) }],
    [{}, { $mul: { a: C('5') } }, { a: C('0') }],
    [{ a: null }, { $inc: { a: 1 } }, 14],
    [{ a: 'x' }, { $mul: { a: 1 } }, 14],
  ],
  '$min and $max compare in the total order and keep an equal value': [
    [{ a: 5 }, { $min: { a: D(5) } }, 'same'],
    [{ a: 5 }, { $max: { a: 'x' } }, { a: 'x' }],
    [{ a: 5 }, { $min: { a: null } }, { a: null }],
    [{ a: C('1.5') }, { $max: { a: 2 } }, { a: 2 }],
    [{}, { $min: { a: L(3) } }, { a: L(3) }],
  ],
  'new fields are created in path order across all operators': [
    [{}, { $inc: { z: 1 }, $set: { y: 1 }, $push: { x: 1 } }, { x: [1], y: 1, z: 1 }],
    [{ b: 1 }, { $set: { 'o.10': 1, 'o.9': 2, a: 0 } }, { b: 1, a: 0, o: { '9': 2, '10': 1 } }],
    [{ z: 1, a: 1 }, { $set: { z: 2, a: 2 } }, { z: 2, a: 2 }],
    [{}, { $set: { 'a.c': 1, 'a.b': 2 } }, { a: { b: 2, c: 1 } }],
  ],
  'a path through a scalar, a null, or an array by name is refused': [
    [{ s: 'x' }, { $set: { 's.y': 1 } }, 28],
    [{ m: null }, { $set: { 'm.0': 1 } }, 28],
    [{ d: new Date(0) }, { $inc: { 'd.x': 1 } }, 28],
    [{ i: new ObjectId() }, { $push: { 'i.x': 1 } }, 28],
    [{ arr: [] }, { $set: { 'arr.x': 1 } }, 28],
    [{ s: 'x' }, { $unset: { 's.y': 1 } }, 'same'],
    [{ arr: [1, 2] }, { $set: { 'arr.5': 9 } }, { arr: [1, 2, null, null, null, 9] }],
    [{}, { $set: { 'a.0': 1 } }, { a: { '0': 1 } }],
    [{ arr: [1, 2] }, { $unset: { 'arr.0': 1 } }, { arr: [null, 2] }],
    [{ arr: [{ q: 1 }] }, { $set: { 'arr.0.r': 2, 'arr.1.r': 3 } }, { arr: [{ q: 1, r: 2 }, { r: 3 }] }],
  ],
  'array operators need an array, or create one': [
    [{ a: 1 }, { $push: { a: 1 } }, 2],
    [{ a: 1 }, { $addToSet: { a: 1 } }, 2],
    [{ a: 1 }, { $pull: { a: 1 } }, 2],
    [{ a: 1 }, { $pullAll: { a: [1] } }, 2],
    [{ a: 1 }, { $pop: { a: 1 } }, 14],
    [{}, { $pull: { a: 1 }, $pop: { b: 1 } }, 'same'],
    [{}, { $push: { a: 1 }, $addToSet: { b: { $each: [1, D(1), 2] } } }, { a: [1], b: [1, 2] }],
    [{ a: [1, 2] }, { $pop: { a: -1 } }, { a: [2] }],
    [{ a: [3, 1] }, { $push: { a: { $each: [2], $sort: 1, $slice: -2 } } }, { a: [2, 3] }],
    [{ a: [1, 2] }, { $push: { a: { $each: [9], $position: -1 } } }, { a: [1, 9, 2] }],
    [
      { a: [{ n: 2 }] },
      { $push: { a: { $each: [{ n: 1 }, 5], $sort: { n: -1 } } } },
      { a: [{ n: 2 }, { n: 1 }, 5] },
    ],
    [{ a: [{ x: 1 }] }, { $addToSet: { a: { x: L(1) } } }, 'same'],
    [
      { a: [{ x: 1, y: 2 }] },
      { $addToSet: { a: { y: 2, x: 1 } } },
      {
        a: [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      },
    ],
    [{ a: [1, [1], D(1)] }, { $pullAll: { a: [1] } }, { a: [[1]] }],
  ],
  '$pull accepts a value, operators, or a filter of documents': [
    [{ a: [1, 2, 3] }, { $pull: { a: { $gt: 1 } } }, { a: [1] }],
    [{ a: [1, [1], 2] }, { $pull: { a: 1 } }, { a: [[1], 2] }],
    [{ a: [{ n: 1, m: 2 }, { n: 5 }, 7] }, { $pull: { a: { n: { $lt: 3 } } } }, { a: [{ n: 5 }, 7] }],
    [{ a: ['x', 'y'] }, { $pull: { a: new BSONRegExp('^x') } }, { a: ['y'] }],
    [{ a: [{ q: [{ r: 1 }] }] }, { $pull: { 'a.0.q': { r: 1 } } }, { a: [{ q: [] }] }],
    [{ a: [1] }, { $pull: { a: { $not: { $gt: 1 } } } }, 2],
  ],
  '$rename moves a value, but not into or out of an array': [
    [{ a: 1, b: 2 }, { $rename: { a: 'c' } }, { b: 2, c: 1 }],
    [{ a: 1, b: 2 }, { $rename: { a: 'b' } }, { b: 1 }],
    [{ o: { x: 1 } }, { $rename: { 'o.x': 'p.y' } }, { o: {}, p: { y: 1 } }],
    [{ o: { x: 1, y: 1 } }, { $rename: { 'o.x': 'o.y' }, $set: { 'o.zz': 1 } }, { o: { y: 1, zz: 1 } }],
    [{ a: [1] }, { $rename: { 'a.0': 'b' } }, 2],
    [{ q: 1, a: [1] }, { $rename: { q: 'a.0' } }, 2],
    [{ b: 1 }, { $rename: { a: 'b' } }, 'same'],
  ],
  '$[] and $[identifier] update the elements of an existing array': [
    [{}, { $set: { 'a.$[]': 1 } }, 2],
    [{ a: 1 }, { $set: { 'a.$[]': 1 } }, 2],
    [{ a: [1, 2] }, { $inc: { 'a.$[]': 1 } }, { a: [2, 3] }],
    [{ a: [1] }, { $set: { 'a.$[x]': 1 } }, 'same', { arrayFilters: [{ x: 9 }] }],
    [
      { a: [{ b: 1 }, { b: 5 }] },
      { $inc: { 'a.$[x].b': 1 } },
      { a: [{ b: 1 }, { b: 6 }] },
      { arrayFilters: [{ 'x.b': { $gt: 2 } }] },
    ],
    [
      { a: [{ b: [1, 2] }, { b: [3] }] },
      { $set: { 'a.$[].b.$[y]': 0 } },
      { a: [{ b: [1, 0] }, { b: [0] }] },
      { arrayFilters: [{ $or: [{ y: 2 }, { y: 3 }] }] },
    ],
    [{ a: [{}] }, { $set: { 'a.$[].b': 1, 'a.$[x].b': 2 } }, 40, { arrayFilters: [{ x: {} }] }],
  ],
  '$ is the element that the filter matched': [
    [{ a: [1, 5] }, { $set: { 'a.$': 9 } }, { a: [1, 9] }, { filter: { a: { $gt: 2 } } }],
    [
      { a: [{ q: 1 }, { q: 2 }] },
      { $inc: { 'a.$.n': 1 } },
      { a: [{ q: 1 }, { q: 2, n: 1 }] },
      { filter: { 'a.q': 2 } },
    ],
    [
      {
        a: [
          { q: 1, r: 1 },
          { q: 1, r: 2 },
        ],
      },
      { $set: { 'a.$.q': 0 } },
      {
        a: [
          { q: 1, r: 1 },
          { q: 0, r: 2 },
        ],
      },
      { filter: { a: { $elemMatch: { q: 1, r: 2 } } } },
    ],
    [{ a: [1, 5] }, { $set: { 'a.$': 9 } }, 2],
    [{ a: 5 }, { $set: { 'a.$': 9 } }, 2, { filter: { a: 5 } }],
  ],
  '_id and names with a dollar sign are protected': [
    [{}, { $set: { _id: 1000 } }, 66],
    [{}, { $unset: { _id: 1 } }, 66],
    [{}, { $rename: { _id: 'x' } }, 66],
    [{}, [{ $set: { _id: 1000 } }], 66],
    [{}, { _id: 1000, a: 1 }, 66],
    [{ a: 1 }, [{ $unset: '_id' }], 'same'],
    [{}, { $set: { $x: 1 } }, 52],
    [{ a: 1 }, { $rename: { a: '$x' } }, 52],
    [{ o: {} }, { $set: { 'o.$x': 1 } }, { o: { $x: 1 } }],
  ],
  'a pipeline computes from the document': [
    [{ a: 1, b: L(2) }, [{ $set: { c: { $add: ['$a', '$b'] } } }, { $unset: 'a' }], { b: L(2), c: L(3) }],
    [{ a: 1, o: { x: 1 } }, [{ $replaceWith: '$o' }], { x: 1 }],
    [{ a: 'x' }, [{ $set: { b: { $add: ['$a', 1] } } }], 14],
  ],
};

/** Updates that are refused regardless of the existing documents. */
const refused: readonly Case[] = [
  ...fails(
    9,
    { $foo: { a: 1 } },
    { $set: 1 },
    { $pop: { a: 2 } },
    { $pop: { a: 'x' } },
    { $set: { a: 1 }, b: 1 },
  ),
  ...fails(14, { $inc: { a: 'x' } }, { $mul: { a: null } }, { $addToSet: { a: { $each: 1 } } }),
  ...fails(
    40,
    { $set: { a: 1 }, $setOnInsert: { a: 1 } },
    { $set: { a: 1, 'a.b': 1 } },
    { $inc: { 'a.b': 1 }, $unset: { a: 1 } },
  ),
  ...fails(40, { $rename: { a: 'b' }, $set: { a: 1 } }, { $set: { 'a.$[]': 1, 'a.0': 1 } }),
  ...fails(56, { $set: { '': 1 } }, { $set: { 'a..b': 1 } }, { $inc: { 'a.': 1 } }, { $rename: { a: '' } }),
  ...fails(
    2,
    { $rename: { a: 'a' } },
    { $rename: { a: 1 } },
    { $rename: { a: 'a.b' } },
    { $pullAll: { a: 1 } },
  ),
  ...fails(2, { $currentDate: { a: 'x' } }, { $currentDate: { a: { $type: 'x' } } }),
  ...fails(
    2,
    { $push: { a: { $each: 1 } } },
    { $push: { a: { $each: [], $foo: 1 } } },
    { $push: { a: { $each: [], $slice: 1.5 } } },
  ),
  ...fails(2, { $push: { a: { $each: [], $position: 'x' } } }, { $push: { a: { $each: [], $sort: 2 } } }),
  ...fails(
    2,
    { $addToSet: { a: { $each: [], $x: 1 } } },
    { $set: { 'a.$[x]': 1 } },
    { $set: { '$[]': 1 } },
    { $set: { 'a.$.b.$': 1 } },
  ),
  ...fails(2, { $pull: { a: { $not: { $gt: 1 } } } }),
  [{}, { $set: { a: 1 } }, 9, { arrayFilters: [{ x: 1 }] }],
  [{}, { $set: { 'a.$[x]': 1 } }, 9, { arrayFilters: [{ x: 1 }, { x: 2 }] }],
  [{}, { $set: { 'a.$[x]': 1 } }, 9, { arrayFilters: [{}] }],
  [{}, { $set: { 'a.$[x]': 1 } }, 9, { arrayFilters: [{ x: 1, y: 2 }] }],
  [{}, [{ $match: {} }], 72],
  [{}, [{ $foo: {} }], 40324],
];

/**
 * A filter and an update for an upsert, and the document that must be inserted. A generated `_id`
 * is left out.
 */
const upserts: readonly (readonly [
  filter: Document,
  update: Document | Document[],
  answer: Document | number,
])[] = [
  [
    { b: { $eq: null }, a: 1, c: { $in: [5, D(5)] }, d: { $all: [7] } },
    { $set: { x: 1 } },
    { a: 1, b: null, c: 5, d: 7, x: 1 },
  ],
  [
    { a: new BSONRegExp('x'), b: { $gt: 1 }, c: { $elemMatch: { q: 1 } }, d: { $in: [1, 2] } },
    { $set: { x: 1 } },
    { x: 1 },
  ],
  [{ r: { $eq: new BSONRegExp('x') } }, { $set: { x: 1 } }, { r: new BSONRegExp('x'), x: 1 }],
  [{ $or: [{ $and: [{ k: L(5) }] }] }, { $inc: { n: 1 }, $setOnInsert: { s: 1 } }, { k: L(5), n: 1, s: 1 }],
  [{ $or: [{ a: 1 }, { b: 1 }] }, { $set: { x: 1 } }, { x: 1 }],
  [{ 'arr.0': 1, 'o.x': 2, 'o.y': 3 }, { $set: { 'o.z': 1 } }, { arr: { '0': 1 }, o: { x: 2, y: 3, z: 1 } }],
  [{ a: 1, $and: [{ a: 2 }] }, { $set: { x: 1 } }, 54],
  [{ a: { b: 1 }, 'a.b': 1 }, { $set: { x: 1 } }, 54],
  [{ a: 5 }, { $set: { 'a.b': 1 } }, 28],
  [{ a: 5 }, { $push: { a: 1 } }, 2],
  [{ a: 5 }, { $set: { 'b.$': 1 } }, 2],
  [{ _id: 'k', a: 1 }, { x: 1 }, { _id: 'k', x: 1 }],
  [{ _id: 'k1' }, { $set: { _id: 'k2' } }, 66],
  [{ a: 4 }, [{ $set: { y: '$a' } }], { a: 4, y: 4 }],
  [{ $expr: { $eq: ['$a', 77] } }, { $set: { x: 1 } }, 224],
];

describe('update', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  async function update(
    collection: Collection,
    filter: Document,
    change: Document | Document[],
    options: UpdateOptions,
  ) {
    const replaces = !Array.isArray(change) && Object.keys(change)[0]?.startsWith('$') !== true;
    return replaces
      ? collection.replaceOne(filter, change, options.upsert === true ? { upsert: true } : {})
      : collection.updateOne(filter, change as UpdateFilter<Document>, options);
  }

  async function readStored(collection: Collection, filter: Document, withId = false): Promise<string> {
    const found = await collection.findOne(filter, {
      promoteValues: false,
      projection: withId ? {} : { _id: 0 },
    });
    return formatValue(found);
  }

  for (const [name, cases] of Object.entries(groups)) {
    it(name, async () => {
      const collection = fixture.collection();
      await collection.insertMany(cases.map(([document], i) => ({ _id: i as never, ...document })));
      for (const [i, [document, change, answer, { filter = {}, arrayFilters } = {}]] of cases.entries()) {
        const text = `${formatValue(change)} on ${formatValue(document)}`;
        const done = update(
          collection,
          { ...filter, _id: i },
          change,
          arrayFilters === undefined ? {} : { arrayFilters },
        );
        if (typeof answer === 'number') {
          expect((await errorOf(done)).code, text).to.equal(answer);
          expect(await readStored(collection, { _id: i }), text).to.equal(formatValue(document));
        } else {
          const result = await done;
          expect(result.matchedCount, text).to.equal(1);
          expect(result.modifiedCount, text).to.equal(answer === 'same' ? 0 : 1);
          expect(await readStored(collection, { _id: i }), text).to.equal(
            formatValue(answer === 'same' ? document : answer),
          );
        }
      }
    });
  }

  it('an invalid update is refused even if nothing matches', async () => {
    const collection = fixture.collection();
    for (const [, change, code, { arrayFilters } = {}] of refused) {
      const done = update(
        collection,
        { none: 1 },
        change,
        arrayFilters === undefined ? {} : { arrayFilters },
      );
      expect((await errorOf(done)).code, formatValue(change)).to.equal(code);
    }
  });

  it('an upsert starts with the equality conditions of the filter', async () => {
    for (const [filter, change, answer] of upserts) {
      const collection = fixture.collection();
      const done = update(collection, filter, change, { upsert: true });
      if (typeof answer === 'number') {
        const code = await done.then(
          () => 'no error',
          (error: unknown) => (error as { code?: unknown }).code,
        );
        expect(code, formatValue(filter)).to.equal(answer);
        expect(await collection.countDocuments(), formatValue(filter)).to.equal(0);
      } else {
        expect((await done).upsertedCount, formatValue(filter)).to.equal(1);
        expect(await readStored(collection, {}, '_id' in answer), formatValue(filter)).to.equal(
          formatValue(answer),
        );
      }
    }
  });

  it('a replacement with multi is refused', async () => {
    const collection = fixture.collection();
    const command = { update: collection.collectionName, updates: [{ q: {}, u: { a: 1 }, multi: true }] };
    const reply = await fixture.db.command(command);
    expect(reply['writeErrors']).to.have.nested.property('[0].code', 9);
  });

  it('$currentDate sets a date or a timestamp', async () => {
    const collection = fixture.collection();
    await collection.insertOne({ a: 1 });
    await collection.updateOne({}, { $currentDate: { d: true, t: { $type: 'timestamp' } } } as Document);
    const found = await collection.findOne({});
    expect(found?.['d']).to.be.instanceOf(Date);
    expect(found?.['t']).to.be.instanceOf(Timestamp);
  });

  it('an update of one field leaves all other bytes unchanged', async () => {
    const collection = fixture.collection();
    // A Map keeps integer keys in insertion order. A plain object does not.
    const odd = new Map<string, unknown>([
      ['b', 1],
      ['5', L(1)],
      ['3', D(-0)],
      ['__proto__', C('1.00')],
    ]);
    const document = new Map<string, unknown>([
      ['_id', 1],
      ['n', D(1)],
      ['odd', odd],
      ['10', 1],
      ['2', [D(1), L(1)]],
      ['re', new BSONRegExp('(?i)A', 'i')],
      ['bin', new Binary(Buffer.from([1]), 5)],
      ['far', C('1E+6000')],
      ['nul', null],
    ]);
    await collection.insertOne(document);
    const before = await collection.findOne({}, { raw: true });
    await collection.updateOne({}, { $set: { 'touched.x': 1 } });
    await collection.updateOne({}, { $unset: { touched: 1 } });
    const after = await collection.findOne({}, { raw: true });
    expect(Buffer.from(after as unknown as Uint8Array).equals(before as unknown as Uint8Array)).to.equal(
      true,
    );
  });
});
