import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { pathWith, resolve, type Resolution } from './resolver.js';

const givenUri = process.env['MONGODB_URI'] ?? '';
const embeddedServer = path.resolve('packages/embedded-mongo/bin/embedded-mongo.mjs');
/** A version that nobody has downloaded, from a mirror that can't be reached: as on a machine that is offline. */
const offline = { MONGOMS_VERSION: '8.0.999', MONGOMS_DOWNLOAD_MIRROR: 'https://127.0.0.1' };
/** Stands in for a mongod: takes its options and is a replica set already. */
const fakeMongod = [
  'while [ $# -gt 0 ]; do',
  '  case "$1" in --port) port=$2;; --dbpath) dbpath=$2;; esac',
  '  shift',
  'done',
  `exec "${process.execPath}" "${embeddedServer}" --port "$port" --dbpath "$dbpath"`,
].join('\n');

describe('the resolver of MongoDB', () => {
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

  it('takes MONGODB_URI before anything else and starts nothing', async () => {
    const { database, localDir } = await resolveMongodb({
      env: { MONGODB_URI: givenUri, PATH: pathWith({ mongod: { script: fakeMongod } }) },
    });
    expect(database?.url).to.equal(givenUri);
    expect(database?.used).to.contain('MONGODB_URI');
    expect(fs.readdirSync(localDir)).to.deep.equal([]);
  });

  it('says plainly that nothing answers at MONGODB_URI, without its password, and does not look further', async () => {
    const { database, refusal } = await resolveMongodb({
      env: { MONGODB_URI: 'mongodb://user:hidden-word@127.0.0.1:9/topup?replicaSet=rs0' },
    });
    expect(database).to.equal(null);
    expect(refusal).to.contain('MONGODB_URI').and.contain('127.0.0.1:9').and.not.contain('hidden-word');
  });

  it('takes a mongod on PATH next', async () => {
    const env = { PATH: pathWith({ mongod: { script: fakeMongod } }) };
    const { database } = await resolveMongodb({ env });
    expect(database?.used).to.equal('mongod on PATH');
    await expectWritable(database?.url ?? '');
  });

  it('goes on to the embedded server when mongod does not start and the machine is offline, saying so', async () => {
    const env = { PATH: pathWith({ mongod: { script: 'echo "wrong processor" >&2; exit 4' } }) };
    const { database, said } = await resolveMongodb({ env });
    expect(database?.used).to.contain('embedded');
    expect(said.join('\n')).to.match(/can't be used[^]*wrong processor[^]*offline[^]*embedded/);
    await expectWritable(database?.url ?? '');
  });

  it('gives the download up at once when the machine is offline', async () => {
    const startedAt = performance.now();
    const { said } = await resolveMongodb({ env: { PATH: pathWith({}) } });
    expect(said).to.include('MongoDB: no download either, this machine is offline');
    expect(performance.now() - startedAt).to.be.below(8_000);
  });

  it('keeps the embedded data, also after the server was killed, and stays with it when a mongod appears', async () => {
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

  it('leaves no process behind when it is stopped', async () => {
    const resolution = await resolveMongodb({ env: { PATH: pathWith({ mongod: { script: fakeMongod } }) } });
    await resolution.stop();
    const processes = execFileSync('ps', ['-e', '-o', 'args'], { encoding: 'utf8' });
    expect(processes).not.to.contain(resolution.localDir);
  });

  it('refuses in production without MONGODB_URI, whatever is installed', async () => {
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
