import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { MongoClient, type Collection, type Document } from 'mongodb';
import { buildBatchReader, createKeyedStream } from '../../src/reconciliation/ledger/keyed-stream.js';
import { seededRandom } from '../support/random.js';
import { eventually } from '../support/eventually.js';

const random = seededRandom();

describe(`a stream of documents by key (${random.seed})`, () => {
  let client: MongoClient;
  let rows: Collection;

  before(async () => {
    client = await new MongoClient(process.env['MONGODB_URI'] ?? '').connect();
    rows = client.db(`test_${randomUUID().slice(0, 8)}`).collection('rows');
    await rows.createIndex({ key: 1 }, {}, {});
  });
  afterEach(() => rows.deleteMany({}));
  after(async () => {
    await client.db(rows.dbName).dropDatabase();
    await client.close();
  });

  /** Reads all groups, and the ids of the documents whose key is not a string. */
  async function readAll(batchSize: number) {
    const oddOnes = new Set<unknown>();
    const groups: [string, number][] = [];
    const keyOf = ({ key }: Document) => (typeof key === 'string' ? key : null);
    const stream = createKeyedStream({
      readBatch: buildBatchReader(rows, 'key', { fields: { key: 1 } }),
      keyOf,
      positionOf: (document) => keyOf(document) ?? '',
      onOdd: ({ _id }) => oddOnes.add(_id),
      batchSize,
    });
    for (;;) {
      if (stream.isEmpty()) {
        await stream.fill();
      }
      const key = stream.head();
      if (key === null) {
        return { groups, oddOnes: [...oddOnes] };
      }
      groups.push([key, stream.take(key).length]);
    }
  }

  it('returns each key once with all its documents, wherever a batch ends', async () => {
    const expected = Array.from({ length: 60 }, (_, index): [string, number] => [
      `k${String(index).padStart(3, '0')}`,
      1 + Math.floor(random() * 9),
    ]);
    const documents = expected.flatMap(([key, times]) => Array.from({ length: times }, () => ({ key })));
    await rows.insertMany(documents.sort(() => random() - 0.5));
    for (const batchSize of [1, 2, 3, 7, 50, documents.length, documents.length + 1]) {
      expect((await readAll(batchSize)).groups, `batches of ${batchSize}`).to.deep.equal(expected);
    }
  });

  it('continues after a key that is not a string, and reports it among strings', async () => {
    await rows.insertMany([
      { _id: 'null' as never, key: null },
      { _id: 'number' as never, key: 7 },
      { _id: 'none' as never },
      { key: 'a' },
      { _id: 'array' as never, key: ['b', 'c'] },
      { key: 'd' },
      { key: 'd' },
      { _id: 'object' as never, key: { id: 'a' } },
    ]);
    for (const batchSize of [1, 2, 100]) {
      const { groups, oddOnes } = await readAll(batchSize);
      expect(groups).to.deep.equal([
        ['a', 1],
        ['d', 2],
      ]);
      expect(oddOnes).to.deep.equal(['array']);
    }
  });

  it('keeps no cursor open between two batches', async () => {
    await rows.insertMany(Array.from({ length: 50 }, (_, index) => ({ key: `k${index + 100}` })));
    const before = await openCursors();
    const stream = createKeyedStream({
      readBatch: buildBatchReader(rows, 'key', { fields: { key: 1 } }),
      keyOf: ({ key }) => String(key),
      positionOf: ({ key }) => String(key),
      batchSize: 10,
    });
    await stream.fill();
    expect(stream.head()).to.equal('k100');
    // The server is shared with other tests, so compare with the number before.
    await eventually('no cursor is open', async () => (await openCursors()) <= before);
  });

  async function openCursors(): Promise<number> {
    const status = await client.db('admin').command({ serverStatus: 1 });
    return Number((status['metrics'] as Document)['cursor'].open.total);
  }
});
