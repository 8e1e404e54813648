import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { pathWith, resolve, type Resolution } from './resolver.js';

const givenUri = process.env['MONGODB_URI'] ?? '';
const embeddedServer = path.resolve('packages/embedded-mongo/bin/embedded-mongo.mjs');
/**
 * Simulates an offline machine with a version that is not cached and a mirror that cannot be
 * reached.
 */
const offline = { MONGOMS_VERSION: '8.0.999', MONGOMS_DOWNLOAD_MIRROR: 'https://127.0.0.1' };
/** A fake mongod that accepts any options and reports that it is a replica set. */
const fakeMongod = [
  'while [ $# -gt 0 ]; do',
  '  case "$1" in --port) port=$2;; --dbpath) dbpath=$2;; esac',
  '  shift',
  'done',
  `exec "${process.execPath}" "${embeddedServer}" --port "$port" --dbpath "$dbpath"`,
].join('\n');

describe('MongoDB resolver', () => {
  const open: Resolution[] = [];
  const before: NodeJS.ProcessEnv = {};

  async function resolveMongodb(options: Parameters<typeof resolve>[1]): Promise<Resolution> {
    const resolution = await resolve('mongodb', options);
    open.push(resolution);
    return resolution;
  }

  beforeEach(() => {
    for (const [name, value] of Object.entries(offline)) {
      before[name] = process.env[name];
      process.env[name] = value;
    }
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.stop()));
    for (const name of Object.keys(offline)) {
      process.env[name] = before[name] ?? '';
    }
  });

  it('prefers MONGODB_URI and starts nothing', async () => {
    const { database, localDir } = await resolveMongodb({
      env: { MONGODB_URI: givenUri, PATH: pathWith({ mongod: { script: fakeMongod } }) },
    });
    expect(database?.url).to.equal(givenUri);
    expect(database?.used).to.contain('MONGODB_URI');
    expect(fs.readdirSync(localDir)).to.deep.equal([]);
  });

  it('reports an unreachable MONGODB_URI without its password', async () => {
    const { database, refusal } = await resolveMongodb({
      env: { MONGODB_URI: 'mongodb://user:hidden-word@127.0.0.1:9/topup?replicaSet=rs0' },
    });
    expect(database).to.equal(null);
    expect(refusal).to.contain('MONGODB_URI').and.contain('127.0.0.1:9').and.not.contain('hidden-word');
  });

  it('uses a mongod on PATH if MONGODB_URI is not set', async () => {
    const env = { PATH: pathWith({ mongod: { script: fakeMongod } }) };
    const { database } = await resolveMongodb({ env });
    expect(database?.used).to.equal('mongod on PATH');
    await expectWritable(database?.url ?? '');
  });

  it('falls back to the embedded server if mongod fails offline', async () => {
    const env = { PATH: pathWith({ mongod: { script: 'echo "wrong processor" >&2; exit 4' } }) };
    const { database, said } = await resolveMongodb({ env });
    expect(database?.used).to.contain('embedded');
    expect(said.join('\n')).to.match(/cannot be used[^]*wrong processor[^]*offline[^]*embedded/);
    await expectWritable(database?.url ?? '');
  });

  it('skips the download at once on an offline machine', async () => {
    const startedAt = performance.now();
    const { said } = await resolveMongodb({ env: { PATH: pathWith({}) } });
    expect(said).to.include('MongoDB: no download, because this machine is offline');
    expect(performance.now() - startedAt).to.be.below(8_000);
  });

  it('keeps embedded data after a kill and when a mongod appears', async () => {
    const first = await resolveMongodb({ env: { PATH: pathWith({}) } });
    const url = first.database?.url ?? '';
    await withClient(url, (client) => client.db().collection('things').insertOne({ name: 'kept' }));
    const pid = Number(fs.readFileSync(path.join(first.localDir, 'pids', 'mongodb.pid'), 'utf8'));
    process.kill(pid, 'SIGKILL');
    await first.stop();

    const env = { PATH: pathWith({ mongod: { script: fakeMongod } }) };
    const second = await resolveMongodb({ env, localDir: first.localDir });
    expect(second.database?.used).to.contain('embedded');
    const found = await withClient(second.database?.url ?? '', (client) =>
      client.db().collection('things').findOne({ name: 'kept' }),
    );
    expect(found).to.include({ name: 'kept' });
  });

  it('leaves no process behind after a stop', async () => {
    const resolution = await resolveMongodb({ env: { PATH: pathWith({ mongod: { script: fakeMongod } }) } });
    await resolution.stop();
    const processes = execFileSync('ps', ['-e', '-o', 'args'], { encoding: 'utf8' });
    expect(processes).not.to.contain(resolution.localDir);
  });

  it('refuses to start in production without MONGODB_URI', async () => {
    const env = { NODE_ENV: 'production', PATH: pathWith({ mongod: { script: fakeMongod } }) };
    const { database, refusal } = await resolveMongodb({ env });
    expect(database).to.equal(null);
    expect(refusal).to.contain('MONGODB_URI is not set').and.contain('production');
  });
});

async function withClient<T>(url: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = await new MongoClient(url, { serverSelectionTimeoutMS: 5_000 }).connect();
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

async function expectWritable(url: string): Promise<void> {
  const { acknowledged } = await withClient(url, (client) =>
    client.db().collection('probe').insertOne({ at: new Date() }),
  );
  expect(acknowledged).to.equal(true);
}
