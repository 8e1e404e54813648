import { expect } from 'chai';
import type { Document } from 'mongodb';
import { errorOf, startFixture, startTestServer, stopFixture, type Fixture } from './harness.js';
import { newSessionId, runRaw } from './raw-client.js';

describe('retryable writes', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  async function configure(name: string, mode: unknown, data: Document = {}): Promise<void> {
    await fixture.client.db('admin').command({ configureFailPoint: name, mode, data });
  }

  it('a retried write gets the remembered reply and is not applied twice', async () => {
    const counters = fixture.collection<{ _id: number; n: number }>();
    await counters.insertOne({ _id: 1, n: 0 });
    await configure('onPrimaryTransactionalWrite', { times: 1 });
    expect(await counters.updateOne({ _id: 1 }, { $inc: { n: 1 } })).to.include({ modifiedCount: 1 });
    await configure('onPrimaryTransactionalWrite', { times: 1 });
    const found = await counters.findOneAndUpdate(
      { _id: 1 },
      { $inc: { n: 1 } },
      { returnDocument: 'after' },
    );
    expect(found).to.deep.equal({ _id: 1, n: 2 });
    await configure('onPrimaryTransactionalWrite', { times: 1 });
    expect(await counters.insertOne({ _id: 2, n: 0 })).to.include({ insertedId: 2 });
    await configure('onPrimaryTransactionalWrite', { times: 1 });
    expect(await counters.deleteOne({ _id: 2 })).to.include({ deletedCount: 1 });
    expect(await counters.find().toArray()).to.deep.equal([{ _id: 1, n: 2 }]);
  });

  it('a write that failed before its commit is not remembered', async () => {
    const counters = fixture.collection<{ _id: number; n: number }>();
    await counters.insertOne({ _id: 1, n: 0 });
    await configure(
      'onPrimaryTransactionalWrite',
      { times: 1 },
      { failBeforeCommitExceptionCode: 1, closeConnection: false },
    );
    expect((await errorOf(counters.updateOne({ _id: 1 }, { $inc: { n: 1 } }))).code).to.equal(1);
    await configure('onPrimaryTransactionalWrite', { times: 1 }, { failBeforeCommitExceptionCode: 1 });
    await counters.updateOne({ _id: 1 }, { $inc: { n: 1 } });
    expect(await counters.findOne({})).to.deep.equal({ _id: 1, n: 1 });
  });

  it('replies survive a crash and a compaction, and a retry is marked as such', async () => {
    const server = await startTestServer({ args: ['--compact-at-bytes', '1000'] });
    const lsid = newSessionId();
    const commands: Document[] = [
      {
        insert: 'a',
        documents: [
          { _id: 1, n: 0 },
          { _id: 2, n: 0 },
        ],
      },
      {
        update: 'a',
        updates: [
          { q: { _id: 1 }, u: { $inc: { n: 1 } } },
          { q: { _id: 9 }, u: { $inc: { n: 1 } }, upsert: true },
        ],
      },
      { findAndModify: 'a', query: { _id: 2 }, update: { $inc: { n: 5 } }, new: true },
    ].map((command, i) => ({ ...command, $db: 'test', lsid, txnNumber: BigInt(i + 1) }));
    const filler = Array.from({ length: 50 }, (_, i) => ({ _id: i, text: 'x'.repeat(200) }));
    await runRaw(server.port, { insert: 'filler', documents: filler, $db: 'test' });
    let last: Document = {};
    for (const command of commands) {
      last = await runRaw(server.port, command);
      expect(last).to.include({ ok: 1 });
    }
    expect(last['value']).to.deep.equal({ _id: 2, n: 5 });
    await server.kill9();

    const again = await startTestServer({ dbPath: server.dbPath });
    const [insert, update, findAndModify] = commands;
    const repeated = await runRaw(again.port, findAndModify ?? {});
    expect(repeated).to.deep.include({ value: { _id: 2, n: 5 }, retriedStmtId: 0 });
    expect(await runRaw(again.port, update ?? {}), 'an older number').to.include({ code: 225 });
    expect(await runRaw(again.port, insert ?? {})).to.include({ code: 225 });
    const { cursor } = await runRaw(again.port, { find: 'a', $db: 'test' });
    expect(cursor.firstBatch).to.deep.equal([
      { _id: 1, n: 1 },
      { _id: 2, n: 5 },
      { _id: 9, n: 1 },
    ]);
    await again.stop();
  });

  it('a retried batch applies only the missing statements', async () => {
    const lsid = newSessionId();
    const batch = (documents: Document[]): Document => ({
      insert: 'batches',
      documents,
      $db: 'test',
      lsid,
      txnNumber: 1n,
    });
    expect(await runRaw(fixture.server.port, batch([{ _id: 1 }]))).to.include({ n: 1 });
    const repeat = await runRaw(fixture.server.port, batch([{ _id: 1 }, { _id: 2 }]));
    expect(repeat).to.deep.include({ n: 2, retriedStmtIds: [0] });
    expect(repeat).to.not.have.property('writeErrors');
    expect(await fixture.db.collection('batches').countDocuments()).to.equal(2);
  });

  it('a transaction number belongs to a retryable write or a transaction only', async () => {
    const lsid = newSessionId();
    const insert = { insert: 'numbers', documents: [{}], $db: 'test', lsid, txnNumber: 3n };
    expect(await runRaw(fixture.server.port, insert)).to.include({ ok: 1 });
    const transaction = { ...insert, autocommit: false, startTransaction: true };
    expect(await runRaw(fixture.server.port, transaction)).to.include({ code: 50911 });
    expect(await runRaw(fixture.server.port, { ...transaction, txnNumber: 4n })).to.include({ ok: 1 });
    expect(await runRaw(fixture.server.port, { ...insert, txnNumber: 4n })).to.include({ code: 217 });
  });

  it('multi-document writes are not retryable; a number needs a session', async () => {
    const lsid = newSessionId();
    const update = {
      update: 'many',
      updates: [{ q: {}, u: { $set: { a: 1 } }, multi: true }],
      $db: 'test',
      txnNumber: 1n,
    };
    expect(await runRaw(fixture.server.port, { ...update, lsid })).to.include({ code: 72 });
    expect(await runRaw(fixture.server.port, update)).to.include({ code: 72 });
  });

  it('only errors that a driver may retry have the retry label', async () => {
    const rows = fixture.collection();
    await configure('failCommand', { times: 1 }, { failCommands: ['insert'], errorCode: 11600 });
    await rows.insertOne({});
    expect(await rows.countDocuments(), 'the driver has retried').to.equal(1);
    await configure('failCommand', { times: 1 }, { failCommands: ['insert'], errorCode: 2 });
    const error = await errorOf(rows.insertOne({}));
    expect(error.code).to.equal(2);
    expect(error['errorLabels'] ?? []).to.not.include('RetryableWriteError');
  });

  it('failCommand skips, blocks, closes connections and adds write concern errors', async () => {
    const rows = fixture.collection();
    await configure('failCommand', { skip: 1 }, { failCommands: ['find'], errorCode: 2 });
    expect(await rows.findOne({})).to.equal(null);
    expect((await errorOf(rows.findOne({}))).code).to.equal(2);
    await configure(
      'failCommand',
      { times: 1 },
      { failCommands: ['find'], blockConnection: true, blockTimeMS: 100 },
    );
    const startedAt = performance.now();
    await rows.findOne({});
    expect(performance.now() - startedAt).to.be.at.least(95);
    await configure('failCommand', { times: 2 }, { failCommands: ['find'], closeConnection: true });
    expect((await errorOf(rows.findOne({}))).name).to.equal('MongoNetworkError');
    const writeConcernError = { code: 64, codeName: 'WriteConcernTimeout', errmsg: 'slow' };
    await configure('failCommand', { times: 1 }, { failCommands: ['insert'], writeConcernError });
    const reply = await runRaw(fixture.server.port, {
      insert: rows.collectionName,
      documents: [{}],
      $db: 'test',
    });
    expect(reply).to.deep.include({ n: 1, writeConcernError });
    await configure('failCommand', 'off');
  });

  it('an unsatisfiable write concern is reported in addition to the result', async () => {
    const insert = { insert: 'concerns', documents: [{}], $db: 'test' };
    const tooMany = await runRaw(fixture.server.port, { ...insert, writeConcern: { w: 3 } });
    expect(tooMany).to.include({ ok: 1, n: 1 });
    expect(tooMany['writeConcernError']).to.include({ code: 100 });
    const unknown = await runRaw(fixture.server.port, { ...insert, writeConcern: { w: 'elsewhere' } });
    expect(unknown['writeConcernError']).to.include({ code: 79 });
  });
});
