import { expect } from 'chai';
import { Decimal128, Double, Long, type Collection, type Document } from 'mongodb';
import { errorOf, eventually, startFixture, startTestServer, stopFixture, type Fixture } from './harness.js';
import { runRaw } from './raw-client.js';

describe('indexes', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  async function createIndexedCollection(key: Document, options: Document = {}): Promise<Collection> {
    const collection = fixture.collection();
    await collection.createIndex(key, options, {});
    return collection;
  }

  /** Returns the error code of `createIndexes` for these specifications. Zero means success. */
  async function getCreateIndexCode(collection: Collection, ...indexes: Document[]): Promise<number> {
    const reply = await runRaw(fixture.server.port, {
      createIndexes: collection.collectionName,
      indexes,
      $db: 'test',
    });
    return Number(reply['code'] ?? 0);
  }

  async function duplicateOf(collection: Collection, document: Document): Promise<Document> {
    const error = await errorOf(collection.insertOne(document));
    expect(error.code).to.equal(11000);
    return error;
  }

  describe('a duplicate key', () => {
    it('is an error with index, pattern and key, for every kind of write', async () => {
      const users = await createIndexedCollection({ email: 1 }, { unique: true });
      await users.insertMany([
        { _id: 1 as never, email: 'a@x' },
        { _id: 2 as never, email: 'b@x' },
      ]);
      const attempts = [
        () => users.insertOne({ email: 'a@x' }),
        () => users.updateOne({ _id: 2 as never }, { $set: { email: 'a@x' } }),
        () => users.replaceOne({ _id: 3 as never }, { email: 'a@x' }, { upsert: true }),
        () => users.findOneAndUpdate({ _id: 2 as never }, { $set: { email: 'a@x' } }),
      ];
      for (const attempt of attempts) {
        const error = await errorOf(attempt());
        expect(error).to.deep.include({ code: 11000, keyPattern: { email: 1 }, keyValue: { email: 'a@x' } });
        expect(error.message).to.contain(
          `E11000 duplicate key error collection: ${users.namespace} index: email_1 dup key: { email: "a@x" }`,
        );
      }
    });

    it('is detected across number types, and keyValue is the key as sent', async () => {
      const numbers = await createIndexedCollection({ n: 1 }, { unique: true });
      await numbers.insertOne({ n: 1 });
      for (const n of [Long.fromNumber(1), new Double(1), Decimal128.fromString('1.0')]) {
        const reply = await runRaw(fixture.server.port, {
          insert: numbers.collectionName,
          documents: [{ n }],
          $db: 'test',
        });
        expect(reply['writeErrors'][0]).to.include({ code: 11000 });
        expect(String(reply['writeErrors'][0].keyValue.n)).to.equal(String(n));
      }
    });

    it('is also reported for null beside a missing field', async () => {
      const rows = await createIndexedCollection({ u: 1 }, { unique: true });
      await rows.insertOne({});
      expect((await duplicateOf(rows, { u: null }))['keyValue']).to.deep.equal({ u: null });
      expect((await duplicateOf(rows, {}))['keyValue']).to.deep.equal({ u: null });
    });

    it('of an empty array collides with other empty arrays but not with null', async () => {
      const rows = await createIndexedCollection({ u: 1 }, { unique: true });
      await rows.insertOne({});
      await rows.insertOne({ u: [] });
      expect((await duplicateOf(rows, { u: [] }))['keyValue']).to.have.property('u');
    });

    it('in an array is the colliding element; equal elements of one document are fine', async () => {
      const rows = await createIndexedCollection({ tags: 1 }, { unique: true });
      await rows.insertOne({ tags: ['x', 'x', 'y'] });
      expect((await duplicateOf(rows, { tags: ['a', 'y'] }))['keyValue']).to.deep.equal({ tags: 'y' });
    });

    it('can be any key of several subdocuments, null for one without the field', async () => {
      const rows = await createIndexedCollection({ 'items.k': 1 }, { unique: true });
      await rows.insertOne({ items: [{ k: '' }, {}] });
      expect((await duplicateOf(rows, { items: [{ k: '' }] }))['keyValue']).to.deep.equal({ 'items.k': '' });
      expect((await duplicateOf(rows, {}))['keyValue']).to.deep.equal({ 'items.k': null });
    });

    it('is checked on _id first, then by index in creation order', async () => {
      const rows = await createIndexedCollection({ b: 1 }, { unique: true });
      await rows.createIndex({ a: 1 }, { unique: true }, {});
      await rows.insertOne({ _id: 1 as never, a: 1, b: 1 });
      expect((await duplicateOf(rows, { _id: 1, a: 1, b: 1 }))['keyPattern']).to.deep.equal({ _id: 1 });
      expect((await duplicateOf(rows, { a: 1, b: 1 }))['keyPattern']).to.deep.equal({ b: 1 });
      expect((await duplicateOf(rows, { a: 1, b: 2 }))['keyPattern']).to.deep.equal({ a: 1 });
    });

    it('in a partial index counts only for documents that match its filter', async () => {
      const rows = await createIndexedCollection(
        { ref: 1 },
        { unique: true, partialFilterExpression: { status: 'paid' } },
      );
      await rows.insertMany([
        { _id: 1 as never, ref: 'R', status: 'pending' },
        { _id: 2 as never, ref: 'R', status: 'pending' },
        { _id: 3 as never, ref: 'R', status: 'paid' },
      ]);
      await duplicateOf(rows, { ref: 'R', status: 'paid' });
      expect(
        (await errorOf(rows.updateOne({ _id: 1 as never }, { $set: { status: 'paid' } }))).code,
      ).to.equal(11000);
      const upsert = rows.updateOne(
        { _id: 9 as never },
        { $set: { ref: 'R', status: 'paid' } },
        { upsert: true },
      );
      expect((await errorOf(upsert)).code).to.equal(11000);
      await rows.updateOne({ _id: 3 as never }, { $set: { status: 'refunded' } });
      expect(
        (await rows.updateOne({ _id: 1 as never }, { $set: { status: 'paid' } })).modifiedCount,
      ).to.equal(1);
    });

    it('among existing documents prevents a unique index', async () => {
      const rows = fixture.collection();
      await rows.insertMany([{ a: 1 }, { a: new Double(1) }]);
      expect((await errorOf(rows.createIndex({ a: 1 }, { unique: true }, {}))).code).to.equal(11000);
      expect(await rows.indexes()).to.have.length(1);
    });
  });

  it('a sparse index excludes documents without the field but includes null', async () => {
    const rows = await createIndexedCollection({ u: 1 }, { unique: true, sparse: true });
    await rows.insertMany([{}, {}, { u: null }]);
    await duplicateOf(rows, { u: null });
    expect(await rows.find({}).sort({ u: 1 }).toArray(), 'a sort returns all documents').to.have.length(3);
    expect(await rows.find({ u: null }).toArray()).to.have.length(3);
    expect(await rows.find({}).hint('u_1').toArray(), 'a hint uses it').to.have.length(1);
  });

  it('two arrays in one compound index are refused on write and on build', async () => {
    const rows = await createIndexedCollection({ a: 1, b: 1 });
    expect((await errorOf(rows.insertOne({ a: [1], b: [2] }))).code).to.equal(171);
    const other = fixture.collection();
    await other.insertOne({ a: [1], b: [2] });
    expect((await errorOf(other.createIndex({ a: 1, b: 1 }, {}, {}))).code).to.equal(171);
    const below = await createIndexedCollection({ 'items.a': 1, 'items.b': 1 }, { unique: true });
    await below.insertOne({
      items: [
        { a: 1, b: 1 },
        { a: 2, b: 2 },
      ],
    });
    await below.insertOne({ items: [{ a: 1, b: 2 }] });
    await duplicateOf(below, { items: [{ a: 2, b: 2 }] });
  });

  it('createIndexes refuses invalid indexes with MongoDB error codes', async () => {
    const rows = fixture.collection();
    const named = (spec: Document): Document => ({ key: { a: 1 }, name: 'n', ...spec });
    expect(await getCreateIndexCode(rows)).to.equal(2);
    expect(await getCreateIndexCode(rows, { key: { a: 1 } })).to.equal(9);
    expect(await getCreateIndexCode(rows, named({ name: '*' }))).to.equal(2);
    for (const spec of [
      { name: '' },
      { key: {} },
      { key: { a: 0 } },
      { key: { a: true } },
      { key: { a: 'other' } },
      { key: { 'a..b': 1 } },
      { key: { $a: 1 } },
      { key: { a: 1, b: 1 }, expireAfterSeconds: 1 },
      { expireAfterSeconds: -1 },
      { expireAfterSeconds: 'soon' },
      { sparse: true, partialFilterExpression: { a: 1 } },
      { partialFilterExpression: { a: { $ne: 1 } } },
      { partialFilterExpression: { a: { $not: { $gt: 1 } } } },
      { collation: { locale: 'en' } },
    ]) {
      expect(await getCreateIndexCode(rows, named(spec)), JSON.stringify(spec)).to.equal(67);
    }
    expect(await getCreateIndexCode(rows, named({ unique: 'yes' }))).to.equal(14);
    expect(await getCreateIndexCode(rows, named({ partialFilterExpression: 5 }))).to.equal(14);
    expect(await getCreateIndexCode(rows, named({ key: 'a' }))).to.equal(14);
    expect(await getCreateIndexCode(rows, named({ whatever: 1 }))).to.equal(197);
    expect(await getCreateIndexCode(rows, { key: { _id: 1 }, name: '_id_', unique: true })).to.equal(197);
    expect(await getCreateIndexCode(rows, { key: { _id: -1 }, name: 'x' })).to.equal(2);
    expect(
      await getCreateIndexCode(rows, named({ key: { a: 1.5 } }), { key: { b: -3 }, name: 'm' }),
    ).to.equal(0);
  });

  it('creating an existing index succeeds; a conflicting index is an error', async () => {
    const rows = await createIndexedCollection({ a: 1 }, { name: 'n', expireAfterSeconds: 10 });
    const base = { key: { a: 1 }, name: 'n', expireAfterSeconds: 10 };
    expect(await getCreateIndexCode(rows, base)).to.equal(0);
    expect(await getCreateIndexCode(rows, { ...base, key: { b: 1 } })).to.equal(86);
    expect(await getCreateIndexCode(rows, { ...base, unique: true })).to.equal(86);
    expect(await getCreateIndexCode(rows, { ...base, sparse: true })).to.equal(86);
    expect(await getCreateIndexCode(rows, { ...base, expireAfterSeconds: 20 })).to.equal(85);
    expect(await getCreateIndexCode(rows, { ...base, name: 'other' })).to.equal(85);
    expect(await getCreateIndexCode(rows, { ...base, name: 'unique', unique: true })).to.equal(0);
    expect(
      await getCreateIndexCode(rows, { key: { a: 1 }, name: 'part', partialFilterExpression: { b: 1 } }),
    ).to.equal(0);
  });

  it('dropIndexes drops by name, key, list and *, but never the _id index', async () => {
    const rows = await createIndexedCollection({ a: 1 });
    const drop = async (index: unknown): Promise<number> =>
      Number(
        (await runRaw(fixture.server.port, { dropIndexes: rows.collectionName, index, $db: 'test' }))[
          'code'
        ] ?? 0,
      );
    expect(await drop('_id_')).to.equal(72);
    expect(await drop({ _id: 1 })).to.equal(72);
    expect(await drop('none')).to.equal(27);
    expect(await drop(5)).to.equal(14);
    expect(await drop([])).to.equal(0);
    expect(await rows.indexes()).to.have.length(2);
    expect(await drop({ a: 1 })).to.equal(0);
    await rows.createIndexes([{ key: { b: 1 } }, { key: { c: 1 } }, { key: { d: 1 } }]);
    expect(await drop(['b_1'])).to.equal(0);
    expect(await drop('*')).to.equal(0);
    expect((await rows.indexes()).map(({ name }) => name)).to.deep.equal(['_id_']);
  });

  it('a TTL index deletes only documents older than its limit', async function () {
    const server = await startTestServer();
    await runRaw(server.port, { setParameter: 1, ttlMonitorSleepSecs: 1, $db: 'admin' });
    const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1000);
    const documents = [
      { _id: 'old', at: ago(100), ttl: true },
      { _id: 'new', at: ago(1), ttl: true },
      { _id: 'none', ttl: true },
      { _id: 'number', at: 5, ttl: true },
      { _id: 'oldest counts', at: [new Date(), ago(100)], ttl: true },
      { _id: 'outside of the partial filter', at: ago(100) },
    ];
    await runRaw(server.port, { insert: 'ttl', documents, $db: 'test' });
    const index = {
      key: { at: -1 },
      name: 'at',
      expireAfterSeconds: 50,
      partialFilterExpression: { ttl: true },
    };
    await runRaw(server.port, { createIndexes: 'ttl', indexes: [index], $db: 'test' });
    const ids = async (): Promise<string[]> => {
      const { cursor } = await runRaw(server.port, { find: 'ttl', $db: 'test' });
      return cursor.firstBatch.map(({ _id }: Document) => String(_id));
    };
    await eventually(async () => (await ids()).length === 4, 8000);
    expect(await ids()).to.deep.equal(['new', 'none', 'number', 'outside of the partial filter']);
    await server.stop();
  });
});
