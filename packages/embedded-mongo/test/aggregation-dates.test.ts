import { expect } from 'chai';
import type { Collection } from 'mongodb';
import { L, codeOf, evaluated, shown } from './aggregation-support.js';
import { startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';

const at = (text: string): Date => new Date(text);
const jakarta = 'Asia/Jakarta';
const newYork = 'America/New_York';

type Case = readonly [expression: unknown, value: unknown];

const groups: Readonly<Record<string, readonly Case[]>> = {
  'a missing or null date is null, not 1970': [
    [{ $year: '$no' }, null],
    [{ $hour: { date: null, timezone: jakarta } }, null],
    [{ $dateToString: { date: '$no' } }, null],
    [{ $dateToString: { date: '$no', onNull: 'none' } }, 'none'],
    [{ $dateAdd: { startDate: '$no', unit: 'day', amount: 1 } }, null],
    [{ $dateDiff: { startDate: '$at', endDate: '$no', unit: 'day' } }, null],
    [{ $dateTrunc: { date: '$no', unit: 'day' } }, null],
    [{ $dateFromString: { dateString: '$no' } }, null],
    [{ $dateToParts: { date: '$no' } }, null],
    [{ $dateFromParts: { year: '$no' } }, null],
    [{ $hour: { date: '$at', timezone: '$no' } }, null],
  ],
  'parts are those of the zone': [
    [{ $dayOfMonth: '$at' }, 29],
    [{ $dayOfMonth: { date: '$at', timezone: jakarta } }, 1],
    [{ $month: { date: '$at', timezone: '+07:00' } }, 3],
    [{ $hour: { date: '$at', timezone: '+0530' } }, 23],
    [{ $dayOfWeek: '$at' }, 5],
    [{ $isoDayOfWeek: '$at' }, 4],
    [{ $dayOfYear: '$at' }, 60],
    [{ $week: '$at' }, 8],
    [{ $isoWeek: at('2021-01-03T00:00:00Z') }, 53],
    [{ $isoWeekYear: at('2021-01-03T00:00:00Z') }, L(2020)],
    [{ $millisecond: '$at' }, 123],
    [
      { $dateToParts: { date: '$at', timezone: jakarta } },
      { year: 2024, month: 3, day: 1, hour: 0, minute: 30, second: 0, millisecond: 123 },
    ],
  ],
  'text has a Z in UTC only': [
    [{ $dateToString: { date: '$at' } }, '2024-02-29T17:30:00.123Z'],
    [{ $dateToString: { date: '$at', timezone: 'UTC' } }, '2024-02-29T17:30:00.123Z'],
    [{ $dateToString: { date: '$at', timezone: jakarta } }, '2024-03-01T00:30:00.123'],
    [
      { $dateToString: { date: '$at', timezone: newYork, format: '%Y-%m-%d %H:%M:%S.%L %z %Z %%' } },
      '2024-02-29 12:30:00.123 -0500 -300 %',
    ],
    [
      { $dateToString: { date: '$at', format: '%j %U %V %u %w %G %b %B' } },
      '060 08 09 4 5 2024 Feb February',
    ],
  ],
  'truncation is local, weeks start on Sunday': [
    [{ $dateTrunc: { date: '$at', unit: 'day', timezone: jakarta } }, at('2024-02-29T17:00:00Z')],
    [{ $dateTrunc: { date: '$at', unit: 'month', timezone: jakarta } }, at('2024-02-29T17:00:00Z')],
    [{ $dateTrunc: { date: '$at', unit: 'week' } }, at('2024-02-25T00:00:00Z')],
    [{ $dateTrunc: { date: '$at', unit: 'week', startOfWeek: 'Mon' } }, at('2024-02-26T00:00:00Z')],
    [
      { $dateTrunc: { date: '$at', unit: 'hour', binSize: 6, timezone: 'Asia/Kolkata' } },
      at('2024-02-29T12:30:00Z'),
    ],
    [{ $dateTrunc: { date: '$at', unit: 'quarter', timezone: newYork } }, at('2024-01-01T05:00:00Z')],
    [{ $dateTrunc: { date: '$at', unit: 'year', binSize: 5 } }, at('2020-01-01T00:00:00Z')],
    [
      { $dateTrunc: { date: at('2024-03-10T12:00:00Z'), unit: 'day', timezone: newYork } },
      at('2024-03-10T05:00:00Z'),
    ],
  ],
  'additions keep the local time of day, and the end of a month': [
    [
      { $dateAdd: { startDate: at('2024-01-31T00:00:00Z'), unit: 'month', amount: 1 } },
      at('2024-02-29T00:00:00Z'),
    ],
    [
      { $dateAdd: { startDate: at('2024-02-29T00:00:00Z'), unit: 'year', amount: L(1) } },
      at('2025-02-28T00:00:00Z'),
    ],
    [
      { $dateAdd: { startDate: at('2024-03-09T12:00:00Z'), unit: 'day', amount: 1, timezone: newYork } },
      at('2024-03-10T11:00:00Z'),
    ],
    [
      { $dateAdd: { startDate: at('2024-03-09T12:00:00Z'), unit: 'hour', amount: 24, timezone: newYork } },
      at('2024-03-10T12:00:00Z'),
    ],
    [
      { $dateSubtract: { startDate: at('2024-03-31T00:00:00Z'), unit: 'month', amount: 1 } },
      at('2024-02-29T00:00:00Z'),
    ],
  ],
  'differences count boundaries, as int64': [
    [
      {
        $dateDiff: {
          startDate: at('2024-01-31T23:59:59Z'),
          endDate: at('2024-02-01T00:00:00Z'),
          unit: 'month',
        },
      },
      L(1),
    ],
    [
      {
        $dateDiff: {
          startDate: at('2024-01-31T23:59:59Z'),
          endDate: at('2024-02-01T00:00:00Z'),
          unit: 'day',
          timezone: jakarta,
        },
      },
      L(0),
    ],
    [
      {
        $dateDiff: {
          startDate: at('2024-03-02T12:00:00Z'),
          endDate: at('2024-03-03T00:00:00Z'),
          unit: 'week',
        },
      },
      L(1),
    ],
    [
      {
        $dateDiff: {
          startDate: at('2024-03-10T00:00:00Z'),
          endDate: at('2024-03-11T00:00:00Z'),
          unit: 'hour',
          timezone: newYork,
        },
      },
      L(24),
    ],
    [
      {
        $dateDiff: {
          startDate: at('2024-03-10T00:00:00Z'),
          endDate: at('2024-03-09T23:59:59Z'),
          unit: 'minute',
        },
      },
      L(-1),
    ],
  ],
  'strings and parts are read as MongoDB reads them': [
    [{ $dateFromString: { dateString: '2024-01-01 05:06' } }, at('2024-01-01T05:06:00Z')],
    [{ $dateFromString: { dateString: '2024-01-01T05:06:07.5+07:00' } }, at('2023-12-31T22:06:07.500Z')],
    [{ $dateFromString: { dateString: '2024-01-01', timezone: jakarta } }, at('2023-12-31T17:00:00Z')],
    [
      { $dateFromString: { dateString: '31/12/2023 07:08', format: '%d/%m/%Y %H:%M' } },
      at('2023-12-31T07:08:00Z'),
    ],
    [{ $dateFromString: { dateString: 'never', onError: 'bad' } }, 'bad'],
    [{ $dateFromParts: { year: 1 } }, at('0001-01-01T00:00:00Z')],
    [{ $dateFromParts: { year: 2024, month: 14, day: 0, timezone: jakarta } }, at('2025-01-30T17:00:00Z')],
    [{ $dateFromParts: { isoWeekYear: 2020, isoWeek: 53, isoDayOfWeek: 7 } }, at('2021-01-03T00:00:00Z')],
    // A local time that the change of the clock skips is read with the offset before it.
    [
      { $dateFromParts: { year: 2024, month: 3, day: 10, hour: 2, minute: 30, timezone: newYork } },
      at('2024-03-10T07:30:00Z'),
    ],
  ],
};

const failures: readonly (readonly [expression: unknown, code: number])[] = [
  [{ $year: 'text' }, 16006],
  [{ $year: { date: '$at', zone: 'UTC' } }, 40535],
  [{ $hour: { date: '$at', timezone: 7 } }, 40517],
  [{ $dateToString: { date: '$at', format: '%Q' } }, 18536],
  [{ $dateToString: { date: '$at', format: '%' } }, 18535],
  [{ $dateToString: {} }, 18628],
  [{ $dateAdd: { startDate: '$at', unit: 'fortnight', amount: 1 } }, 9],
  [{ $dateAdd: { startDate: '$at', unit: 'day', amount: 1.5 } }, 5166405],
  [{ $dateAdd: { startDate: 'x', unit: 'day', amount: 1 } }, 5166403],
  [{ $dateDiff: { startDate: 'x', endDate: '$at', unit: 'day' } }, 5166307],
  [{ $dateTrunc: { date: '$at', unit: 'day', binSize: 0 } }, 5439018],
  [{ $dateTrunc: { date: '$at' } }, 5439010],
  [{ $dateFromParts: { month: 1 } }, 40516],
  [{ $dateFromParts: { year: 10000 } }, 40523],
  [{ $dateFromString: { dateString: '2024-13-01' } }, 241],
  [{ $dateFromString: { dateString: '2024-01-01T00:00:00Z', timezone: jakarta } }, 241],
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
          expect(shown(await evaluated(collection, expression))).to.equal(shown(value));
        });
      }
    });
  }

  describe('what is wrong fails with the code of MongoDB', () => {
    for (const [expression, code] of failures) {
      it(`${JSON.stringify(expression)} fails with ${code}`, async () => {
        expect(await codeOf(collection, [{ $replaceWith: { value: expression } }])).to.equal(code);
      });
    }
  });

  it('$$NOW is one moment for all documents of a command', async () => {
    const before = Date.now();
    await collection.insertMany([{}, {}]);
    const found = await collection.aggregate([{ $group: { _id: '$$NOW', n: { $sum: 1 } } }]).toArray();
    expect(found).to.have.length(1);
    expect(found[0]?.['n']).to.equal(3);
    expect((found[0]?.['_id'] as Date).getTime()).to.be.within(before, Date.now());
  });
});
