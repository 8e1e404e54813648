import { expect } from 'chai';
import type { ClientSession } from 'mongodb';
import { errorOf, startFixture, stopFixture, type Fixture } from './harness.js';
import { expectConflict, inTransactions, isPending } from './transaction-support.js';

describe('unique keys and indexes in transactions', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  const withTransactions = (run: Parameters<typeof inTransactions>[1]): Promise<void> =>
    inTransactions(fixture.client, run);
  const isWaiting = (promise: Promise<unknown>): Promise<boolean> => isPending(fixture.db, promise);

  it('an uncommitted unique key gives 112 in a transaction, else a wait and 11000', async () => {
    const payments = fixture.collection();
    await payments.createIndex({ ref: 1 }, { unique: true }, {});
    await withTransactions(async (a, b) => {
      await payments.insertOne({ ref: 'K' }, { session: a });
      expectConflict(await errorOf(payments.insertOne({ ref: 'K' }, { session: b })));
      const plain = errorOf(payments.insertOne({ ref: 'K' }));
      expect(await isWaiting(plain)).to.equal(true);
      await a.commitTransaction();
      expect((await plain).code).to.equal(11000);
    });
  });

  it('a plain insert that waits for a unique key succeeds when its holder aborts', async () => {
    const payments = fixture.collection();
    await payments.createIndex({ ref: 1 }, { unique: true }, {});
    await withTransactions(async (a) => {
      await payments.insertOne({ ref: 'K' }, { session: a });
      const plain = payments.insertOne({ ref: 'K' });
      expect(await isWaiting(plain)).to.equal(true);
      await a.abortTransaction();
      expect((await plain).acknowledged).to.equal(true);
    });
  });

  // MongoDB first looks for writes of the key that the transaction does not see, and then for the
  // key in the snapshot.
  it('a unique key taken after the snapshot is a conflict', async () => {
    const payments = fixture.collection();
    await payments.createIndex({ ref: 1 }, { unique: true }, {});
    await payments.insertOne({ ref: 'moved' });
    for (const ref of ['new', 'moved', 'gone']) {
      await withTransactions(async (a) => {
        await payments.findOne({}, { session: a });
        await payments.deleteOne({ ref });
        await payments.insertOne({ ref });
        if (ref === 'gone') {
          await payments.deleteOne({ ref });
        }
        expectConflict(await errorOf(payments.insertOne({ ref }, { session: a })));
      });
    }
  });

  it('a unique key released after the snapshot is a duplicate', async () => {
    const payments = fixture.collection<{ _id: number; ref: string }>();
    await payments.createIndex({ ref: 1 }, { unique: true }, {});
    await payments.insertMany([1, 2, 3].map((_id) => ({ _id, ref: `K${_id}` })));
    const expectDuplicate = async (insert: Promise<unknown>): Promise<void> => {
      const error = await errorOf(insert);
      expect(error.code).to.equal(11000);
      expect(error['errorLabels'] ?? []).not.to.include('TransientTransactionError');
    };
    await withTransactions(async (a, b) => {
      await payments.findOne({}, { session: a });
      await payments.findOne({}, { session: b });
      await payments.deleteOne({ _id: 1 });
      await payments.updateOne({ _id: 2 }, { $set: { ref: 'other' } });
      await expectDuplicate(payments.insertOne({ _id: 4, ref: 'K1' }, { session: a }));
      await expectDuplicate(payments.insertOne({ _id: 4, ref: 'K2' }, { session: b }));
    });
    await withTransactions(async (a) => {
      await payments.findOne({}, { session: a });
      await payments.deleteOne({ _id: 2 });
      await expectDuplicate(payments.insertOne({ _id: 2, ref: 'new' }, { session: a }));
    });
    await withTransactions(async (a, b) => {
      await payments.deleteOne({ _id: 3 }, { session: a });
      await expectDuplicate(payments.insertOne({ _id: 4, ref: 'K3' }));
      await expectDuplicate(payments.insertOne({ _id: 3, ref: 'new' }));
      await expectDuplicate(payments.insertOne({ _id: 4, ref: 'K3' }, { session: b }));
    });
  });

  it('a key can be deleted and reused within one transaction', async () => {
    const payments = fixture.collection<{ _id: number; ref: string }>();
    await payments.createIndex({ ref: 1 }, { unique: true }, {});
    await payments.insertOne({ _id: 1, ref: 'K' });
    await withTransactions(async (a) => {
      await payments.deleteOne({ _id: 1 }, { session: a });
      await payments.insertOne({ _id: 2, ref: 'K' }, { session: a });
      await payments.deleteOne({ _id: 2 }, { session: a });
      await payments.insertOne({ _id: 2, ref: 'K' }, { session: a });
      await a.commitTransaction();
    });
    expect(await payments.find().toArray()).to.deep.equal([{ _id: 2, ref: 'K' }]);
  });

  it('of two transactions that upsert one key, the second gets a write conflict', async () => {
    const counters = fixture.collection();
    await counters.createIndex({ key: 1 }, { unique: true }, {});
    const upsert = (session: ClientSession): Promise<unknown> =>
      counters.updateOne({ key: 'K' }, { $inc: { n: 1 } }, { upsert: true, session });
    await withTransactions(async (a, b) => {
      await upsert(a);
      expectConflict(await errorOf(upsert(b)));
      await a.commitTransaction();
    });
    expect(await counters.countDocuments()).to.equal(1);
  });

  it('creating an index in a transaction requires an empty collection created in it', async () => {
    const rows = fixture.collection();
    await withTransactions(async (a) => {
      await rows.insertOne({ x: 1 }, { session: a });
      const error = await errorOf(rows.createIndex({ x: 1 }, {}, { session: a }));
      expect(error.code).to.equal(263);
    });
    await withTransactions(async (a) => {
      await rows.createIndex({ x: 1 }, {}, { session: a });
      await rows.insertOne({ x: 1 }, { session: a });
      await rows.createIndex({ x: 1 }, {}, { session: a });
      await a.commitTransaction();
    });
    expect(await rows.indexes()).to.have.length(2);
    await withTransactions(async (a) => {
      expect((await errorOf(rows.createIndex({ y: 1 }, {}, { session: a }))).code).to.equal(263);
    });
  });

  it('building an index waits for transactions that wrote to the collection', async () => {
    const rows = fixture.collection<{ _id: number; x: number }>();
    await rows.insertOne({ _id: 1, x: 1 });
    await withTransactions(async (a) => {
      await rows.insertOne({ _id: 2, x: 1 }, { session: a });
      const build = errorOf(rows.createIndex({ x: 1 }, { unique: true }, {}));
      expect(await isWaiting(build)).to.equal(true);
      await a.commitTransaction();
      expect((await build).code).to.equal(11000);
    });
  });
});
