import { expect } from 'chai';
import type { Document } from 'mongodb';
import { cleanUp, errorOf, eventually, startFixture, StartFailure, startTestServer } from './harness.js';
import type { Fixture } from './harness.js';
import { newSessionId, openRaw, runRaw } from './raw-client.js';

const LIFETIME_S = 2;
const GRACE_MS = 3000;

describe('locks of a disconnected client, as in MongoDB (--lock-lifetime)', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture({ args: ['--lock-lifetime', String(LIFETIME_S)] });
  });
  after(async () => {
    await fixture.client.close(true);
    await cleanUp();
  });

  const run = (command: Document): Promise<Document> =>
    runRaw(fixture.server.port, { ...command, $db: command['$db'] ?? 'test' });
  const inTransaction = (lsid: Document, txnNumber: bigint): Document => ({
    lsid,
    txnNumber,
    autocommit: false,
  });
  const increment = (name: string, by: number): Document => ({
    update: name,
    updates: [{ q: { _id: 1 }, u: { $inc: { n: by } } }],
  });
  const setLifetime = (seconds: number): Promise<Document> =>
    fixture.client.db('admin').command({ setParameter: 1, transactionLifetimeLimitSeconds: seconds });

  async function createCounter(): Promise<{ name: string; n: () => Promise<number | undefined> }> {
    const rows = fixture.collection<{ _id: number; n: number }>();
    await rows.insertOne({ _id: 1, n: 0 });
    return { name: rows.collectionName, n: async () => (await rows.findOne({ _id: 1 }))?.n };
  }

  it('getParameter returns the lifetime and setParameter changes it', async () => {
    const lifetime = async (): Promise<unknown> =>
      (await run({ getParameter: 1, transactionLifetimeLimitSeconds: 1, $db: 'admin' }))[
        'transactionLifetimeLimitSeconds'
      ];
    expect(await lifetime()).to.equal(LIFETIME_S);
    expect(await setLifetime(7)).to.include({ was: LIFETIME_S });
    expect(await lifetime()).to.equal(7);
    await setLifetime(LIFETIME_S);
  });

  it('last until the lifetime ends; later statements and the commit fail with 251', async () => {
    const counter = await createCounter();
    const lsid = newSessionId();
    await setLifetime(5);
    const startedAt = performance.now();
    // `run` uses a separate connection, which it closes immediately.
    await run({ ...increment(counter.name, 5), ...inTransaction(lsid, 1n), startTransaction: true });
    await setLifetime(5);
    const other = await run({
      ...increment(counter.name, 1),
      ...inTransaction(newSessionId(), 1n),
      startTransaction: true,
    });
    expect(other).to.deep.include({ code: 112, errorLabels: ['TransientTransactionError'] });
    await run(increment(counter.name, 1));
    expect(performance.now() - startedAt, 'longer than the grace period without --lock-lifetime').to.be.above(
      GRACE_MS + 1000,
    );
    expect(await counter.n()).to.equal(1);
    for (const late of [increment(counter.name, 5), { commitTransaction: 1, $db: 'admin' }]) {
      const reply = await run({ ...late, ...inTransaction(lsid, 1n) });
      expect(reply, JSON.stringify(late)).to.deep.include({
        code: 251,
        codeName: 'NoSuchTransaction',
        errorLabels: ['TransientTransactionError'],
      });
    }
    expect(await counter.n()).to.equal(1);
    await setLifetime(LIFETIME_S);
  }).timeout(20_000);

  it('a transaction can continue on another connection', async () => {
    const counter = await createCounter();
    const lsid = newSessionId();
    await run({ ...increment(counter.name, 5), ...inTransaction(lsid, 1n), startTransaction: true });
    expect(await run({ commitTransaction: 1, $db: 'admin', ...inTransaction(lsid, 1n) })).to.include({
      ok: 1,
    });
    expect(await counter.n()).to.equal(5);
  });

  it('a newer transaction of the session aborts the older one for good', async () => {
    const counter = await createCounter();
    const lsid = newSessionId();
    await setLifetime(60);
    await run({ ...increment(counter.name, 5), ...inTransaction(lsid, 1n), startTransaction: true });
    const read = await run({
      find: counter.name,
      ...inTransaction(lsid, 2n),
      startTransaction: true,
      readConcern: { level: 'snapshot' },
    });
    expect(read['cursor'].firstBatch).to.deep.equal([{ _id: 1, n: 0 }]);
    // The lock of the older transaction is released immediately, although its lifetime is one
    // minute.
    expect(await run({ ...increment(counter.name, 1), maxTimeMS: 1000 })).to.include({ n: 1 });
    const commit = { commitTransaction: 1, $db: 'admin', writeConcern: { w: 'majority' } };
    expect(await run({ ...commit, ...inTransaction(lsid, 2n) })).to.include({ ok: 1 });
    expect(await run({ ...commit, ...inTransaction(lsid, 1n) })).to.include({ code: 225 });
    expect(await counter.n()).to.equal(1);
    await setLifetime(LIFETIME_S);
  });

  it('a newer transaction of the session settles the outcome of an unknown commit', async () => {
    const counter = await createCounter();
    await setLifetime(60);
    const admin = fixture.client.db('admin');
    const failpoint = { failCommands: ['commitTransaction'], appName: 'unknown' };
    const faults: [name: string, data: Document | null, holds: boolean][] = [
      ['its reply is lost', null, true],
      ['it is lost itself', { closeConnection: true }, false],
      ['it waits in the server', { blockConnection: true, blockTimeMS: 500 }, false],
    ];
    for (const [name, data, holds] of faults) {
      const before = await counter.n();
      const lsid = newSessionId();
      await admin.command({
        configureFailPoint: 'failCommand',
        mode: data === null ? 'off' : { times: 1 },
        data: { ...failpoint, ...data },
      });
      const unsure = await openRaw(fixture.server.port);
      await unsure.run({ hello: 1, client: { application: { name: 'unknown' } }, $db: 'admin' });
      await unsure.run({
        ...increment(counter.name, 10),
        ...inTransaction(lsid, 1n),
        startTransaction: true,
        $db: 'test',
      });
      const late = unsure
        .run({ commitTransaction: 1, $db: 'admin', ...inTransaction(lsid, 1n) })
        .then((reply) => (data === null ? null : reply))
        .catch(() => null);
      if (data === null || !('blockConnection' in data)) {
        expect(await late, name).to.equal(null);
      }
      const read = await run({ find: counter.name, ...inTransaction(lsid, 2n), startTransaction: true });
      const seen = read['cursor'].firstBatch[0].n as number;
      expect(await run({ commitTransaction: 1, $db: 'admin', ...inTransaction(lsid, 2n) })).to.include({
        ok: 1,
      });
      expect(seen, name).to.equal((before ?? 0) + (holds ? 10 : 0));
      const said = await late;
      if (said !== null) {
        expect(said, name).to.include({ code: 225 });
      }
      expect(await counter.n(), name).to.equal(seen);
      unsure.close();
    }
    await setLifetime(LIFETIME_S);
  });

  it('a driver gets 251 and a retry label when it commits the ended transaction', async () => {
    const rows = fixture.collection<{ _id: number }>();
    await rows.insertOne({ _id: 1 });
    const session = fixture.client.startSession();
    session.startTransaction();
    await rows.insertOne({ _id: 2 }, { session });
    const open = async (): Promise<number> =>
      (await run({ serverStatus: 1, $db: 'admin' }))['transactions'].currentOpen as number;
    await eventually(async () => (await open()) === 0, LIFETIME_S * 1000 + 2000);
    const error = await errorOf(session.commitTransaction());
    expect(error.code).to.equal(251);
    expect(error['errorLabels']).to.deep.equal(['TransientTransactionError']);
    await session.endSession();
  });

  it('invalid values are refused with the option name', async () => {
    for (const args of [
      ['--lock-lifetime', '0'],
      ['--lock-lifetime', 'x'],
      ['--election', '8'],
    ]) {
      const error = await errorOf(startTestServer({ args }));
      expect(error).to.be.instanceOf(StartFailure);
      expect(error.message).to.include(args[0]);
      expect(error['exitCode']).to.equal(2);
    }
  });
});
