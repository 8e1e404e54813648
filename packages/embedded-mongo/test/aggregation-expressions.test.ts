import { expect } from 'chai';
import { ObjectId } from 'bson';
import type { Collection } from 'mongodb';
import { C, D, L, codeOf, evaluate, formatValue } from './aggregation-support.js';
import { errorOf, startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';

const id = new ObjectId('65a000000000000000000001');
const document = {
  _id: 1,
  a: 1,
  l: L(1),
  d: D(1),
  c: C('1.10'),
  s: 'héllo',
  n: null,
  list: [3, 1, 2],
  items: [{ q: 1 }, {}, { q: [2] }, 5, [{ q: 9 }]],
  o: { x: 1, y: 2 },
  at: new Date('2024-02-29T17:30:00.123Z'),
  id,
};

/** An expression and the value that MongoDB returns. `undefined` stands for a missing value. */
type Case = readonly [expression: unknown, value: unknown];

const groups: Readonly<Record<string, readonly Case[]>> = {
  'arithmetic results have the same types as in MongoDB': [
    [{ $add: ['$a', 1] }, 2],
    [{ $add: ['$a', '$l'] }, L(2)],
    [{ $add: ['$a', '$d'] }, D(2)],
    [{ $add: [2147483647, 1] }, L('2147483648')],
    [{ $add: [2147483647, 1, -1] }, 2147483647],
    [{ $add: [L('9223372036854775807'), 1] }, D(9223372036854775808)],
    [{ $add: [0.1, C('0.2')] }, C('0.300000000000000')],
    [{ $add: [C('1.10'), C('2.20')] }, C('3.30')],
    [{ $add: [] }, 0],
    [{ $add: ['$a', '$no'] }, null],
    [{ $add: [null, 'text'] }, null],
    [{ $subtract: [C('1.00'), 1] }, C('0.00')],
    [{ $subtract: ['$a', '$no'] }, null],
    [{ $multiply: [2147483647, 2] }, L('4294967294')],
    [{ $multiply: [65536, 65536, 1] }, L('4294967296')],
    [{ $multiply: [C('1.10'), 2] }, C('2.20')],
    [{ $divide: [4, 2] }, D(2)],
    [{ $subtract: ['$at', new Date('2024-02-29T17:30:00Z')] }, L(123)],
    [{ $add: ['$at', 2] }, new Date('2024-02-29T17:30:00.125Z')],
    [{ $subtract: ['$at', L(123)] }, new Date('2024-02-29T17:30:00Z')],
  ],
  'sums of doubles are exact, also when mixed with decimals': [
    [{ $sum: [0.1, 0.2, 0.3] }, 0.6],
    [{ $add: [0.1, 0.2, 0.3] }, 0.6000000000000001],
    [{ $sum: [0.1, C('1.10'), 0.2] }, C('1.400000000000000016653345369377348')],
    [{ $add: [0.1, C('1.10'), 0.2] }, C('1.400000000000000')],
    [{ $sum: [1, 0.5, C('0.10')] }, C('1.60')],
    [{ $sum: [1e100, 1, -1e100] }, D(1)],
    [{ $sum: ['$list'] }, 6],
    [{ $sum: '$list' }, 6],
    [{ $sum: ['$list', 1] }, 1],
    [{ $sum: '$no' }, 0],
    [{ $sum: ['text', null, 2] }, 2],
    [{ $sum: [2147483647, 1] }, L('2147483648')],
    [{ $sum: [L('9223372036854775807'), 1] }, D(9223372036854775808)],
    [{ $avg: [1, 2] }, 1.5],
    [{ $avg: [2, 2] }, D(2)],
    [{ $avg: '$no' }, null],
    [{ $min: [null, 3, '$no', 1] }, 1],
    [{ $max: '$list' }, 3],
    [{ $max: '$no' }, null],
  ],
  'comparisons use the total order, with missing below null': [
    [{ $lt: ['$no', 0] }, true],
    [{ $gt: [{}, '$no'] }, true],
    [{ $eq: ['$no', null] }, false],
    [{ $lt: ['$no', null] }, true],
    [{ $eq: ['$no', '$nope'] }, true],
    [{ $eq: [1, C('1.00')] }, true],
    [{ $eq: ['$l', '$d'] }, true],
    [{ $gt: ['text', 5] }, true],
    [{ $cmp: [1, 2] }, -1],
    [{ $cmp: [L('9007199254740993'), D(9007199254740992)] }, 1],
    [{ $in: [C('3'), '$list'] }, true],
    [{ $not: [C('0')] }, true],
    [{ $and: ['', []] }, true],
    [{ $or: [null, '$no', 0] }, false],
    [{ $ifNull: ['$no', '$n', 5] }, 5],
    [{ $ifNull: ['$no', '$nope'] }, undefined],
    [{ $cond: [{ $gt: ['$a', 0] }, 'yes', 'no'] }, 'yes'],
    [{ $switch: { branches: [{ case: false, then: 1 }], default: '$s' } }, 'héllo'],
  ],
  'paths go through arrays, and literals omit missing values': [
    ['$items.q', [1, [2]]],
    ['$list.q', []],
    ['$o.x', 1],
    ['$s.x', undefined],
    ['$$ROOT.o.y', 2],
    [{ a: '$no', b: { c: '$no' } }, { b: {} }],
    [
      ['$no', '$a'],
      [null, 1],
    ],
    [{ $literal: '$a' }, '$a'],
    [{ $let: { vars: { x: '$a' }, in: { $add: ['$$x', 1] } } }, 2],
    ['$$REMOVE', undefined],
  ],
  arrays: [
    [{ $arrayElemAt: ['$list', -1] }, 2],
    [{ $arrayElemAt: ['$list', 9] }, undefined],
    [{ $first: [[]] }, undefined],
    [{ $last: '$list' }, 2],
    [{ $size: '$list' }, 3],
    [{ $concatArrays: ['$list', [4]] }, [3, 1, 2, 4]],
    [{ $concatArrays: ['$list', '$no'] }, null],
    [{ $filter: { input: '$list', cond: { $gte: ['$$this', 2] } } }, [3, 2]],
    [{ $map: { input: '$list', as: 'v', in: { $multiply: ['$$v', 2] } } }, [6, 2, 4]],
    [{ $mergeObjects: ['$o', null, { y: 3 }] }, { x: 1, y: 3 }],
    [{ $setField: { field: 'a.b', input: '$o', value: '$a' } }, { x: 1, y: 2, 'a.b': 1 }],
    [{ $setField: { field: { $literal: '$x' }, input: {}, value: 1 } }, { $x: 1 }],
    [{ $setField: { field: 'x', input: '$o', value: '$$REMOVE' } }, { y: 2 }],
    [{ $setField: { field: 'x', input: '$no', value: 1 } }, null],
    [{ $isArray: '$no' }, false],
  ],
  strings: [
    [{ $concat: ['a', 'b'] }, 'ab'],
    [{ $concat: ['a', null, 1] }, null],
    [{ $toLower: '$no' }, ''],
    [{ $toUpper: '$s' }, 'HéLLO'],
  ],
  conversions: [
    [{ $type: '$c' }, 'decimal'],
    [{ $type: '$no' }, 'missing'],
    [{ $type: '$d' }, 'double'],
    [{ $toString: '$c' }, '1.10'],
    [{ $toString: L('9223372036854775807') }, '9223372036854775807'],
    [{ $toString: '$id' }, '65a000000000000000000001'],
    [{ $toString: '$at' }, '2024-02-29T17:30:00.123Z'],
    [{ $toString: 0.1 }, '0.1'],
    [{ $toDate: L('1000') }, new Date(1000)],
    [{ $toDate: '$id' }, new Date('2024-01-11T14:49:36Z')],
    [{ $toString: '$no' }, null],
    [{ $toObjectId: '65a000000000000000000001' }, id],
  ],
};

const failures: readonly (readonly [expression: unknown, code: number])[] = [
  [{ $foo: 1 }, 168],
  [{ $add: [1], $subtract: [1] }, 15983],
  [{ $divide: [1] }, 16020],
  ['$$nope', 17276],
  ['$a..b', 15998],
  ['$a.', 40353],
  ['$', 16872],
  [{ $add: ['$s', 1] }, 14],
  [{ $divide: ['$a', 0] }, 2],
  [{ $divide: [C('1'), 2] }, 238],
  [{ $avg: [C('1'), 2] }, 238],
  [{ $filter: { input: '$list', cond: true, limit: 1 } }, 238],
  [{ $toDate: '2024-01-01' }, 238],
  [{ $add: ['$at', 1.5] }, 238],
  [{ $toDate: 1 }, 241],
  [{ $toObjectId: 'x' }, 241],
  [{ $concat: [1, null] }, 16702],
  [{ $size: '$no' }, 17124],
  [{ $in: [1, 2] }, 40081],
  [{ $arrayElemAt: ['$s', 0] }, 28689],
  [{ $switch: { branches: [] } }, 40068],
  [{ $switch: { branches: [{ case: false, then: 1 }] } }, 40066],
  [{ $setField: { field: '$s', input: {}, value: 1 } }, 4161106],
  [{ $setField: { field: 'x', input: 1, value: 1 } }, 4161105],
  [{ $setField: { field: 'x', value: 1 } }, 4161109],
  [{ $toUpper: [[1]] }, 16007],
  [{ $dateToString: { date: '$s' } }, 16006],
  [{ $dateToString: { date: '$at', timezone: 'Nowhere/City' } }, 40485],
  [{ $let: { vars: { X: 1 }, in: 1 } }, 16867],
];

describe('Aggregation expressions', () => {
  let fixture: Fixture;
  let collection: Collection;
  let empty: Collection;

  before(async () => {
    fixture = await startFixture();
    collection = fixture.collection();
    empty = fixture.collection();
    await collection.insertOne(document as never);
  });
  after(() => stopFixture(fixture));

  for (const [rule, cases] of Object.entries(groups)) {
    describe(rule, () => {
      for (const [expression, value] of cases) {
        it(`${formatValue(expression)} = ${formatValue(value)}`, async () => {
          expect(formatValue(await evaluate(collection, expression))).to.equal(formatValue(value));
        });
      }
    });
  }

  describe('invalid expressions fail with MongoDB error codes', () => {
    for (const [expression, code] of failures) {
      it(`${formatValue(expression)} fails with ${code}`, async () => {
        expect(await codeOf(collection, [{ $replaceWith: { value: expression } }])).to.equal(code);
      });
    }
  });

  it('constant expressions fail even without documents', async () => {
    expect(await codeOf(empty, [{ $addFields: { x: { $divide: [1, 0] } } }])).to.equal(2);
    expect(await codeOf(empty, [{ $match: { $expr: { $divide: [1, 0] } } }])).to.equal(2);
    expect(await codeOf(empty, [{ $addFields: { x: { $divide: ['$a', 0] } } }])).to.equal('no error');
  });

  it('let cannot refer to fields', async () => {
    const aggregation = collection.aggregate([{ $match: {} }], { let: { v: '$a' } });
    expect((await errorOf(aggregation.toArray())).code).to.equal(4890500);
  });

  it('values of let keep their types and compare by value', async () => {
    const found = await collection
      .aggregate([{ $replaceWith: { value: '$$v', equal: { $eq: ['$a', '$$v'] } } }], {
        let: { v: L(1) },
        promoteValues: false,
      })
      .toArray();
    expect(formatValue(found)).to.equal(formatValue([{ value: L(1), equal: true }]));
  });
});
