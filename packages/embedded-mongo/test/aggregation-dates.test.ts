import { expect } from 'chai';
import type { Collection } from 'mongodb';
import { codeOf, evaluate, formatValue } from './aggregation-support.js';
import { startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';

const at = (text: string): Date => new Date(text);
const jakarta = 'Asia/Jakarta';
const newYork = 'America/New_York';

type Case = readonly [expression: unknown, value: unknown];

const groups: Readonly<Record<string, readonly Case[]>> = {
  'a missing or null date gives null, not 1970': [
    [{ $year: '$no' }, null],
    [{ $hour: { date: null, timezone: jakarta } }, null],
    [{ $dateToString: { date: '$no' } }, null],
    [{ $dateToString: { date: '$no', onNull: 'none' } }, 'none'],
    [{ $hour: { date: '$at', timezone: '$no' } }, null],
  ],
  'date parts are local to the time zone': [
    [{ $dayOfMonth: '$at' }, 29],
    [{ $dayOfMonth: { date: '$at', timezone: jakarta } }, 1],
    [{ $month: { date: '$at', timezone: '+07:00' } }, 3],
    [{ $hour: { date: '$at', timezone: '+0530' } }, 23],
    [{ $dayOfWeek: '$at' }, 5],
  ],
  'only dates in UTC are formatted with a Z': [
    [{ $dateToString: { date: '$at' } }, '2024-02-29T17:30:00.123Z'],
    [{ $dateToString: { date: '$at', timezone: 'UTC' } }, '2024-02-29T17:30:00.123Z'],
    [{ $dateToString: { date: '$at', timezone: jakarta } }, '2024-03-01T00:30:00.123'],
    [
      { $dateToString: { date: '$at', timezone: newYork, format: '%Y-%m-%d %H:%M:%S.%L %z %Z %%' } },
      '2024-02-29 12:30:00.123 -0500 -300 %',
    ],
  ],
};

const failures: readonly (readonly [expression: unknown, code: number])[] = [
  [{ $year: 'text' }, 16006],
  [{ $year: { date: '$at', zone: 'UTC' } }, 40535],
  [{ $hour: { date: '$at', timezone: 7 } }, 40517],
  [{ $dateToString: { date: '$at', format: '%Q' } }, 18536],
  [{ $dateToString: { date: '$at', format: '%' } }, 18535],
  [{ $dateToString: { date: '$at', format: '%V' } }, 238],
  [{ $dateToString: { date: '$at', format: '%B' } }, 238],
  [{ $dateToString: {} }, 18628],
];

describe('Aggregation dates', () => {
  let fixture: Fixture;
  let collection: Collection;

  before(async () => {
    fixture = await startFixture();
    collection = fixture.collection();
    await collection.insertOne({ at: at('2024-02-29T17:30:00.123Z') });
  });
  after(() => stopFixture(fixture));

  for (const [rule, cases] of Object.entries(groups)) {
    describe(rule, () => {
      for (const [expression, value] of cases) {
        it(`${JSON.stringify(expression)} = ${JSON.stringify(value)}`, async () => {
          expect(formatValue(await evaluate(collection, expression))).to.equal(formatValue(value));
        });
      }
    });
  }

  describe('invalid expressions fail with MongoDB error codes', () => {
    for (const [expression, code] of failures) {
      it(`${JSON.stringify(expression)} fails with ${code}`, async () => {
        expect(await codeOf(collection, [{ $replaceWith: { value: expression } }])).to.equal(code);
      });
    }
  });

  it('$$NOW has one value for all documents of a command', async () => {
    const before = Date.now();
    await collection.insertMany([{}, {}]);
    const found = await collection.aggregate([{ $group: { _id: '$$NOW', n: { $sum: 1 } } }]).toArray();
    expect(found).to.have.length(1);
    expect(found[0]?.['n']).to.equal(3);
    expect((found[0]?.['_id'] as Date).getTime()).to.be.within(before, Date.now());
  });
});
