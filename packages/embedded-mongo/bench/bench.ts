// npm run bench -w packages/embedded-mongo [-- --rounds 12 | --million | --count]
// EMBEDDED_MONGO_PROTOTYPE=<path to its src/server.mjs> also measures the prototype.
//
// Both servers run with fsync for the whole time. Each operation runs on both servers alternately
// and for a short time (A B, B A, A B, ...). Other load on the machine and the warm-up of the
// client then affect both servers equally. Prints the medians of all rounds: operations per second,
// and CPU time of the server per operation.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MongoClient, type Db } from 'mongodb';

const ACCOUNTS = 20_000;
const WARM_UP_OPERATIONS = 640;
const TURN_MS = 400;
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    million: { type: 'boolean', default: false },
    count: { type: 'boolean', default: false },
  },
});

interface Candidate {
  name: string;
  command: (dbPath: string) => { args: string[]; env: Record<string, string> };
}

interface Operation {
  name: string;
  inFlight: number;
  run: (worker: number) => Promise<unknown>;
}

interface Subject {
  name: string;
  server: ChildProcess;
  operations: readonly Operation[];
}

interface Measurement {
  perSecond: number;
  cpuMicros: number;
}

const embeddedMongo: Candidate = {
  name: 'embedded-mongo',
  command: (dbPath) => ({
    args: [
      fileURLToPath(new URL('../bin/embedded-mongo.mjs', import.meta.url)),
      '--port',
      '0',
      '--dbpath',
      dbPath,
    ],
    env: {},
  }),
};

const prototypePath = process.env['EMBEDDED_MONGO_PROTOTYPE'];
const prototype: Candidate | undefined =
  prototypePath === undefined
    ? undefined
    : {
        name: 'prototype',
        command: (dbPath) => ({ args: [prototypePath], env: { PORT: '27391', DBPATH: dbPath } }),
      };

if (options.million) {
  await measureMillion();
} else if (options.count) {
  await measureCount();
} else {
  await compare(prototype === undefined ? [embeddedMongo] : [embeddedMongo, prototype]);
}

/** Starts all servers, then runs each operation on them alternately. */
async function compare(candidates: readonly Candidate[], started: readonly Subject[] = []): Promise<void> {
  const [candidate, ...others] = candidates;
  if (candidate !== undefined) {
    await withServer(candidate, async (db, server) =>
      compare(others, [...started, { name: candidate.name, server, operations: await operationsOn(db) }]),
    );
    return;
  }
  for (const { name, inFlight } of started[0]?.operations ?? []) {
    const turns = started.map((subject) => {
      const operation = subject.operations.find((one) => one.name === name && one.inFlight === inFlight);
      if (operation === undefined) {
        throw new Error(`${subject.name} has no ${name}`);
      }
      return { subject, operation, measured: [] as Measurement[] };
    });
    for (const { operation } of turns) {
      await warmUp(operation);
    }
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const { subject, operation, measured } of round % 2 === 0 ? turns : turns.toReversed()) {
        measured.push(await measureUnderLoad(subject.server, operation));
      }
    }
    const columns = turns.map(({ subject, measured }) => {
      const rate = median(measured.map(({ perSecond }) => perSecond));
      const cpu = median(measured.map(({ cpuMicros }) => cpuMicros));
      return `${subject.name} ${rate.toFixed(0).padStart(6)}/s ${cpu.toFixed(0).padStart(5)} µs`;
    });
    console.log(`${`${name}, ${inFlight} in flight`.padEnd(46)} ${columns.join('   ')}`);
  }
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
}

