import { Binary, BSONRegExp, Decimal128, Double, Long, MaxKey, MinKey, ObjectId, Timestamp } from 'bson';
import { expect } from 'chai';
import type { Document, Filter } from 'mongodb';
import { C, D, L } from './aggregation-support.js';
import { errorOf, startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';

/**
 * A filter and a document. The third value is true if the filter matches, false if it does not, or
 * an error code.
 */
type Case = readonly [filter: Document, document: Document, answer: boolean | number];

const re = (pattern: string, options = ''): BSONRegExp => new BSONRegExp(pattern, options);
const matches = (filter: Document, ...documents: Document[]): Case[] =>
  documents.map((doc) => [filter, doc, true]);
const misses = (filter: Document, ...documents: Document[]): Case[] =>
  documents.map((doc) => [filter, doc, false]);
const fails = (code: number, ...filters: Document[]): Case[] => filters.map((filter) => [filter, {}, code]);

const groups: Readonly<Record<string, readonly Case[]>> = {
  'equality compares numbers by value and everything else with its type': [
    ...matches({ a: 1 }, { a: 1 }, { a: D(1) }, { a: L(1) }, { a: C('1.00') }, { a: [L(1)] }),
    ...misses({ a: 1 }, { a: '1' }, { a: true }, { a: [[1]] }, {}),
    ...matches({ a: L('9007199254740993') }, { a: C('9007199254740993') }),
    ...misses({ a: L('9007199254740993') }, { a: 9007199254740992 }, { a: D(9007199254740992) }),
    ...misses({ a: C('0.1') }, { a: 0.1 }),
    ...matches({ a: 0 }, { a: D(-0) }, { a: C('0E-10') }),
    ...matches({ a: Number.NaN }, { a: Number.NaN }, { a: C('NaN') }),
    ...matches({ a: { x: 1, y: 2 } }, { a: { x: L(1), y: 2 } }, { a: [{ x: 1, y: 2 }] }),
    ...misses({ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } }, { a: { x: 1, y: 2, z: 3 } }),
    ...matches({ a: [1, 2] }, { a: [1, 2] }, { a: [[1, 2]] }),
    ...misses({ a: [1, 2] }, { a: [2, 1] }, { a: [1, 2, 3] }),
    ...matches({ a: {} }, { a: {} }),
    ...matches({ a: new Date(5) }, { a: new Date(5) }),
    ...misses({ a: new Date(5) }, { a: 5 }, { a: new Timestamp({ t: 0, i: 5 }) }),
  ],
  // These cases follow null2.js and null_query_semantics.js in MongoDB's own tests.
  'null matches null and missing fields; in arrays, those of the documents': [
    ...matches({ a: null }, {}, { a: null }, { a: [1, null] }),
    ...misses({ a: null }, { a: 0 }, { a: [] }, { a: '' }),
    ...matches({ 'items.q': null }, { items: [{}] }, { items: [{}, { q: 0 }] }, { items: 5 }, {}),
    ...misses({ 'items.q': null }, { items: [] }, { items: [1] }, { items: [null] }, { items: [[]] }),
    ...misses({ 'items.q': null }, { items: [{ q: 1 }] }, { items: { q: 0 } }, { items: [5, { q: 1 }] }),
    ...misses({ 'items.0.q': null }, { items: [] }, { items: [5] }),
    ...matches({ 'items.q': { $ne: null } }, { items: [] }, { items: [1] }, { items: [[]] }),
    ...misses({ 'items.q': { $ne: null } }, { items: [{}, { q: 0 }] }),
    ...matches({ 'items.q': { $nin: [null] } }, { items: [] }, { items: [1] }),
    ...matches({ items: { $elemMatch: { q: null } } }, { items: [[]] }, { items: [{}] }),
    ...misses({ items: { $elemMatch: { q: null } } }, { items: [] }, { items: [1] }),
    ...misses({ 'items.q': { $in: [null] } }, { items: [] }, { items: [1] }, { items: [5, { q: 1 }] }),
    ...misses({ 'items.q': { $nin: [null] } }, { items: [{}, { q: 0 }] }),
    ...matches({ 'items.q': { $in: [null] } }, { items: [{}, { q: 0 }] }),
    ...matches({ 'items.q': { $all: [null] } }, { items: [{}, { q: 0 }] }),
    ...misses({ 'items.q': { $exists: false } }, { items: [{}, { q: 0 }] }),
    ...matches({ 'items.q': { $exists: false } }, { items: [{}] }, { items: [] }, { items: [1] }, {}),
    ...matches({ a: { $lte: null } }, {}, { a: null }),
    ...matches({ a: { $gte: null } }, {}),
    ...misses({ a: { $gt: null } }, {}, { a: 1 }, { a: null }),
  ],
  'a number in a path is an index or a field, and that element is not entered': [
    ...matches({ 'a.0': 1 }, { a: [1, 2] }, { a: { '0': 1 } }),
    ...misses({ 'a.0': 1 }, { a: [[1]] }, { a: [2, 1] }),
    ...matches({ 'a.0.0': 1 }, { a: [[1]] }),
    ...matches({ 'a.1.b': 1 }, { a: [{}, { b: 1 }] }),
    ...matches({ 'a.b': 1 }, { a: [{ b: [3, 1] }] }),
    ...misses({ 'a.b': 1 }, { a: [[{ b: 1 }]] }),
  ],
  'ranges compare within one type only': [
    ...matches({ a: { $gt: 1 } }, { a: 2 }, { a: C('1.01') }, { a: [0, 5] }),
    ...misses({ a: { $gt: 1 } }, { a: '2' }, { a: new Date() }, { a: true }, {}),
    ...matches({ a: { $lt: 'b' } }, { a: 'a' }, { a: '' }),
    ...misses({ a: { $lt: 'b' } }, { a: 1 }, { a: null }),
    ...misses({ a: { $gt: Number.NaN } }, { a: 1 }, { a: Number.NaN }),
    ...matches({ a: { $gte: Number.NaN } }, { a: Number.NaN }, { a: C('NaN') }),
    ...misses({ a: { $lte: Number.NaN } }, { a: 1 }),
    ...misses({ a: { $lt: 5 } }, { a: Number.NaN }, { a: C('NaN') }),
    ...matches({ a: { $gt: new MinKey() } }, {}, { a: 1 }, { a: null }),
    ...matches({ a: { $lt: new MaxKey() } }, {}, { a: 1 }),
    ...matches({ a: { $gt: '\uffff' } }, { a: '😀' }),
    ...matches({ a: { $gte: [1] } }, { a: [1] }, { a: [1, 0] }),
    ...fails(2, { a: { $gt: re('x') } }, { a: { $ne: re('x') } }),
  ],
  '$in and $nin accept values and regexes but no operators': [
    ...matches({ a: { $in: [1, 'x'] } }, { a: D(1) }, { a: ['y', 'x'] }),
    ...matches({ a: { $in: [re('^x'), null] } }, { a: 'xy' }, {}),
    ...matches({ a: { $in: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] } }, { a: L(9) }, { a: [C('10.0')] }),
    ...misses({ a: { $in: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] } }, { a: 11 }, {}),
    ...misses({ a: { $in: [] } }, {}, { a: 1 }),
    ...matches({ a: { $nin: [1] } }, {}, { a: 2 }),
    ...misses({ a: { $nin: [1] } }, { a: [1, 2] }),
    ...fails(2, { a: { $in: 1 } }, { a: { $nin: 1 } }, { a: { $in: [{ $gt: 1 }] } }),
  ],
  '$mod truncates divisor, remainder and value to int64 and is exact': [
    ...matches({ a: { $mod: [2, 1.5] } }, { a: 3 }, { a: L('9007199254740993') }),
    ...matches({ a: { $mod: [2.5, 0] } }, { a: 4 }),
    ...misses({ a: { $mod: [2.5, 0] } }, { a: 5 }, { a: 'x' }, {}, { a: Number.NaN }),
    ...matches({ a: { $mod: [3, -1] } }, { a: -4 }),
    ...fails(2, { a: { $mod: 1 } }, { a: { $mod: [1] } }, { a: { $mod: [0, 1] } }, { a: { $mod: ['x', 1] } }),
  ],
  '$type distinguishes all number types and accepts all aliases': [
    ...matches({ a: { $type: 'double' } }, { a: D(1) }, { a: 1.5 }),
    ...misses({ a: { $type: 'int' } }, { a: D(1) }, { a: L(1) }, {}),
    ...matches({ a: { $type: 'number' } }, { a: D(1) }, { a: L(1) }, { a: 1 }, { a: C('1') }),
    ...matches({ a: { $type: ['string', 18] } }, { a: 'x' }, { a: L(1) }, { a: ['x'] }),
    ...matches({ a: { $type: 'array' } }, { a: [] }, { a: [1] }),
    ...matches({ a: { $type: -1 } }, { a: new MinKey() }),
    ...matches({ a: { $type: 'maxKey' } }, { a: new MaxKey() }),
    ...misses({ a: { $type: 'symbol' } }, { a: 'x' }),
    ...misses({ a: { $type: 'dbPointer' } }, { a: 'x' }),
    ...fails(2, { a: { $type: 0 } }, { a: { $type: 'foo' } }, { a: { $type: 99 } }),
    ...fails(9, { a: { $type: [] } }),
    ...fails(14, { a: { $type: {} } }),
  ],
  '$size, $all and $elemMatch look at one array': [
    ...misses({ 'items.q': { $size: 2 } }, { items: [{ q: 1 }, { q: 2 }] }),
    ...matches({ 'items.q': { $size: 2 } }, { items: [{ q: [1, 2] }] }),
    ...matches({ a: { $size: D(1) } }, { a: [1] }),
    ...fails(2, { a: { $size: 1.5 } }, { a: { $size: -1 } }, { a: { $size: 'x' } }),
    ...matches({ a: { $all: [1, 2] } }, { a: [2, 1] }),
    ...matches({ a: { $all: [1] } }, { a: 1 }),
    ...misses({ a: { $all: [] } }, { a: [] }, {}),
    ...matches(
      { a: { $all: [{ $elemMatch: { q: 1 } }, { $elemMatch: { q: 2 } }] } },
      { a: [{ q: 2 }, { q: 1 }] },
    ),
    ...fails(2, { a: { $all: 1 } }, { a: { $all: [{ $elemMatch: {} }, 1] } }, { a: { $all: [{ $gt: 1 }] } }),
    ...matches({ a: { $elemMatch: { q: 1, r: 2 } } }, { a: [{ q: 1, r: 2 }] }),
    ...misses(
      { a: { $elemMatch: { q: 1, r: 2 } } },
      { a: [{ q: 1 }, { r: 2 }] },
      { a: { q: 1, r: 2 } },
      { a: [null] },
    ),
    ...matches({ a: { $elemMatch: { $gt: 1, $lt: 3 } } }, { a: [0, 2] }),
    ...misses({ a: { $elemMatch: { $gt: 1 } } }, { a: [[5]] }, { a: 5 }),
    ...matches({ a: { $elemMatch: { $or: [{ q: 1 }, { q: 2 }] } } }, { a: [{ q: 2 }] }),
    ...fails(2, { a: { $elemMatch: 1 } }, { a: { $elemMatch: { $foo: 1 } } }),
  ],
  '$not, $and, $or and $nor check their operands': [
    ...matches({ a: { $not: { $gt: 1 } } }, {}, { a: 1 }, { a: 'x' }),
    ...matches({ a: { $not: re('^x') } }, { a: 'y' }, {}),
    ...matches({ $or: [{ a: 1 }, { b: 1 }] }, { b: 1 }),
    ...matches({ $nor: [{ a: 1 }, { b: 1 }] }, { a: 2 }),
    ...misses({ $and: [{ a: { $gt: 1 } }, { a: { $lt: 3 } }] }, { a: 5 }),
    ...fails(2, { a: { $not: 1 } }, { a: { $not: {} } }, { a: { $not: { b: 1 } } }),
    ...fails(2, { $and: [] }, { $or: [] }, { $nor: [] }, { $and: {} }, { $or: [1] }),
    ...fails(2, { $foo: 1 }, { a: { $foo: 1 } }, { a: { $gt: 1, b: 2 } }),
  ],
  '$regex is PCRE with UTF': [
    ...matches({ a: re('(?i)A') }, { a: 'xa' }, { a: ['b', 'A'] }),
    ...misses({ a: re('a') }, { a: 'A' }, { a: 1 }, {}),
    ...matches({ a: { $regex: '^\\p{L}+$' } }, { a: 'héllo' }),
    ...matches({ a: { $regex: '^.$' } }, { a: '😀' }),
    ...matches({ a: { $regex: '^É$', $options: 'i' } }, { a: 'é' }),
    ...matches({ a: { $regex: 'a$' } }, { a: 'a\n' }),
    ...misses({ a: { $regex: 'a\\z' } }, { a: 'a\n' }),
    ...misses({ a: { $regex: '\\Ab', $options: 'm' } }, { a: 'a\nb' }),
    ...matches({ a: { $regex: '^b', $options: 'm' } }, { a: 'a\nb' }),
    ...misses({ a: { $regex: 'a.b' } }, { a: 'a\nb' }),
    ...matches({ a: { $regex: 'a.b', $options: 's' } }, { a: 'a\nb' }),
    ...matches({ a: { $regex: '^a$', $options: 'm' } }, { a: 'b\na\nb' }),
    ...misses({ a: { $regex: '^a$', $options: 'm' } }, { a: 'b\ra\u2028b' }),
    ...matches({ a: { $regex: 'a.b' } }, { a: 'a\u2028b' }),
    ...matches({ a: { $regex: '(?i)^É$' } }, { a: 'é' }),
    ...matches({ a: { $regex: '^\\s$' } }, { a: ' ' }),
    ...misses({ a: { $regex: '[\\s]' } }, { a: '\u00a0' }),
    ...matches({ a: { $regex: '^[\\S]\\S$' } }, { a: '\u00a0é' }),
    ...matches({ a: { $regex: '^\\+62\\-8\\ \\d{2}\\/\\"$' } }, { a: '+62-8 12/"' }),
    ...matches({ a: { $regex: '^[\\w-.]+@[]\\]a[]{2}$' } }, { a: 'x-y.z@][' }, { a: 'a@aa' }),
    ...matches({ a: { $regex: '^{a}{,2}]$' } }, { a: '{a}{,2}]' }),
    ...matches({ a: { $regex: '^(?P<x>a)(?<y>b)\\1\\k<y>\\x41\\x{1F600}\\pL$' } }, { a: 'ababA😀é' }),
    ...matches({ a: { $regex: '^(?=ab)(?!ac)(?:a)(?<=a)b(?<!a)$' } }, { a: 'ab' }),
    ...matches({ a: { $regex: re('a'), $options: 'i' } }, { a: 'A' }),
    ...matches({ a: re('x', 'i') }, { a: re('x', 'i') }),
    ...matches({ a: { $eq: re('x') } }, { a: re('x') }),
    ...misses({ a: { $eq: re('x') } }, { a: 'x' }),
    ...fails(2, { a: { $options: 'i' } }, { a: { $regex: 1 } }),
    ...fails(51108, { a: { $regex: 'a', $options: 'q' } }),
    ...fails(
      51091,
      { a: { $regex: '(' } },
      { a: { $regex: '[' } },
      { a: { $regex: '*' } },
      { a: { $regex: '(a' } },
      ...[
        'a++',
        '(?>a)',
        '(?i:a)',
        'a(?i)',
        '(?#a)',
        '[[:alpha:]]',
        '\\Qa',
        '\\R',
        '\\h',
        '\\07',
        '(?R)',
        '(*ACCEPT)',
      ].map((pattern) => ({ a: { $regex: pattern } })),
      { a: { $regex: 'a', $options: 'x' } },
    ),
  ],
  '$expr uses the total order and the truthiness of expressions': [
    ...matches({ $expr: { $eq: ['$a', '$b'] } }, {}, { a: 1, b: C('1.00') }),
    ...matches({ $expr: { $lt: ['$missing', 0] } }, {}),
    ...matches({ $expr: '' }, {}),
    ...matches({ $expr: [] }, {}),
    ...misses({ $expr: '$a' }, {}, { a: null }, { a: C('0.0') }, { a: false }, { a: L(0) }),
    ...fails(168, { $expr: { $foo: 1 } }),
  ],
  'names of JavaScript object properties are ordinary field names': [
    ...matches({ toString: null, constructor: { $exists: false } }, {}),
    ...matches({ 'constructor.name': 'x' }, { constructor: { name: 'x' } }),
    ...misses({ hasOwnProperty: { $exists: true } }, {}),
  ],
};

