import { expect } from 'chai';
import { calculateObjectSize, serialize, type Document } from 'bson';
import { errorOf, startFixture, stopFixture, type Fixture } from './harness.js';
import { message, openRaw, replyOf, runRaw, type RawConnection } from './raw-client.js';

describe('the wire protocol', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture();
  });
  after(() => stopFixture(fixture));

  /** Sends bytes. The server must close this connection and still serve others. */
  async function expectClosed(bytes: Buffer): Promise<void> {
    const connection = await openRaw(fixture.server.port);
    connection.socket.write(bytes);
    await connection.closed;
    expect(await fixture.db.command({ ping: 1 })).to.include({ ok: 1 });
  }

  function copyWithChange(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
    const copy = Buffer.from(bytes);
    change(copy);
    return copy;
  }

  /** Builds an OP_MSG message with a body and document sequences. */
  function withSections(body: Document, sequences: [string, Buffer[]][]): Buffer {
    const parts = sequences.map(([name, documents]) => {
      const content = Buffer.concat([Buffer.from(`${name}\0`), ...documents]);
      const head = Buffer.alloc(5);
      head[0] = 1;
      head.writeInt32LE(4 + content.length, 1);
      return Buffer.concat([head, content]);
    });
    const whole = Buffer.concat([message(body), ...parts]);
    whole.writeInt32LE(whole.length, 0);
    return whole;
  }

  it('a malformed message closes its connection and nothing else', async () => {
    const ping = message({ ping: 1, $db: 'admin' });
    await expectClosed(copyWithChange(ping, (copy) => copy.writeInt32LE(15, 0)));
    await expectClosed(copyWithChange(ping, (copy) => copy.writeInt32LE(-1, 0)));
    await expectClosed(copyWithChange(ping, (copy) => copy.writeInt32LE(48_000_001, 0)));
    await expectClosed(copyWithChange(ping, (copy) => copy.writeInt32LE(2012, 12)));
    await expectClosed(copyWithChange(ping, (copy) => copy.writeUInt32LE(4, 16)));
    await expectClosed(copyWithChange(ping, (copy) => copy.writeUInt8(7, 20)));
    await expectClosed(copyWithChange(ping, (copy) => copy.writeInt32LE(9999, 21)));
    await expectClosed(copyWithChange(ping, (copy) => copy.writeUInt8(0x6b, 25)));
    await expectClosed(withSections({ insert: 'a', $db: 'test', documents: [] }, [['documents', []]]));
    await expectClosed(Buffer.concat([ping.subarray(0, 12), Buffer.alloc(300, 255)]));
  });

  it('document sequences and several messages in one packet get their replies', async () => {
    const documents = [{ _id: 1 }, { _id: 2 }].map((document) => Buffer.from(serialize(document)));
    const insert = withSections({ insert: 'sequences', $db: 'test' }, [['documents', documents]]);
    const count = message({ count: 'sequences', $db: 'test' });
    const connection = await openRaw(fixture.server.port);
    connection.socket.write(Buffer.concat([insert, count, insert]));
    expect(replyOf(await connection.read())).to.include({ ok: 1, n: 2 });
    expect(replyOf(await connection.read())).to.include({ ok: 1, n: 2 });
    expect(replyOf(await connection.read()))
      .to.include({ ok: 1, n: 0 })
      .and.to.have.property('writeErrors');
    for (const byte of count) {
      connection.socket.write(Buffer.from([byte]));
    }
    expect(replyOf(await connection.read())).to.include({ n: 2 });
    connection.close();
  });

  it('a message with a checksum, which no driver sends, is refused', async () => {
    await expectClosed(message({ ping: 1, $db: 'admin' }, 1));
  });

  it('a message with moreToCome gets no reply', async () => {
    const connection = await openRaw(fixture.server.port);
    connection.socket.write(message({ insert: 'silent', documents: [{ _id: 1 }], $db: 'test' }, 2));
    expect(await connection.run({ count: 'silent', $db: 'test' })).to.include({ n: 1 });
    connection.close();
  });

  it('the legacy handshake gets a legacy reply', async () => {
    const query = serialize({ ismaster: 1, helloOk: true });
    const head = Buffer.alloc(16 + 4 + 'admin.$cmd\0'.length + 8);
    head.writeInt32LE(head.length + query.length, 0);
    head.writeInt32LE(77, 4);
    head.writeInt32LE(2004, 12);
    head.write('admin.$cmd\0', 20, 'latin1');
    head.writeInt32LE(-1, head.length - 4);
    const connection = await openRaw(fixture.server.port);
    connection.socket.write(Buffer.concat([head, query]));
    const reply = await connection.read();
    expect(reply.readInt32LE(8)).to.equal(77);
    expect(reply.readInt32LE(12)).to.equal(1);
    expect(replyOf(reply.subarray(15))).to.deep.include({
      ismaster: true,
      helloOk: true,
      setName: 'rs0',
      hosts: [`127.0.0.1:${fixture.server.port}`],
      maxWireVersion: 21,
    });
    connection.close();
  });

  it('an awaitable hello gets its reply after the wait time, repeatedly if allowed', async () => {
    const connection = await openRaw(fixture.server.port);
    const { topologyVersion } = await connection.run({ hello: 1, $db: 'admin' });
    const awaitable = { hello: 1, topologyVersion, maxAwaitTimeMS: 30, $db: 'admin' };
    const startedAt = performance.now();
    expect(await connection.run(awaitable)).to.include({ isWritablePrimary: true });
    expect(performance.now() - startedAt).to.be.at.least(28);
    connection.socket.write(message(awaitable, 0x10000));
    const first = await connection.read();
    const second = await connection.read();
    expect(first.readUInt32LE(16) & 2, 'moreToCome').to.equal(2);
    expect(second.readInt32LE(8), 'responds to the previous reply').to.equal(first.readInt32LE(4));
    connection.close();
  });

  it('serverStatus counts calls and failures of existing commands', async () => {
    const counts = async (): Promise<Record<string, { total: number; failed: number }>> =>
      (await runRaw(fixture.server.port, { serverStatus: 1, $db: 'admin' }))['metrics'].commands;
    const before = await counts();
    await runRaw(fixture.server.port, { distinct: 'counted', key: 'a', $db: 'test' });
    await runRaw(fixture.server.port, { distinct: 'counted', $db: 'test' });
    await runRaw(fixture.server.port, { noSuchCommand: 1, $db: 'test' });
    const after = await counts();
    expect(after['distinct']?.total).to.equal((before['distinct']?.total ?? 0) + 2);
    expect(after['distinct']?.failed).to.equal((before['distinct']?.failed ?? 0) + 1);
    expect(after).not.to.have.property('noSuchCommand');
  });

  it('documents over 16 MB, nesting over 100 and messages over 48 MB are refused', async () => {
    const rows = fixture.collection();
    const room = 16 * 1024 * 1024 - calculateObjectSize({ _id: 1, text: '' });
    const tooLarge = await runRaw(fixture.server.port, {
      insert: rows.collectionName,
      documents: [{ _id: 1, text: 'x'.repeat(room + 1) }],
      $db: 'test',
    });
    expect(tooLarge['writeErrors'][0].code).to.equal(10334);
    expect((await rows.insertOne({ _id: 1 as never, text: 'x'.repeat(room) })).acknowledged).to.equal(true);
    expect((await errorOf(rows.updateOne({ _id: 1 as never }, { $set: { more: 1 } }))).code).to.equal(10334);
    const nested = (levels: number): Document => {
      let document: Document = {};
      for (let i = 1; i < levels; i++) {
        document = { a: document };
      }
      return document;
    };
    expect((await rows.insertOne(nested(100))).acknowledged).to.equal(true);
    expect((await errorOf(rows.insertOne(nested(101)))).code).to.equal(15);
    expect(await rows.countDocuments()).to.equal(2);
  });

  it('replies have the time of the newest change, which never decreases', async () => {
    const connection: RawConnection = await openRaw(fixture.server.port);
    const timeOf = async (command: Document): Promise<bigint> => {
      const reply = await connection.run({ ...command, $db: 'test' });
      expect(reply['$clusterTime'].clusterTime.equals(reply['operationTime'])).to.equal(true);
      return reply['operationTime'].toBigInt() as bigint;
    };
    const before = await timeOf({ ping: 1 });
    expect(await timeOf({ ping: 1 })).to.equal(before);
    const after = await timeOf({ insert: 'times', documents: [{}] });
    expect(after > before).to.equal(true);
    connection.close();
  });
});