async function operationsOn(db: Db): Promise<Operation[]> {
  const operations: Operation[] = [];
  const add = (name: string, inFlight: number, run: Operation['run']): void => {
    operations.push({ name, inFlight, run });
  };
  const wallets = db.collection<{ _id: number; email: string; balance: number }>('wallets');
  const ledger = db.collection('ledger');
  const orders = db.collection('orders');
  await wallets.createIndex({ email: 1 }, { unique: true }, {});
  await ledger.createIndexes([{ key: { user: 1, at: -1 } }, { key: { ref: 1 }, unique: true }]);
  await orders.createIndex({ user: 1, status: 1, at: -1 }, {}, {});
  await wallets.insertMany(Array.from({ length: ACCOUNTS }, (_, i) => account(i)));
  const any = (): number => Math.floor(Math.random() * ACCOUNTS);
  let ref = 0;
  for (const inFlight of [1, 32]) {
    add('find by _id', inFlight, () => wallets.findOne({ _id: any() }));
    add('find by a unique index', inFlight, () => wallets.findOne({ email: `user${any()}@example.id` }));
    add('insert, 2 secondary indexes', inFlight, () =>
      ledger.insertOne({
        user: any(),
        ref: `r${(ref += 1)}`,
        amount: -100,
        at: new Date(),
        note: 'a purchase',
      }),
    );
    add('update $inc by _id', inFlight, () => wallets.updateOne({ _id: any() }, { $inc: { balance: 1 } }));
    add('findAndModify, guarded', inFlight, () =>
      wallets.findOneAndUpdate(
        { _id: any(), balance: { $gte: 5 } },
        { $inc: { balance: -5 } },
        { returnDocument: 'after' },
      ),
    );
    add('transaction of 3 writes', inFlight, async (worker) => {
      const user = worker * 600 + Math.floor(Math.random() * 600);
      await db.client.withSession((session) =>
        session.withTransaction(async () => {
          await wallets.updateOne(
            { _id: user, balance: { $gte: 5 } },
            { $inc: { balance: -5 } },
            { session },
          );
          await ledger.insertOne({ user, ref: `t${(ref += 1)}`, amount: -5, at: new Date() }, { session });
          await orders.insertOne({ user, status: 'paid', at: new Date(), sku: 'X', price: 5 }, { session });
        }),
      );
    });
  }
  add('find by index, sorted, limit 20', 32, () =>
    ledger.find({ user: any() }).sort({ at: -1 }).limit(20).toArray(),
  );
  add('countDocuments by index', 32, () => ledger.countDocuments({ user: any() }));
  add('aggregate: $match, $group', 8, () =>
    ledger
      .aggregate([{ $match: { user: any() } }, { $group: { _id: '$note', sum: { $sum: '$amount' } } }])
      .toArray(),
  );
  return operations;
}

function account(i: number): { _id: number; email: string; balance: number } & Record<string, unknown> {
  return {
    _id: i,
    email: `user${i}@example.id`,
    name: `User ${i}`,
    balance: 1_000_000,
    role: 'user',
    phone: `0812345${i}`,
    tags: ['a', 'b'],
    createdAt: new Date(),
    updatedAt: new Date(),
    meta: { ip: '127.0.0.1', agent: 'Mozilla/5.0 something' },
  };
}

/** Runs the operation before the measurement, so that JIT compilation is not measured. */
async function warmUp({ inFlight, run }: Operation): Promise<void> {
  await Promise.all(
    Array.from({ length: inFlight }, async (_, worker) => {
      for (let i = 0; i < WARM_UP_OPERATIONS / inFlight; i++) {
        await run(worker);
      }
    }),
  );
}

