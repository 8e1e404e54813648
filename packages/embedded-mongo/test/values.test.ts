import { Binary, BSONRegExp, Code, MaxKey, MinKey, ObjectId, Timestamp } from 'bson';
import { expect } from 'chai';
import { C, D, L, formatValue } from './aggregation-support.js';
import { startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';

/** Values in the total order of MongoDB. The values of one list are equal. */
const ordered: readonly (readonly unknown[])[] = [
  [new MinKey()],
  [null],
  [Number.NaN, C('NaN')],
  [Number.NEGATIVE_INFINITY, C('-Infinity')],
  [C('-1E+400')],
  [L('-9223372036854775808'), D(-9223372036854775808)],
  [L('-9007199254740993')],
  [D(-9007199254740992), C('-9007199254740992')],
  [-1, L(-1), D(-1), C('-1.00')],
  [C('-1E-400')],
  [0, D(-0), L(0), C('0E+3'), C('-0.00')],
  [5e-324],
  [C('0.1')],
  [0.1],
  [C('0.5'), 0.5],
  [1, L(1), D(1), C('1.0')],
  [L('9007199254740992'), D(9007199254740992)],
  [C('9007199254740992.5')],
  [L('9007199254740993')],
  [D(9007199254740994)],
  [L('9223372036854775807'), C('9223372036854775807')],
  [D(9223372036854775808)],
  [Number.MAX_VALUE],
  [C('1E+400')],
  [Number.POSITIVE_INFINITY, C('Infinity')],
  [''],
  ['A'],
  ['a'],
  ['a\0'],
  ['a\0b'],
  ['aa'],
  ['é'],
  ['\uffff'],
  ['😀'],
  [{}],
  [{ a: 1 }, { a: D(1) }],
  [{ a: 1, b: 1 }],
  [{ b: 0 }],
  [{ a: 'x' }],
  [[[], 1]],
  [new Binary(Buffer.from([9]))],
  [new Binary(Buffer.from([1, 1]))],
  [new Binary(Buffer.from([0, 0]), 5)],
  [new ObjectId('000000000000000000000001')],
  [new ObjectId('ff0000000000000000000000')],
  [false],
  [true],
  [new Date(-1)],
  [new Date(0)],
  [new Timestamp({ t: 1, i: 2 })],
  [new Timestamp({ t: 4000000000, i: 1 })],
  [new BSONRegExp('a', '')],
  [new BSONRegExp('a', 'i')],
  [new Code('x')],
  [new MaxKey()],
];

describe('values', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  for (const indexed of [false, true]) {
    it(`sort in the total order ${indexed ? 'by an index' : 'in memory'}`, async () => {
      const collection = fixture.collection<{ _id: number; rank: number; v: unknown }>();
      if (indexed) {
        await collection.createIndexes([{ key: { v: 1 }, name: 'v' }]);
      }
      const documents = ordered.flatMap((values, rank) => values.map((v) => ({ rank, v })));
      // The documents are inserted in a different, fixed order.
      const shuffled = documents
        .map((document, i) => ({ ...document, _id: (i * 37) % 101 }))
        .sort((a, b) => a._id - b._id);
      await collection.insertMany(shuffled);
      // Arrays are left out, because they sort by their elements. A separate test covers them.
      const ranks = async (direction: 1 | -1): Promise<number[]> =>
        (
          await collection
            .find({ v: { $not: { $type: 'array' } } })
            .sort({ v: direction, rank: 1 })
            .toArray()
        ).map(({ rank }) => rank);
      const expected = documents.filter(({ v }) => !Array.isArray(v)).map(({ rank }) => rank);
      expect(await ranks(1)).to.deep.equal(expected);
      expect([...(await ranks(-1))].reverse()).to.deep.equal(expected);
    });
  }

  it('have the same key in a unique index exactly if they are equal', async () => {
    const collection = fixture.collection<{ v: unknown }>();
    await collection.createIndexes([{ key: { v: 1 }, name: 'v', unique: true }]);
    for (const [first, ...others] of ordered.filter(([v]) => !Array.isArray(v))) {
      await collection.insertOne({ v: first });
      for (const other of others) {
        const code = await collection.insertOne({ v: other }).then(
          () => 'inserted',
          (error: unknown) => (error as { code?: unknown }).code,
        );
        expect(code, `${formatValue(first)} and ${formatValue(other)}`).to.equal(11000);
      }
    }
  });

  it('are read with the bytes that were stored', async () => {
    const collection = fixture.collection();
    const values = ordered.flat();
    await collection.insertOne({ values, nested: { values } });
    await collection.updateOne({}, { $set: { 'nested.touched': true } });
    await collection.updateOne({}, { $rename: { 'nested.values': 'moved' } });
    const found = await collection.findOne({}, { promoteValues: false, projection: { _id: 0 } });
    expect(formatValue(found)).to.equal(formatValue({ values, nested: { touched: true }, moved: values }));
  });

  it('can be null as _id, but only once', async () => {
    // Uses a raw command, because the driver would replace the null by an ObjectId.
    const { collectionName: insert } = fixture.collection();
    const documents = [{ _id: null }, { _id: null }];
    const reply = await fixture.db.command({ insert, documents, ordered: false });
    expect(reply).to.include({ n: 1 });
    expect(reply['writeErrors']).to.have.nested.property('[0].code', 11000);
    expect(await fixture.db.collection(insert).countDocuments({ _id: { $type: 'null' } })).to.equal(1);
  });

  it('become the current time for an empty top-level timestamp on insert', async () => {
    const collection = fixture.collection();
    const empty = new Timestamp({ t: 0, i: 0 });
    await collection.insertOne({ at: empty, deep: { at: empty } });
    const found = await collection.findOne({});
    expect((found?.['at'] as Timestamp).t).to.be.greaterThan(1_700_000_000);
    expect((found?.['deep'] as { at: Timestamp }).at.t).to.equal(0);
  });
});
