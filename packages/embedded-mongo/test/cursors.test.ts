import { expect } from 'chai';
import type { Collection } from 'mongodb';
import {
  describeOnServers,
  errorOf,
  eventually,
  startFixture,
  startTestServer,
  stopFixture,
  type Connected,
  type Fixture,
} from './harness.js';
import { runRaw } from './raw-client.js';

async function rowsIn({ collection }: Connected, count: number): Promise<Collection<{ _id: number }>> {
  const rows = collection<{ _id: number }>();
  await rows.insertMany(Array.from({ length: count }, (_, i) => ({ _id: i })));
  return rows;
}

describe('cursors', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  const withRows = (count: number): ReturnType<typeof rowsIn> => rowsIn(fixture, count);

  it('return 101 documents first, then the requested number, and each document once', async () => {
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

  it('of pipelines read lazily unless a stage needs all documents first', async () => {
    const rows = await withRows(300);
    const open = async (pipeline: object[]) => {
      const cursor = rows.aggregate<{ _id: number; is?: boolean }>(pipeline, { batchSize: 2 });
      await cursor.next();
      return cursor;
    };
    const streamed = await open([{ $match: { _id: { $gte: 0 } } }, { $addFields: { is: true } }]);
    const grouped = await open([{ $group: { _id: '$_id' } }]);
    await rows.deleteMany({ _id: { $lt: 290 } });
    expect((await streamed.toArray()).length, 'streamed').to.be.within(10, 200);
    expect(await grouped.toArray(), 'grouped').to.have.length(299);
  });

  it('end only after a batch finds no more documents', async () => {
    const rows = await withRows(2);
    const open = async (options: object): Promise<number> => {
      const { cursor } = await runRaw(fixture.server.port, {
        find: rows.collectionName,
        batchSize: 2,
        ...options,
        $db: 'test',
      });
      expect(cursor.firstBatch).to.have.length(2);
      return Number(cursor.id);
    };
    expect(await open({}), 'exactly one batch').to.be.greaterThan(0);
    expect(await open({ limit: 2 }), 'with a limit').to.equal(0);
    expect(await open({ filter: { _id: { $gte: 0 } }, batchSize: 3 }), 'less than one batch').to.equal(0);
  });

  it('fail with 175 if their collection or index is dropped', async () => {
    const rows = fixture.collection<{ _id: number; n: number }>();
    const fill = async () => {
      await rows.insertMany([1, 2, 3, 4].map((_id) => ({ _id, n: _id })));
      await rows.createIndexes([{ key: { n: 1 } }]);
    };
    await fill();
    const indexed = rows.find({ n: { $gt: 0 } }, { batchSize: 1 });
    await indexed.next();
    await rows.dropIndex('n_1');
    expect((await errorOf(indexed.toArray())).code).to.equal(175);
    const scanned = rows.find({}, { batchSize: 1 });
    await scanned.next();
    await rows.drop();
    await fill();
    expect((await errorOf(scanned.toArray())).code).to.equal(175);
  });

  it('start empty with batch size 0 and close after a single batch', async () => {
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

  it('fail with 43 if killed, timed out or unknown', async () => {
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

  it('limit batches to the message size', async () => {
    const rows = fixture.collection<{ _id: number; text: string }>();
    for (let i = 0; i < 5; i++) {
      await rows.insertOne({ _id: i, text: 'x'.repeat(7_000_000) });
    }
    const { cursor } = await runRaw(fixture.server.port, { find: rows.collectionName, $db: 'test' });
    expect(cursor.firstBatch).to.have.length(2);
    expect(await rows.find().toArray()).to.have.length(5);
  });

  it('refuse invalid options with MongoDB error codes', async () => {
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

  it('refuse an unknown read concern with error 9', async () => {
    const rows = await withRows(1);
    expect(
      (await errorOf(rows.find({}, { readConcern: { level: 'nonsense' as never } }).toArray())).code,
    ).to.equal(9);
  });
});

// The embedded server reads only as many documents as a batch needs, like MongoDB.
describeOnServers('cursors while documents change', (connected) => {
  it('are not a snapshot: each batch returns the current documents', async () => {
    const rows = await rowsIn(connected(), 20);
    for (const read of [
      () => rows.find({}, { batchSize: 5 }),
      () => rows.find({ _id: { $gte: 0 } }, { batchSize: 5 }),
    ]) {
      await rows.deleteMany({});
      await rows.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: i })));
      const cursor = read();
      await cursor.next();
      await rows.updateMany({}, { $set: { changed: true } });
      await rows.deleteMany({ _id: { $gt: 10 } });
      await rows.insertOne({ _id: 99 });
      expect(await cursor.toArray()).to.deep.equal([
        ...[1, 2, 3, 4].map((_id) => ({ _id })),
        ...[5, 6, 7, 8, 9, 10].map((_id) => ({ _id, changed: true })),
        { _id: 99 },
      ]);
    }
  });

  it('miss or repeat a document that moves in their index', async () => {
    const rows = connected().collection<{ _id: number; place: number }>();
    await rows.createIndexes([{ key: { place: 1 } }]);
    const placed = async (order: 1 | -1, from: number, to: number): Promise<number[]> => {
      await rows.deleteMany({});
      await rows.insertMany([1, 2, 3, 4, 5, 6].map((_id) => ({ _id, place: _id * 10 })));
      const cursor = rows.find({ place: { $gt: 0 } }, { batchSize: 2 }).sort({ place: order });
      const seen = [(await cursor.next())?._id ?? 0];
      await rows.updateOne({ place: from }, { $set: { place: to } });
      return [...seen, ...(await cursor.toArray()).map(({ _id }) => _id)];
    };
    expect(await placed(1, 10, 45), 'moved ahead: twice').to.deep.equal([1, 2, 3, 4, 1, 5, 6]);
    expect(await placed(1, 50, 5), 'moved behind: missed').to.deep.equal([1, 2, 3, 4, 6]);
    expect(await placed(-1, 60, 25), 'moved ahead, backwards').to.deep.equal([6, 5, 4, 3, 6, 2, 1]);
    expect(await placed(-1, 20, 65), 'moved behind, backwards').to.deep.equal([6, 5, 4, 3, 1]);
  });

  it('continue after all documents read so far are deleted', async () => {
    const rows = await rowsIn(connected(), 1000);
    for (const order of [1, -1] as const) {
      await rows.deleteMany({});
      await rows.insertMany(Array.from({ length: 1000 }, (_, i) => ({ _id: i })));
      const cursor = rows.find({}, { batchSize: 500 }).sort({ _id: order });
      await cursor.next();
      await rows.deleteMany({ _id: order === 1 ? { $lt: 600 } : { $gte: 400 } });
      expect(await cursor.toArray()).to.have.length(499 + 400);
    }
  });

  it('read all documents for the first batch if they sort without an index', async () => {
    const rows = connected().collection<{ _id: number; n: number }>();
    await rows.insertMany([1, 2, 3, 4, 5].map((_id) => ({ _id, n: -_id })));
    const cursor = rows.find({}, { batchSize: 2 }).sort({ n: 1 });
    await cursor.next();
    await rows.deleteMany({});
    expect((await cursor.toArray()).map(({ _id }) => _id)).to.deep.equal([4, 3, 2, 1]);
  });

  it('let other commands run within a batch', async () => {
    const rows = connected().collection<{ _id: number; n: number }>();
    const last = 20_000;
    await rows.insertMany(Array.from({ length: last + 1 }, (_, _id) => ({ _id, n: 0 })));
    // Each update changes the first and the last document. In a snapshot, both always have the same
    // value.
    let isReading = true;
    const change = async (): Promise<void> => {
      while (isReading) {
        await rows.updateMany({ _id: { $in: [0, last] } }, { $inc: { n: 1 } });
      }
    };
    const changes = change();
    await eventually(async () => {
      const found = await rows.find({}, { batchSize: last * 2 }).toArray();
      return found[0]?.n !== found[last]?.n;
    }, 20_000);
    isReading = false;
    await changes;
  });

  it('read one snapshot in a snapshot session, without a transaction', async () => {
    const rows = await rowsIn(connected(), 3);
    await connected().client.withSession({ snapshot: true }, async (session) => {
      expect(await rows.find({}, { session }).toArray()).to.have.length(3);
      await rows.deleteMany({});
      expect(await rows.find({}, { session }).toArray()).to.have.length(3);
      expect(await rows.distinct('_id', {}, { session })).to.deep.equal([0, 1, 2]);
    });
  });
});
