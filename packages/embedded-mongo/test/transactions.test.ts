import { expect } from 'chai';
import { MongoClient, type Document } from 'mongodb';
import { errorOf, startFixture, startTestServer, stopFixture, type Fixture } from './harness.js';
import { newSessionId, openRaw, runRaw } from './raw-client.js';
import { expectConflict, inTransactions, isPending } from './transaction-support.js';

describe('transactions', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  const withTransactions = (run: Parameters<typeof inTransactions>[1]): Promise<void> =>
    inTransactions(fixture.client, run);
  const isWaiting = (promise: Promise<unknown>): Promise<boolean> => isPending(fixture.db, promise);

  it('many concurrent guarded $inc never go below the guard', async () => {
    const wallets = fixture.collection<{ _id: number; balance: number }>();
    await wallets.insertOne({ _id: 1, balance: 100 });
    const results = await Promise.all(
      Array.from({ length: 200 }, () =>
        wallets.updateOne({ _id: 1, balance: { $gte: 1 } }, { $inc: { balance: -1 } }),
      ),
    );
    expect(results.filter(({ modifiedCount }) => modifiedCount === 1)).to.have.length(100);
    expect(await wallets.findOne({ _id: 1 })).to.deep.equal({ _id: 1, balance: 0 });
  });

  it('a plain write waits for a lock and then runs its filter again', async () => {
    const wallets = fixture.collection<{ _id: number; balance: number }>();
    await wallets.insertOne({ _id: 1, balance: 10 });
    await withTransactions(async (a) => {
      await wallets.updateOne({ _id: 1 }, { $set: { balance: 3 } }, { session: a });
      const guarded = wallets.updateOne({ _id: 1, balance: { $gte: 5 } }, { $inc: { balance: -5 } });
      expect(await isWaiting(guarded)).to.equal(true);
      await a.commitTransaction();
      expect((await guarded).matchedCount).to.equal(0);
    });
    expect(await wallets.findOne({ _id: 1 })).to.deep.equal({ _id: 1, balance: 3 });
  });

  it('a plain write that waits for a lock continues when the holder aborts', async () => {
    const wallets = fixture.collection<{ _id: number; n: number }>();
    await wallets.insertOne({ _id: 1, n: 10 });
    await withTransactions(async (a) => {
      await wallets.deleteOne({ _id: 1 }, { session: a });
      const waiting = wallets.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }, { returnDocument: 'after' });
      expect(await isWaiting(waiting)).to.equal(true);
      await a.abortTransaction();
      expect(await waiting).to.deep.equal({ _id: 1, n: 11 });
    });
  });

  it('waiting for a lock ends with maxTimeMS', async () => {
    const wallets = fixture.collection<{ _id: number; n: number }>();
    await wallets.insertOne({ _id: 1, n: 10 });
    await withTransactions(async (a) => {
      await wallets.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session: a });
      const error = await errorOf(wallets.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { maxTimeMS: 30 }));
      expect(error.code).to.equal(50);
    });
  });

  it('a transaction fails at once on a document locked by another one', async () => {
    const wallets = fixture.collection<{ _id: number; n: number }>();
    await wallets.insertOne({ _id: 1, n: 0 });
    await withTransactions(async (a, b) => {
      await wallets.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session: a });
      expectConflict(await errorOf(wallets.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session: b })));
    });
  });

  it('a transaction fails on a document changed after its snapshot', async () => {
    const wallets = fixture.collection<{ _id: number; n: number }>();
    await wallets.insertOne({ _id: 1, n: 0 });
    await withTransactions(async (a) => {
      await wallets.findOne({}, { session: a });
      await wallets.updateOne({ _id: 1 }, { $inc: { n: 1 } });
      expectConflict(await errorOf(wallets.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session: a })));
    });
    expect(await wallets.findOne({ _id: 1 })).to.deep.equal({ _id: 1, n: 1 });
  });

  it('any error aborts the transaction, and later commands fail with 251', async () => {
    const payments = fixture.collection<{ _id: number }>();
    await payments.insertOne({ _id: 1 });
    await withTransactions(async (a) => {
      await payments.insertOne({ _id: 2 }, { session: a });
      expect((await errorOf(payments.insertOne({ _id: 1 }, { session: a }))).code).to.equal(11000);
      const later = await errorOf(payments.findOne({ _id: 1 }, { session: a }));
      expect(later.code).to.equal(251);
      expect(later['errorLabels']).to.include('TransientTransactionError');
    });
    expect(await payments.countDocuments()).to.equal(1);
  });

  it('a snapshot still reads documents that were later changed or deleted', async () => {
    const items = fixture.collection<{ _id: number; ref: string; n: number }>();
    await items.createIndex({ ref: 1 }, {}, {});
    await items.insertMany([
      { _id: 1, ref: 'A', n: 1 },
      { _id: 2, ref: 'B', n: 1 },
    ]);
    await withTransactions(async (a) => {
      await items.findOne({ _id: 1 }, { session: a });
      await items.updateOne({ _id: 1 }, { $set: { ref: 'Z', n: 2 } });
      await items.deleteOne({ _id: 2 });
      await items.insertOne({ _id: 3, ref: 'A', n: 3 });
      const seen = await items.find({ ref: { $in: ['A', 'B', 'Z'] } }, { session: a }).toArray();
      expect(seen).to.deep.equal([
        { _id: 1, ref: 'A', n: 1 },
        { _id: 2, ref: 'B', n: 1 },
      ]);
      expect(await items.find({ ref: 'Z' }, { session: a }).toArray()).to.deep.equal([]);
      expect(await items.find({}, { session: a }).sort({ ref: -1 }).toArray()).to.have.length(2);
    });
    expect(
      await items
        .find({ ref: { $gt: '' } })
        .sort({ ref: 1 })
        .toArray(),
    ).to.deep.equal([
      { _id: 3, ref: 'A', n: 3 },
      { _id: 1, ref: 'Z', n: 2 },
    ]);
  });

  it('a transaction sees its own writes, and others see them after the commit', async () => {
    const items = fixture.collection<{ _id: number; ref: string }>();
    await items.createIndex({ ref: 1 }, {}, {});
    await withTransactions(async (a, b) => {
      await items.insertOne({ _id: 1, ref: 'mine' }, { session: a });
      expect(await items.find({ ref: 'mine' }, { session: a }).toArray()).to.have.length(1);
      expect(await items.find({ ref: 'mine' }, { session: b }).toArray()).to.deep.equal([]);
      expect(await items.find({ ref: 'mine' }).toArray()).to.deep.equal([]);
      await a.commitTransaction();
      expect(
        await items.find({ ref: 'mine' }, { session: b }).toArray(),
        'b keeps its snapshot',
      ).to.deep.equal([]);
      expect(await items.find({ ref: 'mine' }).toArray()).to.have.length(1);
    });
  });

  it('allows write skew, as MongoDB does', async () => {
    const rows = fixture.collection<{ _id: number }>();
    await rows.insertMany([{ _id: 1 }, { _id: 2 }]);
    await withTransactions(async (a, b) => {
      await rows.find({}, { session: a }).toArray();
      await rows.find({}, { session: b }).toArray();
      await rows.updateOne({ _id: 1 }, { $set: { by: 'a' } }, { session: a });
      await rows.updateOne({ _id: 2 }, { $set: { by: 'b' } }, { session: b });
      await a.commitTransaction();
      await b.commitTransaction();
    });
    expect(await rows.countDocuments({ by: { $exists: true } })).to.equal(2);
  });

  it('a collection created in a transaction appears with the commit only', async () => {
    const { db } = fixture;
    const exists = async (name: string): Promise<boolean> =>
      (await db.listCollections({ name }).toArray()).length > 0;
    await withTransactions(async (a, b) => {
      await db.collection('made').createIndex({ x: 1 }, {}, { session: a });
      await db.collection('made').insertOne({ x: 1 }, { session: a });
      await db.collection('dropped').insertOne({ x: 1 }, { session: b });
      expect(await exists('made')).to.equal(false);
      await a.commitTransaction();
      await b.abortTransaction();
    });
    expect(await exists('made')).to.equal(true);
    expect((await db.collection('made').indexes()).map(({ name }) => name)).to.deep.equal(['_id_', 'x_1']);
    expect(await exists('dropped')).to.equal(false);
  });

  it('a cursor opened in a transaction belongs to it and ends with it', async () => {
    const rows = fixture.collection<{ _id: number }>();
    await rows.insertMany(Array.from({ length: 10 }, (_, i) => ({ _id: i })));
    await withTransactions(async (a, b) => {
      await rows.findOne({}, { session: b });
      const first = rows.find({}, { session: a, batchSize: 3 });
      await first.next();
      await rows.deleteMany({});
      expect(await first.toArray(), 'the rest of its rows').to.have.length(9);
      const second = rows.find({}, { session: b, batchSize: 3 });
      await second.next();
      await b.abortTransaction();
      expect((await errorOf(second.toArray())).message).to.not.equal('');
    });
  });

  it('commands that are not allowed in a transaction are refused with 263', async () => {
    const rows = fixture.collection();
    await rows.insertOne({});
    await withTransactions(async (a) => {
      const error = await errorOf(fixture.db.command({ count: rows.collectionName }, { session: a }));
      expect(error.code).to.equal(263);
    });
  });

  it('a drop waits for transactions that wrote to the collection', async () => {
    const rows = fixture.collection<{ _id: number }>();
    await rows.insertOne({ _id: 1 });
    await withTransactions(async (a) => {
      await rows.updateOne({ _id: 1 }, { $set: { x: 1 } }, { session: a });
      const dropped = rows.drop();
      expect(await isWaiting(dropped)).to.equal(true);
      await a.commitTransaction();
      expect(await dropped).to.equal(true);
    });
  });

  it('a transaction past its lifetime limit is aborted and releases its locks', async () => {
    const rows = fixture.collection<{ _id: number; n: number }>();
    await rows.insertOne({ _id: 1, n: 0 });
    const admin = fixture.client.db('admin');
    const { was } = await admin.command({ setParameter: 1, transactionLifetimeLimitSeconds: 1 });
    try {
      await withTransactions(async (a) => {
        await rows.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session: a });
        await rows.updateOne({ _id: 1 }, { $inc: { n: 10 } });
        expect((await errorOf(a.commitTransaction())).code).to.equal(251);
      });
    } finally {
      await admin.command({ setParameter: 1, transactionLifetimeLimitSeconds: was });
    }
    expect(await rows.findOne({ _id: 1 })).to.deep.equal({ _id: 1, n: 10 });
  });

  it('the locks of a disconnected client are released', async () => {
    const rows = fixture.collection<{ _id: number; n: number }>();
    await rows.insertOne({ _id: 1, n: 0 });
    const connection = await openRaw(fixture.server.port);
    const reply = await connection.run({
      update: rows.collectionName,
      updates: [{ q: { _id: 1 }, u: { $inc: { n: 5 } } }],
      $db: 'test',
      lsid: newSessionId(),
      txnNumber: 1n,
      autocommit: false,
      startTransaction: true,
    });
    expect(reply).to.include({ n: 1 });
    const waiting = rows.updateOne({ _id: 1 }, { $inc: { n: 1 } });
    expect(await isWaiting(waiting)).to.equal(true);
    connection.close();
    await waiting;
    expect(await rows.findOne({ _id: 1 })).to.deep.equal({ _id: 1, n: 1 });
  });

  it('a commit may be repeated, also after a server crash', async () => {
    const server = await startTestServer();
    const client = new MongoClient(server.uri);
    const session = client.startSession();
    session.startTransaction();
    await client.db('t').collection<{ _id: number; n: number }>('a').insertOne({ _id: 1, n: 1 }, { session });
    const command = {
      commitTransaction: 1,
      lsid: session.id,
      txnNumber: session.serverSession.txnNumber,
      autocommit: false,
    };
    await session.commitTransaction();
    await session.commitTransaction();
    await client.close(true);
    await server.kill9();

    const again = await startTestServer({ dbPath: server.dbPath });
    const raw = new MongoClient(again.uri);
    expect(await runRaw(again.port, { ...command, $db: 'admin' })).to.include({ ok: 1 });
    const { commitTransaction: _commit, ...rest } = command;
    expect(await runRaw(again.port, { abortTransaction: 1, ...rest, $db: 'admin' })).to.include({
      ok: 0,
      code: 256,
    });
    expect(await raw.db('t').collection('a').find().toArray()).to.deep.equal([{ _id: 1, n: 1 }]);
    await raw.close();
    await again.stop();
  });

  it('transactions of a session are ordered by number', async () => {
    const lsid = newSessionId();
    const run = (command: Document): Promise<Document> =>
      runRaw(fixture.server.port, { ...command, lsid, $db: 'test' });
    const insert = (n: number, extra: Document = {}): Document => ({
      insert: 'numbered',
      documents: [{ n }],
      txnNumber: BigInt(n),
      autocommit: false,
      ...extra,
    });
    expect(await run(insert(5, { startTransaction: true }))).to.include({ ok: 1 });
    expect(await run(insert(5, { startTransaction: true }))).to.include({ code: 50911 });
    expect(await run(insert(4, { startTransaction: true }))).to.include({ code: 225 });
    expect(await run(insert(6))).to.include({ code: 251 });
    expect(await run(insert(6, { startTransaction: true }))).to.include({ ok: 1 });
    expect(await run({ commitTransaction: 1, txnNumber: 5n, autocommit: false })).to.include({ code: 225 });
    expect(await run({ abortTransaction: 1, txnNumber: 6n, autocommit: false })).to.include({ ok: 1 });
    expect(await run({ commitTransaction: 1, txnNumber: 6n, autocommit: false })).to.include({ code: 251 });
    expect(
      await run({ insert: 'numbered', documents: [{}], startTransaction: true, txnNumber: 7n }),
    ).to.include({ code: 72 });
  });
});
