import { expect } from 'chai';
import { Decimal128, Double, Int32, Long } from 'bson';
import type { Collection, Document } from 'mongodb';
import { run, formatValue } from './aggregation-support.js';
import { startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';
import { createRandom } from './random.js';
import type { Random } from './random.js';

// Set SEED to replay a failure: each test name contains its seed.
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

/**
 * A number of a random type, and its exact value. The value is a multiple of 1/8, so that sums of
 * doubles are exact.
 */
interface RandomNumber {
  readonly value: Int32 | Long | Double | Decimal128;
  readonly eighths: bigint;
}

function randomNumber(random: Random): RandomNumber {
  const whole = random.int(-50, 50);
  switch (random.int(0, 3)) {
    case 0:
      return { value: new Int32(whole), eighths: BigInt(whole) * 8n };
    case 1: {
      const large = BigInt(whole) * 90071992547n;
      return { value: Long.fromBigInt(large), eighths: large * 8n };
    }
    case 2: {
      const eighths = random.int(-400, 400);
      return { value: new Double(eighths / 8), eighths: BigInt(eighths) };
    }
    default: {
      const eighths = random.int(-400, 400);
      return { value: Decimal128.fromString((eighths / 8).toFixed(3)), eighths: BigInt(eighths) };
    }
  }
}

interface RandomDocument {
  readonly _id: number;
  readonly group: string;
  readonly number: RandomNumber;
  readonly list: readonly number[];
  readonly at: Date;
}

function randomDocument(random: Random, _id: number): RandomDocument {
  return {
    _id,
    group: random.pick(['a', 'b', 'c', 'd']),
    number: randomNumber(random),
    list: Array.from({ length: random.int(0, 4) }, () => random.int(0, 9)),
    // From 1975 to 2037, with a random millisecond.
    at: new Date(random.int(157_766_400, 2_145_916_800) * 1000 + random.int(0, 999)),
  };
}

const typeRank = (value: RandomNumber['value']): number =>
  value instanceof Int32 ? 0 : value instanceof Long ? 1 : value instanceof Double ? 2 : 3;

function eighthsOf(value: unknown): number {
  return Number(String(value)) * 8;
}

const zones = [
  'Asia/Jakarta',
  'America/New_York',
  'Europe/London',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
];

const clocks = new Map<string, Intl.DateTimeFormat>();

function newClock(timeZone: string): Intl.DateTimeFormat {
  const two = '2-digit';
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
  });
  clocks.set(timeZone, clock);
  return clock;
}

/**
 * Returns the local time from the fields of the ICU formatter. The server computes it differently,
 * from UTC offsets.
 */
function localClock(date: Date, timeZone: string): string {
  const parts = (clocks.get(timeZone) ?? newClock(timeZone)).formatToParts(date);
  const part = (type: string): string => parts.find((candidate) => candidate.type === type)?.value ?? '';
  return `${part('year')}-${part('month')}-${part('day')} ${part('hour')}:${part('minute')}:${part('second')}`;
}

