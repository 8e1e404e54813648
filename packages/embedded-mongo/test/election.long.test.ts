import { expect } from 'chai';
import { MongoClient, type Document } from 'mongodb';
import { cleanUp, errorOf, eventually, startFixture, startTestServer, type Fixture } from './harness.js';
import { message, newSessionId, openRaw, replyOf, runRaw } from './raw-client.js';

describe('an election', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await startFixture();
  });
  afterEach(async () => {
    await fixture.client.close(true);
    await cleanUp();
  });

  const run = (command: Document): Promise<Document> =>
    runRaw(fixture.server.port, { ...command, $db: command['$db'] ?? 'test' });
  const stepDown = (seconds: number): Promise<Document> =>
    run({ replSetStepDown: seconds, force: true, $db: 'admin' });
  const hello = (): Promise<Document> => run({ hello: 1, $db: 'admin' });
  const primaryAgain = (): Promise<void> =>
    eventually(async () => (await hello())['isWritablePrimary'] === true, 10_000);

  it('ends with a higher election id, and hello reports each state', async () => {
    const before = await hello();
    expect(await stepDown(1)).to.include({ ok: 1 });
    const between = await hello();
    expect(between).to.include({ isWritablePrimary: false, secondary: true, setName: 'rs0' });
    expect(between).to.not.have.any.keys('primary', 'electionId');
    await primaryAgain();
    const after = await hello();
    expect(after).to.include({ secondary: false, primary: before['primary'] });
    expect(String(after['electionId']) > String(before['electionId'])).to.equal(true);
    const counters = [before, between, after].map((each) => Number(each['topologyVersion'].counter));
    expect(counters).to.deep.equal([1, 2, 3]);
  });

  it('the election id does not decrease after a restart', async () => {
    const before = await hello();
    await fixture.server.kill9();
    const again = await startTestServer({ dbPath: fixture.server.dbPath });
    const after = await runRaw(again.port, { hello: 1, $db: 'admin' });
    expect(String(after['electionId']) >= String(before['electionId'])).to.equal(true);
    expect(after['topologyVersion'].processId.equals(before['topologyVersion'].processId)).to.equal(false);
  });

  it('replies to a waiting hello at once, also in a stream', async () => {
    const connection = await openRaw(fixture.server.port);
    const { topologyVersion } = await hello();
    const awaitable = { hello: 1, topologyVersion, maxAwaitTimeMS: 60_000, $db: 'admin' };
    connection.socket.write(message(awaitable, 0x10000));
    await stepDown(1);
    expect(replyOf(await connection.read())).to.include({ isWritablePrimary: false });
    expect(replyOf(await connection.read())).to.include({ isWritablePrimary: true });
    connection.close();
    expect(await run(awaitable), 'its topology version is old').to.include({ isWritablePrimary: true });
  });

  it('refuses writes, transactions and primary reads with MongoDB codes and labels', async () => {
    const lsid = newSessionId();
    const insert = { insert: 'a', documents: [{ _id: 1 }] };
    const transaction = { lsid, txnNumber: 1n, autocommit: false };
    expect(await run({ ...insert, ...transaction, startTransaction: true })).to.include({ ok: 1 });
    await run({ insert: 'b', documents: [{ _id: 1 }] });
    await stepDown(1);
    const version = (await hello())['topologyVersion'].counter as unknown;
    const codeOf = async (command: Document): Promise<unknown[]> => {
      const { code, errorLabels, topologyVersion } = await run(command);
      expect(topologyVersion?.counter, Object.keys(command)[0]).to.deep.equal(version);
      return [code, ...((errorLabels as string[] | undefined) ?? [])];
    };
    expect(await codeOf(insert)).to.deep.equal([10107]);
    expect(await codeOf({ ...insert, lsid: newSessionId(), txnNumber: 1n })).to.deep.equal([
      10107,
      'RetryableWriteError',
    ]);
    expect(await codeOf({ ...insert, ...transaction })).to.deep.equal([10107, 'TransientTransactionError']);
    expect(await codeOf({ commitTransaction: 1, ...transaction, $db: 'admin' })).to.deep.equal([
      10107,
      'RetryableWriteError',
    ]);
    expect(await codeOf({ find: 'b' })).to.deep.equal([13435]);
    expect(await codeOf({ replSetStepDown: 1, force: true, $db: 'admin' })).to.deep.equal([10107]);
    const secondary = await run({ find: 'b', $readPreference: { mode: 'secondaryPreferred' } });
    expect(secondary['cursor'].firstBatch).to.deep.equal([{ _id: 1 }]);
    expect(await run({ ping: 1 })).to.include({ ok: 1 });

    await primaryAgain();
    expect(await run({ commitTransaction: 1, ...transaction, $db: 'admin' })).to.deep.include({
      code: 251,
      errorLabels: ['TransientTransactionError'],
    });
    const { cursor } = await run({ find: 'a' });
    expect(cursor.firstBatch, 'it was aborted').to.deep.equal([]);
  });

  it('interrupts a write that waits for a lock, and does not apply it later', async () => {
    const rows = fixture.collection<{ _id: number; n: number }>();
    await rows.insertOne({ _id: 1, n: 0 });
    const update = { update: rows.collectionName, updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }] };
    await run({
      ...update,
      lsid: newSessionId(),
      txnNumber: 1n,
      autocommit: false,
      startTransaction: true,
    });
    const waiting = run({ ...update, lsid: newSessionId(), txnNumber: 1n });
    await run({ ping: 1 });
    await stepDown(1);
    expect(await waiting).to.deep.include({ code: 11602, errorLabels: ['RetryableWriteError'] });
    await primaryAgain();
    expect(await rows.findOne({})).to.deep.equal({ _id: 1, n: 0 });
  });

  it('leaves the outcome of a running commit unknown; the commit can be repeated', async () => {
    const rows = fixture.collection<{ _id: number }>();
    await fixture.db.createCollection(rows.collectionName);
    const transaction = { lsid: newSessionId(), txnNumber: 1n, autocommit: false };
    await run({
      insert: rows.collectionName,
      documents: [{ _id: 1 }],
      ...transaction,
      startTransaction: true,
    });
    await run({
      configureFailPoint: 'failCommand',
      mode: { times: 1 },
      data: { failCommands: ['commitTransaction'], stepDownAfter: 1 },
      $db: 'admin',
    });
    const commit = { commitTransaction: 1, ...transaction, $db: 'admin' };
    expect(await run(commit)).to.deep.include({ code: 11602, errorLabels: ['RetryableWriteError'] });
    expect(await hello()).to.include({ isWritablePrimary: false });
    await primaryAgain();
    expect(await run(commit)).to.include({ ok: 1 });
    expect(await rows.countDocuments()).to.equal(1);
  });

  it('is refused without force, and on databases other than admin', async () => {
    expect(await run({ replSetStepDown: 1, $db: 'admin' })).to.include({ code: 262 });
    expect(await run({ replSetStepDown: 0, force: true, $db: 'admin' })).to.include({ code: 2 });
    expect(await run({ replSetStepDown: 1, force: true })).to.include({ code: 13 });
    expect(await hello()).to.include({ isWritablePrimary: true });
  });

  it('lets drivers wait for its end and continue with the same client', async () => {
    const rows = fixture.collection<{ _id: number }>();
    await rows.insertOne({ _id: 1 });
    await stepDown(1);
    await rows.insertOne({ _id: 2 });
    expect(await rows.countDocuments()).to.equal(2);
    await stepDown(2);
    const impatient = new MongoClient(fixture.server.uri, { serverSelectionTimeoutMS: 300 });
    expect((await errorOf(impatient.db('test').command({ insert: 'x', documents: [{}] }))).name).to.equal(
      'MongoServerSelectionError',
    );
    await impatient.close();
    await fixture.client.withSession((session) =>
      session.withTransaction(() => rows.insertOne({ _id: 3 }, { session })),
    );
    expect(await rows.countDocuments()).to.equal(3);
  });

  it('starts once by itself with --election', async () => {
    const server = await startTestServer({ args: ['--election', '2s'] });
    const isPrimary = async (): Promise<boolean> =>
      (await runRaw(server.port, { hello: 1, $db: 'admin' }))['isWritablePrimary'] === true;
    expect(await isPrimary()).to.equal(true);
    await eventually(async () => !(await isPrimary()), 7000);
    await eventually(isPrimary, 3000);
  }).timeout(15_000);
});
