import { once } from 'node:events';
import { copyFile, cp, mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { start } from '../src/index.js';
import { cleanUp, errorOf, eventually, newDirectory, startTestServer, StartFailure } from './harness.js';
import { createRandom } from './random.js';
import { sizes } from './sizes.js';

const SEED = Number(process.env['TEAR_SEED'] ?? Date.now() % 1_000_000);

describe('the data directory', () => {
  after(cleanUp);

  async function withClient<T>(
    { uri }: { uri: string },
    run: (client: MongoClient) => Promise<T>,
  ): Promise<T> {
    const client = new MongoClient(uri, { serverSelectionTimeoutMS: 3000 });
    try {
      return await run(client);
    } finally {
      await client.close(true);
    }
  }

  async function startFailure(options: Parameters<typeof startTestServer>[0]): Promise<StartFailure> {
    try {
      const server = await startTestServer(options);
      await server.kill9();
    } catch (error) {
      if (error instanceof StartFailure) {
        return error;
      }
      throw error;
    }
    throw new Error('the server should not have started');
  }

  async function newestJournal(directory: string): Promise<string> {
    const names = (await readdir(directory)).filter((name) => name.startsWith('journal.'));
    return join(directory, names.sort((a, b) => Number(a.slice(8)) - Number(b.slice(8))).at(-1) ?? '');
  }

  /**
   * Runs a server in this process. Copies of the directory that are made meanwhile look like a
   * directory after a crash.
   */
  async function withServer<T>(dbPath: string, run: (client: MongoClient) => Promise<T>): Promise<T> {
    const server = await start({ dbPath, fsync: false });
    return withClient(server, run).finally(server.stop);
  }

  async function copyOf(directory: string): Promise<string> {
    const copy = await newDirectory();
    await cp(directory, copy, { recursive: true, filter: (name) => !name.endsWith('lock') });
    return copy;
  }

  /**
   * Returns a directory that looks as if the server had crashed. The journal contains transactions
   * that each write one account and one ledger entry.
   */
  async function journalOfTransactions(count: number): Promise<string> {
    const directory = await newDirectory();
    return withServer(directory, async (client) => {
      const db = client.db('t');
      await db.collection<{ _id: string; n: number }>('account').insertOne({ _id: 'a', n: 0 });
      await db.collection('ledger').createIndex({ k: 1 }, { unique: true }, {});
      for (let k = 0; k < count; k++) {
        await client.withSession((session) =>
          session.withTransaction(async () => {
            await db.collection('ledger').insertOne({ k }, { session });
            await db
              .collection<{ _id: string }>('account')
              .updateOne({ _id: 'a' }, { $inc: { n: 1 } }, { session });
          }),
        );
      }
      return copyOf(directory);
    });
  }

  it(`a torn tail is cut off, and no transaction is ever partial (seed ${SEED})`, async function () {
    this.timeout(sizes.durability.tears * 5000);
    const random = createRandom(SEED);
    const original = await journalOfTransactions(30);
    const journal = await newestJournal(original);
    const size = (await readFile(journal)).length;
    for (let i = 0; i < sizes.durability.tears; i++) {
      const dbPath = await newDirectory();
      const copy = join(dbPath, 'journal.1');
      await copyFile(journal, copy);
      await truncate(copy, random.int(600, size - 1));
      if (i % 2 === 0) {
        // After a crash, the last bytes on disk may have any value.
        const bytes = await readFile(copy);
        bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 0x55;
        await writeFile(copy, bytes);
      }
      const crashed = await withServer(dbPath, async (client) => {
        const account = await client.db('t').collection<{ _id: string; n: number }>('account').findOne({});
        expect(await client.db('t').collection('ledger').countDocuments()).to.equal(account?.n ?? 0);
        await client.db('t').collection('ledger').insertOne({ k: 'after' });
        return copyOf(dbPath);
      });
      await withServer(crashed, async (client) => {
        expect(await client.db('t').collection('ledger').countDocuments({ k: 'after' })).to.equal(1);
      });
    }
  });

  it('damage inside a journal is refused with its position, without changes', async () => {
    const dbPath = await journalOfTransactions(5);
    const journal = await newestJournal(dbPath);
    const bytes = await readFile(journal);
    const at = Math.floor(bytes.length / 2);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    await writeFile(journal, bytes);
    const failure = await startFailure({ dbPath });
    expect(failure.exitCode).to.equal(1);
    expect(failure.stderr).to.match(/journal\.1 is damaged at byte \d+: .*Nothing was changed/);
    expect((await readFile(journal)).equals(bytes)).to.equal(true);
  });

  it('a gap in the journals is refused', async () => {
    const dbPath = await journalOfTransactions(1);
    await writeFile(join(dbPath, 'journal.3'), '');
    expect((await errorOf(start({ dbPath }))).message).to.contain('journal.2 is missing');
  });

  it('compaction keeps the directory small, and all data survives a crash', async () => {
    const server = await startTestServer({ args: ['--compact-at-bytes', '20000'] });
    await withClient(server, async (client) => {
      const rows = client.db('t').collection<{ _id: number; n: number }>('rows');
      await rows.createIndex({ n: 1 }, { unique: true, name: 'by_n' }, {});
      await rows.insertMany(Array.from({ length: 50 }, (_, i) => ({ _id: i, n: i })));
      await eventually(async () => {
        for (let i = 0; i < 200; i++) {
          await rows.updateOne({ _id: i % 50 }, { $inc: { n: 1000 } });
        }
        return (await readdir(server.dbPath)).some((name) => /^snapshot\.([3-9]|\d\d)$/.test(name));
      }, 15_000);
      const snapshots = async () =>
        (await readdir(server.dbPath)).filter(
          (name) => name.startsWith('snapshot.') && !name.endsWith('.tmp'),
        );
      // The previous snapshot is deleted after the newest one was renamed. A kill between the two
      // steps leaves both.
      await eventually(async () => (await snapshots()).length === 1, 15_000);
      const expected = await rows.find().sort({ _id: 1 }).toArray();
      await server.kill9();
      const left = ['snapshot.1', 'journal.1'].map((name) => join(server.dbPath, name));
      await Promise.all(left.map((path) => writeFile(path, 'what a killed process had not deleted yet')));
      const again = await startTestServer({ dbPath: server.dbPath });
      expect(await snapshots()).to.have.length(1);
      expect(await readdir(server.dbPath)).not.to.include('journal.1');
      await withClient(again, async (second) => {
        const after = second.db('t').collection<{ _id: number; n: number }>('rows');
        expect(await after.find().sort({ _id: 1 }).toArray()).to.deep.equal(expected);
        expect((await after.indexes()).map(({ name }) => name)).to.deep.equal(['_id_', 'by_n']);
      });
      await again.kill9();
    });
  });

  it('a damaged snapshot is refused', async () => {
    const dbPath = await newDirectory();
    await writeFile(join(dbPath, 'snapshot.2'), 'not a snapshot at all');
    expect((await errorOf(start({ dbPath }))).message).to.contain('snapshot.2 is damaged');
  });

  it('a directory serves one process, and a lock left by a crash is taken over', async () => {
    const server = await startTestServer();
    const failure = await startFailure({ dbPath: server.dbPath });
    expect(failure.stderr).to.match(/in use by process \d+/);
    await server.kill9();
    const again = await startTestServer({ dbPath: server.dbPath });
    expect(await again.stop()).to.equal(0);
    expect(await readdir(server.dbPath)).to.not.include('lock');
  });

  it('an unusable directory is a clear error', async () => {
    const file = join(await newDirectory(), 'file');
    await writeFile(file, '');
    const failure = await startFailure({ dbPath: join(file, 'data') });
    expect(failure.exitCode).to.equal(1);
    expect(failure.stderr).to.match(
      /^Cannot use .* as the data directory: a part of the path is a file \(ENOTDIR\)\.$/m,
    );
  });

  it('a full disk fails the write and stops the server without losing writes', async () => {
    const dbPath = await newDirectory();
    // A file size limit in the shell simulates a full disk: 200 blocks of 512 bytes.
    const server = await startTestServer({ dbPath, shellPrefix: 'ulimit -f 200' });
    let acknowledged = 0;
    await withClient(server, async (client) => {
      const rows = client.db('t').collection<{ _id: number; text: string }>('rows');
      const error = await errorOf(
        (async () => {
          for (;;) {
            await rows.insertOne({ _id: acknowledged, text: 'x'.repeat(2000) });
            acknowledged += 1;
          }
        })(),
      );
      expect(error.message).to.match(/cannot be written: the file size limit/);
      expect(error.code).to.equal(14031);
    });
    if (server.process.exitCode === null) {
      await once(server.process, 'exit');
    }
    expect(server.process.exitCode).to.equal(1);
    expect(server.stderr()).to.contain('cannot be written');
    const again = await startTestServer({ dbPath });
    await withClient(again, async (client) => {
      expect(await client.db('t').collection('rows').countDocuments()).to.equal(acknowledged);
    });
    await again.kill9();
  });

  it('the server refuses NODE_ENV=production and invalid options', async () => {
    const failure = await startFailure({ env: { NODE_ENV: 'production' } });
    expect(failure.exitCode).to.equal(1);
    expect(failure.stderr).to.contain('development and tests only');
    expect((await startFailure({ args: ['--prot', '1'] })).exitCode).to.equal(2);
    expect((await startFailure({ args: ['--port', '99999'] })).stderr).to.contain('--port must be');
  });

  it('listening on other addresses than loopback logs a warning', async () => {
    const server = await startTestServer({ args: ['--bind', '0.0.0.0'] });
    expect(server.stderr()).to.contain('WARNING: listening on 0.0.0.0');
    expect(server.uri).to.contain('127.0.0.1');
    await server.stop();
  });

  it('start() serves from this process until stop()', async () => {
    const dbPath = join(await newDirectory(), 'made', 'on', 'the', 'way');
    const mongo = await start({ dbPath, replicaSet: 'mine' });
    const client = new MongoClient(mongo.uri);
    await client.db('t').collection('a').insertOne({ n: 1 });
    expect((await errorOf(start({ dbPath }))).message).to.contain('in use');
    expect((await client.db('t').command({ hello: 1 }))['setName']).to.equal('mine');
    await client.close();
    await mongo.stop();
    await mongo.stop();
    const socket = connect(mongo.port, '127.0.0.1');
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).to.equal('ECONNREFUSED');
    const again = await start({ dbPath });
    const second = new MongoClient(again.uri);
    expect(await second.db('t').collection('a').countDocuments()).to.equal(1);
    await second.close();
    await again.stop();
  });

  it('a port in use causes a clear error, and no lock is left behind', async () => {
    const server = await startTestServer();
    const dbPath = join(await newDirectory(), 'data');
    await mkdir(dbPath);
    const failure = await errorOf(start({ dbPath, port: server.port }));
    expect(failure.message).to.contain(`Cannot listen on 127.0.0.1:${server.port}`);
    expect(await readdir(dbPath)).to.not.include('lock');
    await server.kill9();
  });
});