async function measureUnderLoad(server: ChildProcess, { inFlight, run }: Operation): Promise<Measurement> {
  const cpuBefore = cpuMicrosOf(server);
  const startedAt = performance.now();
  const end = startedAt + TURN_MS;
  let count = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async (_, worker) => {
      while (performance.now() < end) {
        await run(worker);
        count += 1;
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  return { perSecond: count / seconds, cpuMicros: (cpuMicrosOf(server) - cpuBefore) / count };
}

/** Returns the user and system CPU time of all threads of a process. Requires Linux. */
function cpuMicrosOf({ pid }: ChildProcess): number {
  const threads = `/proc/${pid ?? 0}/task`;
  const nanos = readdirSync(threads).map((thread) =>
    Number(readFileSync(`${threads}/${thread}/schedstat`, 'latin1').split(' ')[0]),
  );
  return nanos.reduce((sum, one) => sum + one, 0) / 1000;
}

/**
 * Measures a collection of 1,000,000 small documents with an index: the memory use, and the time to
 * open the data directory again.
 */
async function measureMillion(): Promise<void> {
  const dbPath = await mkdtemp(join(tmpdir(), 'embedded-mongo-bench-'));
  try {
    await withServer(
      embeddedMongo,
      async (db, server) => {
        const rows = db.collection('rows');
        await rows.createIndex({ user: 1, at: -1 }, {}, {});
        for (let i = 0; i < 1_000_000; i += 5000) {
          await rows.insertMany(
            Array.from({ length: 5000 }, (_, k) => ({
              user: (i + k) % 1000,
              at: new Date(1.7e12 + i + k),
              amount: -100,
              ref: `ref-${i + k}`,
              status: 'done',
            })),
          );
        }
        console.log(`after inserting: ${memoryOf(server)}`);
      },
      dbPath,
    );
    const startedAt = performance.now();
    await withServer(
      embeddedMongo,
      async (db, server) => {
        console.log(
          `opened in ${((performance.now() - startedAt) / 1000).toFixed(1)} s, ${memoryOf(server)}`,
        );
        console.log(`documents: ${await db.collection('rows').estimatedDocumentCount()}`);
      },
      dbPath,
    );
  } finally {
    await rm(dbPath, { recursive: true, force: true });
  }
}

/**
 * Measures a count over an index range of 300,000 keys, and `$group` over the same documents.
 * Prints the median of ten runs of each, in milliseconds.
 */
async function measureCount(): Promise<void> {
  await withServer(embeddedMongo, async (db) => {
    const rows = db.collection('rows');
    await rows.createIndex({ user: 1, at: 1 }, {}, {});
    for (let i = 0; i < 300_000; i += 10_000) {
      await rows.insertMany(
        Array.from({ length: 10_000 }, (_, k) => ({
          user: 1,
          at: new Date(1.7e12 + (i + k) * 60_000),
          amount: i + k,
        })),
      );
    }
    const range = { user: 1, at: { $gte: new Date(1.7e12) } };
    const day = { $dateToString: { date: '$at', format: '%Y-%m-%d', timezone: 'Asia/Jakarta' } };
    const measured: Readonly<Record<string, () => Promise<unknown>>> = {
      'countDocuments over a range of 300,000': () => rows.countDocuments(range),
      '$group by $dateToString': () =>
        rows.aggregate([{ $group: { _id: day, sum: { $sum: '$amount' } } }]).toArray(),
    };
    for (const [name, run] of Object.entries(measured)) {
      const times: number[] = [];
      for (let round = 0; round < 10; round++) {
        const startedAt = performance.now();
        await run();
        times.push(performance.now() - startedAt);
      }
      console.log(`${name.padEnd(46)} ${median(times).toFixed(2)} ms`);
    }
  });
}

function memoryOf({ pid }: ChildProcess): string {
  const status = readFileSync(`/proc/${pid ?? 0}/status`, 'latin1');
  const megabytes = (name: string): string =>
    `${Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024)} MB`;
  return `resident ${megabytes('VmRSS')}, at most ${megabytes('VmHWM')}`;
}

async function withServer<T>(
  candidate: Candidate,
  run: (db: Db, server: ChildProcess) => Promise<T>,
  kept?: string,
): Promise<T> {
  const dbPath = kept ?? (await mkdtemp(join(tmpdir(), 'embedded-mongo-bench-')));
  const { args, env } = candidate.command(dbPath);

  const server = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => server.once('exit', resolve));
  try {
    const uri = await new Promise<string>((resolve, reject) => {
      server.stdout.on('data', (chunk: Buffer) => {
        const ready = /READY (\S+)/.exec(chunk.toString())?.[1];
        if (ready !== undefined) {
          resolve(ready);
        }
      });
      void exited.then(() => reject(new Error(`${candidate.name} did not start`)));
    });
    const client = new MongoClient(uri, { maxPoolSize: 40, minPoolSize: 32 });
    try {
      await client.connect();
      return await run(client.db('bench'), server);
    } finally {
      await client.close();
    }
  } finally {
    server.kill('SIGTERM');
    await exited;
    if (kept === undefined) {
      await rm(dbPath, { recursive: true, force: true });
    }
  }
}