describe('query', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  for (const [name, cases] of Object.entries(groups)) {
    it(name, async () => {
      const collection = fixture.collection<{ _id: number }>();
      await collection.insertMany(cases.map(([, document], i) => ({ ...document, _id: i })));
      for (const [i, [filter, document, answer]] of cases.entries()) {
        const own = { ...filter, _id: i } as Filter<{ _id: number }>;
        const shown = `${JSON.stringify(filter)} on ${JSON.stringify(document)}`;
        if (typeof answer === 'boolean') {
          expect(await collection.find(own).toArray(), shown).to.have.lengthOf(answer ? 1 : 0);
        } else {
          expect((await errorOf(collection.find(own).toArray())).code, shown).to.equal(answer);
        }
      }
    });
  }

  it('an invalid filter fails even without documents', async () => {
    const error = await errorOf(
      fixture
        .collection()
        .find({ a: { $in: 1 } })
        .toArray(),
    );
    expect(error.code).to.equal(2);
  });

  it('variables of let compare by value in $expr', async () => {
    const collection = fixture.collection();
    await collection.insertMany([{ n: L(5) }, { n: 6 }]);
    const found = await collection
      .find({ $expr: { $eq: ['$n', '$$wanted'] } }, { let: { wanted: Decimal128.fromString('5.0') } })
      .toArray();
    expect(found).to.have.lengthOf(1);
  });

  it('sorts arrays by least or greatest element, and [] before null', async () => {
    const collection = fixture.collection<{ _id: number; v?: unknown }>();
    await collection.insertMany([
      { _id: 1, v: [5, 1] },
      { _id: 2, v: 3 },
      { _id: 3, v: [] },
      { _id: 4 },
      { _id: 5, v: null },
      { _id: 6, v: new Long(2) },
      { _id: 7, v: new Double(4) },
    ]);
    const ids = async (direction: 1 | -1): Promise<number[]> =>
      (await collection.find({}).sort({ v: direction, _id: 1 }).toArray()).map(({ _id }) => _id);
    expect(await ids(1)).to.deep.equal([3, 4, 5, 1, 6, 2, 7]);
    expect(await ids(-1)).to.deep.equal([1, 7, 2, 6, 4, 5, 3]);
  });

  it('finds the same documents with and without an index, for all types (seeded)', async () => {
    const values = [
      1,
      D(1),
      L(1),
      C('1.0'),
      0.5,
      C('0.5'),
      C('0.1'),
      0.1,
      -3,
      L('9007199254740993'),
      9007199254740992,
      Number.NaN,
      C('NaN'),
      C('-Infinity'),
      'a',
      'A',
      '',
      'a\0b',
      'é',
      '😀',
      '\uffff',
      null,
      true,
      false,
      new Date(5),
      new ObjectId(),
      {},
      { x: 1 },
      { x: [1] },
      [],
      [1, 'a'],
      [[1]],
      new MinKey(),
      new MaxKey(),
      re('a'),
      new Binary(Buffer.from([1])),
      new Timestamp({ t: 1, i: 1 }),
    ];
    const plain = fixture.collection<{ _id: number }>();
    const indexed = fixture.collection<{ _id: number }>();
    const documents = [...values.map((v, i) => ({ _id: i, v })), { _id: 1000 }];
    await plain.insertMany(documents);
    await indexed.createIndex({ v: 1 }, {}, {});
    await indexed.insertMany(documents);
    for (const value of values.filter((v) => !(v instanceof BSONRegExp))) {
      for (const operator of ['$eq', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$ne']) {
        const filter = { v: { [operator]: operator.endsWith('in') ? [value, 'a'] : value } } as Filter<{
          _id: number;
        }>;
        const ids = async (collection: typeof plain): Promise<number[]> =>
          (await collection.find(filter).sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
        expect(await ids(indexed), JSON.stringify(filter)).to.deep.equal(await ids(plain));
      }
    }
  });

  it('a null condition below an array finds the same documents with an index', async () => {
    const rows = fixture.collection<{ _id: number }>();
    const values = [[{ q: 5 }], [{}], [], [{}, { q: 5 }], [5, { q: 5 }], 5, [[]], [null]];
    await rows.insertMany([...values.map((items, i) => ({ _id: i, items })), { _id: 8 }]);
    const expectFound = async (): Promise<void> => {
      for (const condition of [null, { $in: [null] }]) {
        const found = await rows.find({ 'items.q': condition }).sort({ _id: 1 }).toArray();
        expect(found.map(({ _id }) => _id)).to.deep.equal([1, 3, 5, 8]);
        expect(await rows.countDocuments({ 'items.q': condition })).to.equal(4);
        expect(await rows.countDocuments({ 'items.q': { $not: { $eq: null } } })).to.equal(5);
      }
    };
    await expectFound();
    await rows.createIndex({ 'items.q': 1 }, {}, {});
    await expectFound();
  });
});