describe(`Aggregation agrees with a simple model (SEED=${seed})`, () => {
  let fixture: Fixture;
  let collection: Collection;
  const random = createRandom(seed);
  const documents = Array.from({ length: 300 }, (_, index) => randomDocument(random, index));
  const byGroup = new Map<string, RandomDocument[]>();
  for (const document of documents) {
    byGroup.set(document.group, [...(byGroup.get(document.group) ?? []), document]);
  }

  before(async () => {
    fixture = await startFixture();
    collection = fixture.collection();
    await collection.insertMany(
      documents.map((document) => ({ ...document, number: document.number.value })) as never[],
    );
  });
  after(() => stopFixture(fixture));

  it('sums of mixed types are exact and have the widest type', async () => {
    const found = await run(collection, [
      { $group: { _id: '$group', sum: { $sum: '$number' }, n: { $sum: 1 } } },
    ]);
    expect(found).to.have.length(byGroup.size);
    for (const group of found) {
      const members = byGroup.get(String(group['_id'])) ?? [];
      const exact = members.reduce((sum, { number }) => sum + number.eighths, 0n);
      expect(eighthsOf(group['sum'])).to.equal(Number(exact));
      expect(typeRank(group['sum'] as RandomNumber['value'])).to.equal(
        Math.max(...members.map(({ number }) => typeRank(number.value))),
      );
      expect(Number(group['n'])).to.equal(members.length);
    }
  });

  it('$min and $max compare numbers of all types by exact value', async () => {
    const found = await run(collection, [
      { $group: { _id: '$group', least: { $min: '$number' }, greatest: { $max: '$number' } } },
    ]);
    for (const group of found) {
      const values = (byGroup.get(String(group['_id'])) ?? []).map(({ number }) => Number(number.eighths));
      expect(eighthsOf(group['least'])).to.equal(Math.min(...values));
      expect(eighthsOf(group['greatest'])).to.equal(Math.max(...values));
    }
  });

  it('$match, $sort, $skip and $limit give the same result as find', async () => {
    for (let round = 0; round < 20; round++) {
      const filter = {
        list: random.int(0, 9),
        number: { [random.pick(['$gt', '$lte'])]: randomNumber(random).value },
      };
      const sort = random.pick<Record<string, 1 | -1>>([
        { number: 1, _id: -1 },
        { list: -1, _id: 1 },
        { group: 1, number: -1, _id: 1 },
      ]);
      const [skip, limit] = [random.int(0, 5), random.int(1, 40)];
      const aggregated = await run(collection, [
        { $match: filter },
        { $sort: sort },
        { $skip: skip },
        { $limit: limit },
      ]);
      const found = await collection
        .find(filter, { promoteValues: false })
        .sort(sort)
        .skip(skip)
        .limit(limit)
        .toArray();
      expect(formatValue(aggregated)).to.equal(formatValue(found));
    }
  });

  it('stages give the same result with and without the planner', async () => {
    // This `$addFields` changes nothing. It prevents the planner from running `$match` and `$sort`.
    const front = [{ $match: { number: { $gte: 0 } } }, { $sort: { number: -1, _id: 1 } }];
    const behind = [{ $addFields: { group: '$group' } }, ...front];
    expect(formatValue(await run(collection, behind))).to.equal(formatValue(await run(collection, front)));
  });

  it('$lookup finds the same as one find per document', async () => {
    const pipeline = [
      { $match: { _id: { $lt: 30 } } },
      { $lookup: { from: collection.collectionName, localField: 'list', foreignField: 'list', as: 'same' } },
      { $project: { same: '$same._id' } },
    ];
    for (const { _id, same } of (await run(collection, pipeline)) as unknown as {
      _id: Int32;
      same: Int32[];
    }[]) {
      const list = documents[Number(_id)]?.list ?? [];
      const expected = documents.filter((other) => other.list.some((element) => list.includes(element)));
      expect(same.map(Number).sort((a, b) => a - b)).to.deep.equal(expected.map((other) => other._id));
    }
  });

  it('$group restores arrays that $unwind has split', async () => {
    const found = await run(collection, [
      { $unwind: { path: '$list', includeArrayIndex: 'index' } },
      { $group: { _id: '$_id', list: { $push: '$list' } } },
      { $sort: { _id: 1 } },
    ]);
    const expected = documents.filter(({ list }) => list.length > 0).map(({ _id, list }) => ({ _id, list }));
    expect(formatValue(found)).to.equal(formatValue(expected));
  });

  it('$facet and $group by $switch count the same as filters', async () => {
    const limits = [-1e15, -20, 0, 20, 1e15];
    const ranges = limits.slice(0, -1).map((low, index) => ({ low, high: limits[index + 1] ?? Infinity }));
    const branches = ranges.map(({ low, high }) => ({
      case: { $and: [{ $gte: ['$number', low] }, { $lt: ['$number', high] }] },
      then: low,
    }));
    const [facets] = await run(collection, [
      {
        $facet: {
          groups: [{ $group: { _id: { $switch: { branches } }, count: { $sum: 1 } } }],
          ...Object.fromEntries(
            ranges.map(({ low, high }, index): [string, Document[]] => [
              `f${index}`,
              [{ $match: { number: { $gte: low, $lt: high } } }, { $count: 'n' }],
            ]),
          ),
        },
      },
    ]);
    const groups = facets?.['groups'] as Document[];
    const counts = ranges.map(({ low }) =>
      Number(groups.find((group) => Number(group['_id']) === low)?.['count'] ?? 0),
    );
    const filtered = ranges.map((_, index) => Number((facets?.[`f${index}`] as Document[])[0]?.['n'] ?? 0));
    expect(counts).to.deep.equal(filtered);
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(documents.length);
  });

  for (const zone of zones) {
    it(`dates in ${zone} match its local clock`, async () => {
      const time = '%Y-%m-%d %H:%M:%S';
      const found = await collection
        .aggregate<{ text: string; hour: number; at: Date }>([
          {
            $project: {
              at: 1,
              text: { $dateToString: { date: '$at', timezone: zone, format: time } },
              hour: { $hour: { date: '$at', timezone: zone } },
            },
          },
        ])
        .toArray();
      for (const { at, text, hour } of found) {
        const clock = localClock(at, zone);
        expect(text).to.equal(clock);
        expect(hour).to.equal(Number(clock.slice(11, 13)));
      }
    });
  }
});
