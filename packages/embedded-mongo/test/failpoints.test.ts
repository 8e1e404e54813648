import { expect } from 'chai';
import { MongoClient, type Document } from 'mongodb';
import { errorOf, startFixture, stopFixture, type Fixture } from './harness.js';
import { newSessionId, runRaw } from './raw-client.js';

describe('failpoints', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));
  afterEach(async () => {
    await configure('failCommand', 'off');
  });

  const run = (command: Document): Promise<Document> =>
    runRaw(fixture.server.port, { ...command, $db: command['$db'] ?? 'test' });
  const configure = (name: string, mode: unknown, data: Document = {}): Promise<Document> =>
    run({ configureFailPoint: name, mode, data, $db: 'admin' });
  const failing = (name: string, data: Document, mode: unknown = 'alwaysOn'): Promise<Document> =>
    configure(name, mode, { failCommands: ['insert'], ...data });
  const insert = (name: string, extra: Document = {}): Promise<Document> =>
    run({ insert: name, documents: [{}], ...extra });

  it('can be limited to one namespace or one application', async () => {
    await failing('failCommand', { namespace: 'test.meant', errorCode: 2 });
    expect(await insert('meant')).to.include({ code: 2 });
    expect(await insert('other')).to.include({ ok: 1 });
    await failing('failCommand', { appName: 'meant', errorCode: 2 });
    expect(await insert('other')).to.include({ ok: 1 });
    const client = new MongoClient(fixture.server.uri, { appName: 'meant' });
    expect((await errorOf(client.db('test').collection('other').insertOne({}))).code).to.equal(2);
    await client.close();
  });

  it('apply with a probability and count how often', async () => {
    await failing('failCommand', { errorCode: 2 }, { activationProbability: 0.5 });
    let failed = 0;
    for (let i = 0; i < 200; i++) {
      failed += (await insert('half'))['ok'] === 0 ? 1 : 0;
    }
    expect(failed).to.be.within(50, 150);
    const parameters = await run({ getParameter: 1, 'failpoint.failCommand': 1, $db: 'admin' });
    expect(Number(parameters['failpoint.failCommand'].timesEntered)).to.equal(failed);
    expect(await configure('failCommand', 'off')).to.include({ count: failed });
    await failing('failCommand', { errorCode: 2 }, { activationProbability: 0 });
    expect(await insert('half')).to.include({ ok: 1 });
    await failing('failCommand', { errorCode: 2 }, { activationProbability: 1 });
    expect(await insert('half')).to.include({ ok: 0 });
  });

  it('end the transaction only if the error says that it has ended', async () => {
    const rows = fixture.collection<{ _id: number }>();
    await fixture.db.createCollection(rows.collectionName);
    let id = 0;
    const afterCommitFails = async (data: Document): Promise<Document> => {
      id += 1;
      const transaction = { lsid: newSessionId(), txnNumber: 1n, autocommit: false };
      await insert(rows.collectionName, {
        documents: [{ _id: id }],
        ...transaction,
        startTransaction: true,
      });
      await configure('failCommand', { times: 1 }, { failCommands: ['commitTransaction'], ...data });
      const commit = { commitTransaction: 1, ...transaction, $db: 'admin' };
      await run(commit).catch(() => undefined);
      return run(commit);
    };
    expect(await afterCommitFails({ errorCode: 112 })).to.include({ code: 251 });
    expect(await afterCommitFails({ errorCode: 10107 })).to.include({ ok: 1 });
    expect(await afterCommitFails({ closeConnection: true })).to.include({ ok: 1 });
    expect(await rows.countDocuments()).to.equal(2);
  });

  it('keep the transaction after an overload error, and the statement is retried', async () => {
    const rows = fixture.collection<{ _id: number }>();
    await fixture.db.createCollection(rows.collectionName);
    const session = fixture.client.startSession();
    session.startTransaction();
    await rows.insertOne({ _id: 1 }, { session });
    const errorLabels = ['RetryableError', 'SystemOverloadedError'];
    await failing('failCommand', { errorCode: 462, errorLabels }, { times: 1 });
    await rows.insertOne({ _id: 2 }, { session });
    await session.commitTransaction();
    await session.endSession();
    expect(await rows.countDocuments()).to.equal(2);
  });

  it('refuse unknown fields, modes and names', async () => {
    expect(await failing('failCommand', { errorcode: 2 })).to.include({ code: 40415 });
    expect(await failing('failCommand', { errorCode: 'x' })).to.include({ code: 14 });
    expect(await failing('failCommand', {}, 'sometimes')).to.include({ code: 2 });
    expect(await configure('failEverything', 'alwaysOn')).to.include({ code: 2 });
    expect(await configure('failCommand.mine', 'alwaysOn')).to.include({ code: 2 });
    expect(await insert('fine')).to.include({ ok: 1 });
  });
});
