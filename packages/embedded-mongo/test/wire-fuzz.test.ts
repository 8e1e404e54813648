import { expect } from 'chai';
import { serialize, type Document } from 'bson';
import { startFixture, stopFixture, type Fixture } from './harness.js';
import { createRandom, type Random } from './random.js';
import { sizes } from './sizes.js';
import { message, newSessionId, openRaw, type RawConnection } from './raw-client.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
const MESSAGES = sizes.wireFuzz.messages;
const RSS_MB_MAX = 700;

describe('mutated messages', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  it(`neither stop the server nor exhaust its memory (${MESSAGES} messages, seed ${SEED})`, async function () {
    this.timeout(20_000 + MESSAGES * 10);
    const random = createRandom(SEED);
    const originals = samples();
    let connection: RawConnection | undefined;
    for (let i = 0; i < MESSAGES; i++) {
      if (connection === undefined || connection.socket.destroyed) {
        connection = await openRaw(fixture.server.port);
        connection.socket.on('error', () => undefined);
      }
      const isSent = connection.socket.write(mutate(random.pick(originals), random));
      if (!isSent || i % 50 === 49) {
        // Wait for replies and for connections that the server closes. A message that announces too
        // large a length keeps its connection open, so some connections are closed here.
        await fixture.db.command({ ping: 1 });
        if (random.int(0, 1) === 0) {
          connection.close();
        }
      }
    }
    connection?.close();
    expect(await fixture.db.command({ ping: 1 })).to.include({ ok: 1 });
    const { mem } = await fixture.db.admin().serverStatus();
    expect(mem.resident).to.be.lessThan(RSS_MB_MAX);
    expect(fixture.server.process.exitCode).to.equal(null);
    const rows = fixture.collection<{ _id: number }>();
    await rows.insertOne({ _id: 1 });
    expect(await rows.findOne({ _id: 1 }), 'the server still works').to.deep.equal({ _id: 1 });
  });
});

/** Returns messages like those that drivers send. */
function samples(): Buffer[] {
  const lsid = newSessionId();
  const commands: Document[] = [
    { hello: 1, helloOk: true, client: { driver: { name: 'x', version: '1' } } },
    { ping: 1 },
    { insert: 'fuzz', documents: [{ a: 1, b: { c: [1, 'x', null, new Date(0)] } }], ordered: true },
    {
      find: 'fuzz',
      filter: { a: { $gt: 1, $in: [1, 2] }, $or: [{ b: 1 }, { c: /x/ }] },
      sort: { a: -1 },
      limit: 5,
    },
    {
      update: 'fuzz',
      updates: [{ q: { a: 1 }, u: { $inc: { a: 1 }, $push: { list: { $each: [1, 2] } } }, upsert: true }],
    },
    { delete: 'fuzz', deletes: [{ q: { a: { $lt: 0 } }, limit: 0 }] },
    { findAndModify: 'fuzz', query: { a: 1 }, update: [{ $set: { n: { $add: ['$a', 1] } } }], new: true },
    {
      aggregate: 'fuzz',
      pipeline: [{ $match: { a: 1 } }, { $group: { _id: '$b', n: { $sum: 1 } } }],
      cursor: {},
    },
    { createIndexes: 'fuzz', indexes: [{ key: { a: 1 }, name: 'a_1', unique: false }] },
    { getMore: 5n, collection: 'fuzz' },
    { insert: 'fuzz', documents: [{}], lsid, txnNumber: 1n, autocommit: false, startTransaction: true },
    { commitTransaction: 1, lsid, txnNumber: 1n, autocommit: false },
    { listCollections: 1, cursor: {} },
    { explain: { find: 'fuzz', filter: {} } },
  ];
  const sequence = Buffer.concat([Buffer.from('documents\0'), serialize({ _id: 'sequence' })]);
  const head = Buffer.alloc(5);
  head[0] = 1;
  head.writeInt32LE(4 + sequence.length, 1);
  const withSequence = Buffer.concat([message({ insert: 'fuzz', $db: 'fuzz' }), head, sequence]);
  withSequence.writeInt32LE(withSequence.length, 0);
  return [...commands.map((command) => message({ ...command, $db: 'fuzz' })), withSequence];
}

function mutate(original: Buffer, random: Random): Buffer {
  let bytes = Buffer.from(original);
  for (let i = random.int(1, 4); i > 0; i--) {
    const at = random.int(0, bytes.length - 1);
    switch (random.int(0, 5)) {
      case 0:
        bytes[at] = random.int(0, 255);
        break;
      case 1:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random.int(0, 7));
        break;
      case 2:
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          bytes.subarray(Math.min(bytes.length, at + random.int(1, 9))),
        ]);
        break;
      case 3:
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          Buffer.alloc(random.int(1, 9), random.int(0, 255)),
          bytes.subarray(at),
        ]);
        break;
      case 4:
        if (at + 4 <= bytes.length) {
          bytes.writeInt32LE(random.pick([0, -1, 1, 0x7fffffff, bytes.length, 5, 65_536]), at);
        }
        break;
      default:
        bytes = bytes.subarray(0, at + 1);
    }
    if (bytes.length === 0) {
      return Buffer.from([0]);
    }
  }
  if (random.int(0, 3) > 0 && bytes.length >= 4) {
    // Most messages get the correct length. Otherwise the parser would never see their content.
    bytes.writeInt32LE(bytes.length, 0);
  }
  return bytes;
}
