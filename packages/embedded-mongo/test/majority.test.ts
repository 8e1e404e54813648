import { expect } from 'chai';
import { type Collection, type Document, MongoServerError, type ReadConcernLevel } from 'mongodb';
import { errorOf, eventually, skipBecause, startFixture, stopFixture, type Fixture } from './harness.js';
import { runRaw } from './raw-client.js';

/**
 * MongoDB behaves in the same way while its secondaries are stopped. The failpoint that delays the
 * majority exists only in embedded-mongo.
 */
describe('a lagging majority', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({ args: ['--majority-lag', '0-30'] });
  });
  afterEach(() => lag('off'));
  after(() => stopFixture(fixture));

  const lag = (mode: 'alwaysOn' | 'off', data: object = {}): Promise<Document> =>
    fixture.client.db('admin').command({ configureFailPoint: 'majorityLag', mode, data });

  interface Row {
    _id: number;
    n: number;
  }
  const w1 = { writeConcern: { w: 1 } } as const;
  const read = (rows: Collection<Row>, level: ReadConcernLevel): Promise<Row[]> =>
    rows.find({}, { readConcern: { level } }).toArray();

  /** True if a promise is still pending after a round trip to the server. */
  async function isPending(promise: Promise<unknown>): Promise<boolean> {
    let settled = false;
    const settle = (): void => {
      settled = true;
    };
    promise.then(settle, settle);
    await fixture.db.command({ ping: 1 });
    return !settled;
  }

  async function oneRow(): Promise<Collection<Row>> {
    const rows = fixture.collection<Row>();
    await rows.insertOne({ _id: 1, n: 1 });
    return rows;
  }

  it('returns the old state to every kind of majority read until it catches up', async () => {
    const rows = await oneRow();
    await lag('alwaysOn');
    await rows.updateOne({ _id: 1 }, { $set: { n: 2 } }, w1);
    await rows.insertOne({ _id: 2, n: 2 }, w1);
    const seen = async (level: ReadConcernLevel): Promise<unknown[]> => {
      const readConcern = { level };
      return [
        (await read(rows, level)).map(({ _id, n }) => [_id, n]),
        await rows.distinct('n', {}, { readConcern }),
        await rows.countDocuments({}, { readConcern }),
        await rows.findOne({ _id: 2 }, { readConcern }),
        await rows.aggregate([{ $group: { _id: null, n: { $sum: '$n' } } }], { readConcern }).toArray(),
      ];
    };
    const both = [[1, 2], [2, 2]]; // prettier-ignore
    const now = [both, [2], 2, { _id: 2, n: 2 }, [{ _id: null, n: 4 }]];
    expect(await seen('local')).to.deep.equal(now);
    expect(await seen('majority')).to.deep.equal([[[1, 1]], [1], 1, null, [{ _id: null, n: 1 }]]);
    await lag('off');
    expect(await seen('majority')).to.deep.equal(now);
  });

  it('still shows deleted documents, also through an index', async () => {
    const rows = await oneRow();
    await rows.createIndexes([{ key: { n: 1 } }]);
    await lag('alwaysOn');
    await rows.updateOne({ _id: 1 }, { $set: { n: 2 } }, w1);
    await rows.deleteOne({ _id: 1 }, w1);
    const majority = { readConcern: { level: 'majority' as const } };
    expect(await rows.find({ n: 1 }, majority).toArray()).to.deep.equal([{ _id: 1, n: 1 }]);
    expect(await rows.find({ n: 2 }, majority).toArray()).to.deep.equal([]);
    expect(await rows.countDocuments({ n: { $gt: 0 } }, majority)).to.equal(1);
    await rows.insertOne({ _id: 1, n: 3 }, w1);
    expect(await rows.find({}, majority).toArray()).to.deep.equal([{ _id: 1, n: 1 }]);
    await lag('off');
    expect(await rows.find({ n: 3 }, majority).toArray()).to.deep.equal([{ _id: 1, n: 3 }]);
    expect(await rows.find({ n: 1 }, majority).toArray()).to.deep.equal([]);
  });

  it('delays the reply to a majority write until the majority has the write', async () => {
    const rows = await oneRow();
    await lag('alwaysOn');
    const byDefault = rows.insertOne({ _id: 2, n: 2 });
    const asked = rows.updateOne({ _id: 1 }, { $set: { n: 3 } }, { writeConcern: { w: 'majority' } });
    const duplicate = errorOf(rows.insertOne({ _id: 1, n: 0 }));
    const committed = fixture.client.withSession((session) =>
      session.withTransaction(() => rows.insertOne({ _id: 4, n: 4 }, { session })),
    );
    // Both inserts are visible to local reads: the plain insert, and the insert in the committed
    // transaction.
    await eventually(async () => (await rows.countDocuments()) === 3);
    for (const open of [byDefault, asked, duplicate, committed]) {
      expect(await isPending(open)).to.equal(true);
    }
    expect(await read(rows, 'majority')).to.deep.equal([{ _id: 1, n: 1 }]);
    await lag('off');
    await Promise.all([byDefault, asked, committed]);
    expect((await duplicate).code).to.equal(11000);
    expect(await read(rows, 'majority')).to.have.length(3);
  });

  it('lets a majority writer read its own write', async () => {
    const rows = await oneRow();
    for (let n = 2; n < 30; n++) {
      await rows.updateOne({ _id: 1 }, { $set: { n } });
      expect(await read(rows, 'majority')).to.deep.equal([{ _id: 1, n }]);
    }
  });

  it('may hide a write with w: 1 from the next majority read', async () => {
    const rows = await oneRow();
    let missed = 0;
    for (let n = 2; n < 60; n++) {
      await rows.updateOne({ _id: 1 }, { $set: { n } }, w1);
      const [found] = await read(rows, 'majority');
      expect(found?.n).to.be.at.most(n);
      missed += found?.n === n ? 0 : 1;
    }
    expect(missed).to.be.greaterThan(0);
  });

  it('receives commits in order', async () => {
    const rows = await oneRow();
    let last = 0;
    let isWriting = true;
    const writing = (async () => {
      for (let n = 2; n < 150; n++) {
        await rows.updateOne({ _id: 1 }, { $set: { n } }, w1);
        await rows.insertOne({ _id: n, n }, w1);
      }
      isWriting = false;
    })();
    while (isWriting) {
      const [first, ...others] = await read(rows, 'majority');
      expect(first?.n).to.be.at.least(last);
      last = first?.n ?? 0;
      expect(others.map(({ n }) => n)).to.include.members(
        Array.from({ length: Math.max(0, last - 2) }, (_, i) => i + 2),
      );
    }
    await writing;
  });

  it('makes reads of a causally consistent session wait', async () => {
    const rows = await oneRow();
    await lag('alwaysOn');
    await fixture.client.withSession({ causalConsistency: true }, async (session) => {
      await rows.updateOne({ _id: 1 }, { $set: { n: 2 } }, { session, writeConcern: { w: 1 } });
      const own = rows.find({}, { session, readConcern: { level: 'majority' } }).toArray();
      expect(await isPending(own)).to.equal(true);
      expect(await read(rows, 'majority'), 'others').to.deep.equal([{ _id: 1, n: 1 }]);
      await lag('off');
      expect(await own).to.deep.equal([{ _id: 1, n: 2 }]);
    });
  });

  it('gives majority reads its own operation time and local reads the newest', async () => {
    const rows = await oneRow();
    const find = (level: string): Promise<Document> =>
      fixture.db.command({ find: rows.collectionName, readConcern: { level } });
    const before = (await find('majority'))['operationTime'];
    await lag('alwaysOn');
    await rows.updateOne({ _id: 1 }, { $set: { n: 2 } }, w1);
    expect((await find('majority'))['operationTime'].equals(before)).to.equal(true);
    const local = (await find('local'))['operationTime'];
    expect(local.greaterThan(before)).to.equal(true);
    await lag('off');
    expect((await find('majority'))['operationTime'].greaterThanOrEqual(local)).to.equal(true);
  });

  it('is read by snapshot sessions; transactions read the newest data', async () => {
    const rows = await oneRow();
    await lag('alwaysOn');
    await rows.updateOne({ _id: 1 }, { $set: { n: 2 } }, w1);
    await fixture.client.withSession({ snapshot: true }, async (session) => {
      expect(await rows.find({}, { session }).toArray()).to.deep.equal([{ _id: 1, n: 1 }]);
      await rows.updateOne({ _id: 1 }, { $set: { n: 3 } }, w1);
      // A majority already has the data of that snapshot.
      expect(await rows.find({}, { session }).toArray(), 'at once').to.deep.equal([{ _id: 1, n: 1 }]);
      await lag('off');
      expect(await rows.find({}, { session }).toArray(), 'same snapshot').to.deep.equal([{ _id: 1, n: 1 }]);
    });
    await lag('alwaysOn');
    await rows.updateOne({ _id: 1 }, { $set: { n: 4 } }, w1);
    const session = fixture.client.startSession();
    session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } });
    expect(await rows.find({}, { session }).toArray()).to.deep.equal([{ _id: 1, n: 4 }]);
    const commit = session.commitTransaction();
    expect(await isPending(commit)).to.equal(true);
    await lag('off');
    await commit;
    await session.endSession();
  });

  it('times out with a write concern error, but the write takes effect', async () => {
    const rows = await oneRow();
    await lag('alwaysOn');
    const write = { writeConcern: { w: 'majority', wtimeoutMS: 20 } } as const;
    const error = await errorOf(rows.updateOne({ _id: 1 }, { $set: { n: 2 } }, write));
    expect(error).to.be.instanceOf(MongoServerError);
    expect(error.code).to.equal(64);
    expect(await read(rows, 'local')).to.deep.equal([{ _id: 1, n: 2 }]);
    const reply = await runRaw(fixture.server.port, {
      find: rows.collectionName,
      readConcern: {
        level: 'majority',
        afterClusterTime: (await fixture.db.command({ ping: 1 }))['operationTime'],
      },
      maxTimeMS: 20,
      $db: 'test',
    });
    expect(reply).to.include({ code: 50 });
  });

  it('lags for the requested time, optionally for one collection only', async () => {
    const rows = await oneRow();
    const other = await oneRow();
    await lag('alwaysOn', { namespace: rows.namespace });
    await other.updateOne({ _id: 1 }, { $set: { n: 2 } });
    expect(await read(other, 'majority')).to.deep.equal([{ _id: 1, n: 2 }]);
    await rows.updateOne({ _id: 1 }, { $set: { n: 2 } }, w1);
    expect(await read(rows, 'majority')).to.deep.equal([{ _id: 1, n: 1 }]);
    await lag('off');
    await lag('alwaysOn', { ms: 200 });
    const startedAt = performance.now();
    await rows.updateOne({ _id: 1 }, { $set: { n: 3 } });
    expect(performance.now() - startedAt).to.be.at.least(195);
  });
});

describe('a lagging majority, on MongoDB', () => {
  it('is not simulated', function () {
    skipBecause(
      this,
      'MongoDB has no command that delays its majority; this would need a stopped secondary.',
    );
  });
});
