import { expect } from 'chai';
import type { Collection } from 'mongodb';
import { errorOf, eventually, startFixture, startTestServer, stopFixture, type Fixture } from './harness.js';
import { runRaw } from './raw-client.js';

describe('cursors', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  async function withRows(count: number): Promise<Collection<{ _id: number }>> {
    const rows = fixture.collection<{ _id: number }>();
    await rows.insertMany(Array.from({ length: count }, (_, i) => ({ _id: i })));
    return rows;
  }

  it('hand out 101 documents first, then as many as asked for, and all of them once', async () => {
    const rows = await withRows(500);
    const { cursor } = await runRaw(fixture.server.port, { find: rows.collectionName, $db: 'test' });
    expect(cursor.firstBatch).to.have.length(101);
    const more = await runRaw(fixture.server.port, {
      getMore: cursor.id,
      collection: rows.collectionName,
      batchSize: 9,
      $db: 'test',
    });
    expect(more['cursor'].nextBatch).to.have.length(9);
    const rest = await runRaw(fixture.server.port, {
      getMore: cursor.id,
      collection: rows.collectionName,
      $db: 'test',
    });
    expect(rest['cursor'].nextBatch).to.have.length(390);
    expect(rest['cursor'].id).to.equal(0);
    expect(await rows.find({}, { batchSize: 7 }).toArray()).to.have.length(500);
  });

  it('keep the moment at which they were opened', async () => {
    const rows = await withRows(20);
    const cursor = rows.find({}, { batchSize: 5 });
    await cursor.next();
    await rows.updateMany({}, { $set: { changed: true } });
    await rows.deleteMany({ _id: { $gt: 10 } });
    expect(await cursor.toArray()).to.deep.equal(Array.from({ length: 19 }, (_, i) => ({ _id: i + 1 })));
  });

  it('a batch size of 0 opens one without documents; a single batch closes it', async () => {
    const rows = await withRows(5);
    const name = rows.collectionName;
    const empty = await runRaw(fixture.server.port, { find: name, batchSize: 0, $db: 'test' });
    expect(empty['cursor'].firstBatch).to.deep.equal([]);
    expect(Number(empty['cursor'].id)).to.be.greaterThan(0);
    const single = await runRaw(fixture.server.port, {
      find: name,
      batchSize: 2,
      singleBatch: true,
      $db: 'test',
    });
    expect(single['cursor']).to.deep.include({ firstBatch: [{ _id: 0 }, { _id: 1 }], id: 0 });
  });

  it('killed, timed out or unknown ones are 43', async () => {
    const rows = await withRows(10);
    const name = rows.collectionName;
    const open = async (): Promise<unknown> =>
      (await runRaw(fixture.server.port, { find: name, batchSize: 2, $db: 'test' }))['cursor'].id;
    const more = (id: unknown): ReturnType<typeof runRaw> =>
      runRaw(fixture.server.port, { getMore: id, collection: name, $db: 'test' });
    const id = await open();
    const killed = await runRaw(fixture.server.port, {
      killCursors: name,
      cursors: [id, 12345n],
      $db: 'test',
    });
    expect(killed['cursorsKilled']).to.have.length(1);
    expect(killed['cursorsNotFound']).to.have.length(1);
    expect(await more(id)).to.include({ code: 43 });
    expect(await more(999n)).to.include({ code: 43 });

    const server = await startTestServer();
    await runRaw(server.port, { setParameter: 1, cursorTimeoutMillis: 50, $db: 'admin' });
    await runRaw(server.port, { insert: 'a', documents: [{}, {}, {}], $db: 'test' });
    const { cursor } = await runRaw(server.port, { find: 'a', batchSize: 1, $db: 'test' });
    const openCursors = async (): Promise<number> =>
      (await runRaw(server.port, { serverStatus: 1, $db: 'admin' }))['metrics'].cursor.open.total as number;
    await eventually(async () => (await openCursors()) === 0, 10_000);
    expect(await runRaw(server.port, { getMore: cursor.id, collection: 'a', $db: 'test' })).to.include({
      code: 43,
    });
    await server.stop();
  });

  it('batches stay below the size of a message', async () => {
    const rows = fixture.collection<{ _id: number; text: string }>();
    for (let i = 0; i < 5; i++) {
      await rows.insertOne({ _id: i, text: 'x'.repeat(7_000_000) });
    }
    const { cursor } = await runRaw(fixture.server.port, { find: rows.collectionName, $db: 'test' });
    expect(cursor.firstBatch).to.have.length(2);
    expect(await rows.find().toArray()).to.have.length(5);
  });

  it('wrong options are refused by the codes of MongoDB', async () => {
    const rows = await withRows(1);
    const code = async (options: object): Promise<unknown> =>
      (await runRaw(fixture.server.port, { find: rows.collectionName, ...options, $db: 'test' }))['code'];
    expect(await code({ filter: 'x' })).to.equal(14);
    expect(await code({ sort: 5 })).to.equal(14);
    expect(await code({ limit: 'x' })).to.equal(14);
    expect(await code({ limit: -1 })).to.equal(2);
    expect(await code({ skip: -1 })).to.equal(2);
    expect(await code({ batchSize: -1 })).to.equal(2);
    expect(await code({ unknown: 1 })).to.equal(40415);
    expect(await code({ sort: { a: 0 } })).to.equal(15975);
    expect(await code({ sort: { a: 'x' } })).to.equal(15974);
    expect(await code({ collation: { locale: 'en', strength: 2 } })).to.equal(115);
    expect(await code({ tailable: true })).to.equal(2);
    expect(await runRaw(fixture.server.port, { find: 'a$b', $db: 'test' })).to.include({ code: 73 });
    expect(await runRaw(fixture.server.port, { find: '', $db: 'test' })).to.include({ code: 73 });
    expect(await runRaw(fixture.server.port, { find: '.a', $db: 'test' })).to.include({ code: 73 });
    expect(await runRaw(fixture.server.port, { nonsense: 1, $db: 'test' })).to.include({ code: 59 });
  });

  it('a snapshot session reads one moment outside of transactions too', async () => {
    const rows = await withRows(3);
    await fixture.client.withSession({ snapshot: true }, async (session) => {
      expect(await rows.find({}, { session }).toArray()).to.have.length(3);
      await rows.deleteMany({});
      expect(await rows.find({}, { session }).toArray()).to.have.length(3);
      expect(await rows.distinct('_id', {}, { session })).to.deep.equal([0, 1, 2]);
    });
    expect(
      (await errorOf(rows.find({}, { readConcern: { level: 'nonsense' as never } }).toArray())).code,
    ).to.equal(9);
  });
});
