import { expect } from 'chai';
import type { Collection, Document } from 'mongodb';
import { startFixture, stopFixture } from './harness.js';
import type { Fixture } from './harness.js';

const documentsCount = 100_000;
/** Far above what it takes (0.1 to 0.5 s), far below what a formatter a document would take (13 s). */
const limitMs = 4000;

const zone = 'Asia/Jakarta';
const pipelines: Readonly<Record<string, Document[]>> = {
  '$group by a field': [
    { $group: { _id: '$user', n: { $sum: 1 }, total: { $sum: '$amount' } } },
    { $count: 'n' },
  ],
  '$group by $dateTrunc in a time zone': [
    {
      $group: {
        _id: { $dateTrunc: { date: '$at', unit: 'day', timezone: zone } },
        total: { $sum: '$amount' },
      },
    },
    { $count: 'n' },
  ],
  '$group by $dateToString in a time zone': [
    {
      $group: { _id: { $dateToString: { date: '$at', format: '%Y-%m-%d', timezone: zone } }, n: { $sum: 1 } },
    },
    { $count: 'n' },
  ],
  '$lookup by an index': [
    { $lookup: { from: 'users', localField: 'user', foreignField: 'name', as: 'found' } },
    { $match: { 'found.0': { $exists: true } } },
    { $count: 'n' },
  ],
};

describe(`Aggregation over ${documentsCount} documents`, function () {
  this.timeout(60_000);
  let fixture: Fixture;
  let collection: Collection;

  before(async () => {
    fixture = await startFixture();
    collection = fixture.collection();
    const users = Array.from({ length: 1000 }, (_, index) => ({ name: `user${index}` }));
    await fixture.db.collection('users').insertMany(users);
    await fixture.db.collection('users').createIndex({ name: 1 }, { unique: true }, {});
    const start = Date.UTC(2024, 0, 1);
    for (let from = 0; from < documentsCount; from += 20_000) {
      await collection.insertMany(
        Array.from({ length: 20_000 }, (_, index) => ({
          user: `user${(from + index) % 1000}`,
          amount: (from + index) * 7,
          at: new Date(start + (from + index) * 300_000),
        })),
      );
    }
  });
  after(() => stopFixture(fixture));

  const counts: Readonly<Record<string, number>> = {
    '$group by a field': 1000,
    // 100,000 times five minutes are 347.2 days; midnight in Jakarta cuts the first day too.
    '$group by $dateTrunc in a time zone': 348,
    '$group by $dateToString in a time zone': 348,
    '$lookup by an index': documentsCount,
  };
  for (const [name, pipeline] of Object.entries(pipelines)) {
    it(`${name} takes less than ${limitMs} ms`, async function () {
      const start = performance.now();
      const [result] = await collection.aggregate(pipeline).toArray();
      const tookMs = Math.round(performance.now() - start);
      expect(result?.['n']).to.equal(counts[name]);
      expect(tookMs).to.be.below(limitMs);
      if (this.test !== undefined) {
        this.test.title += ` (${tookMs} ms)`;
      }
    });
  }
});
