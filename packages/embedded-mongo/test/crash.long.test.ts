import { expect } from 'chai';
import { MongoClient, MongoError, type Collection } from 'mongodb';
import { cleanUp, newDirectory, startTestServer } from './harness.js';
import { createRandom, type Random } from './random.js';
import { sizes } from './sizes.js';

// Set CRASH_SEED to replay a failing run.
const RESTARTS = sizes.crash.restarts;
const SEED = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000);
const ACCOUNTS = 50;
const BALANCE = 1000;
const SESSIONS = 32;

interface Account {
  _id: number;
  balance: number;
}
interface Entry {
  _id: string;
  from: number;
  to: number;
  amount: number;
}

describe('a server killed at random points under concurrent transfers', () => {
  after(cleanUp);

  it(`keeps the sum and every acknowledged transfer, and none is partial (seed ${SEED})`, async function () {
    this.timeout(RESTARTS * 15_000 + 20_000);
    const random = createRandom(SEED);
    const dbPath = await newDirectory();
    const acknowledged = new Set<string>();
    const ended: Promise<void>[] = [];
    let lastId = 0;
    for (let run = 0; run <= RESTARTS; run++) {
      // A small journal is compacted several times, so that some kills happen during a compaction.
      const server = await startTestServer({ dbPath, fsync: true, args: ['--compact-at-bytes', '200000'] });
      const client = new MongoClient(server.uri, {
        maxPoolSize: 40,
        serverSelectionTimeoutMS: 2000,
        heartbeatFrequencyMS: 500,
      });
      try {
        const accounts = client.db('bank').collection<Account>('accounts');
        const ledger = client.db('bank').collection<Entry>('ledger');
        if (run === 0) {
          await accounts.insertMany(
            Array.from({ length: ACCOUNTS }, (_, i) => ({ _id: i, balance: BALANCE })),
          );
          await ledger.createIndex({ from: 1, to: 1 }, {}, {});
        }
        await checkBooks(accounts, ledger, acknowledged);
        if (run === RESTARTS) {
          break;
        }
        const state = { stopped: false };
        const workers = Array.from({ length: SESSIONS }, (_, worker) => {
          const own = createRandom(SEED * 1000 + run * 100 + worker);
          const nextId = (): string => `${SEED}-${(lastId += 1)}`;
          return worker < 4
            ? readConsistently(client, accounts, state)
            : transfer(client, { accounts, ledger, acknowledged, nextId, random: own, state });
        });
        const enoughAt = acknowledged.size + 5 + random.int(0, 150);
        const deadline = Date.now() + 10_000;
        while (acknowledged.size < enoughAt && Date.now() < deadline) {
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        expect(acknowledged.size, 'transfers go on').to.be.at.least(enoughAt);
        await server.kill9();
        state.stopped = true;
        // The workers retry until their time limit. The next run begins without waiting for them.
        ended.push(...workers);
      } finally {
        ended.push(client.close(true));
      }
    }
    await Promise.all(ended);
  });
});

/** Checks the invariants that must hold after every start of the server. */
async function checkBooks(
  accounts: Collection<Account>,
  ledger: Collection<Entry>,
  acknowledged: ReadonlySet<string>,
): Promise<void> {
  const [all, entries] = await Promise.all([accounts.find().toArray(), ledger.find().toArray()]);
  expect(all.reduce((sum, { balance }) => sum + balance, 0)).to.equal(ACCOUNTS * BALANCE);
  const balances = new Map(Array.from({ length: ACCOUNTS }, (_, i) => [i, BALANCE]));
  const ids = new Set<string>();
  for (const { _id, from, to, amount } of entries) {
    ids.add(_id);
    balances.set(from, (balances.get(from) ?? 0) - amount);
    balances.set(to, (balances.get(to) ?? 0) + amount);
  }
  expect(
    [...acknowledged].filter((id) => !ids.has(id)),
    'acknowledged transfers that are lost',
  ).to.deep.equal([]);
  expect(
    Object.fromEntries(all.map(({ _id, balance }) => [_id, balance])),
    'balances and ledger agree',
  ).to.deep.equal(Object.fromEntries(balances));
  for (const { from } of entries.slice(0, 20)) {
    const byIndex = await ledger.find({ from }).hint({ from: 1, to: 1 }).toArray();
    expect(byIndex.length).to.equal(entries.filter((entry) => entry.from === from).length);
  }
}

async function transfer(
  client: MongoClient,
  {
    accounts,
    ledger,
    acknowledged,
    nextId,
    random,
    state,
  }: {
    accounts: Collection<Account>;
    ledger: Collection<Entry>;
    acknowledged: Set<string>;
    nextId: () => string;
    random: Random;
    state: { stopped: boolean };
  },
): Promise<void> {
  const session = client.startSession();
  while (!state.stopped) {
    const from = random.int(0, ACCOUNTS - 1);
    const to = (from + random.int(1, ACCOUNTS - 1)) % ACCOUNTS;
    const amount = random.int(1, 50);
    const id = nextId();
    try {
      session.startTransaction();
      const taken = await accounts.updateOne(
        { _id: from, balance: { $gte: amount } },
        { $inc: { balance: -amount } },
        { session },
      );
      if (taken.modifiedCount === 0) {
        await session.abortTransaction();
        continue;
      }
      await accounts.updateOne({ _id: to }, { $inc: { balance: amount } }, { session });
      await ledger.insertOne({ _id: id, from, to, amount }, { session });
      await session.commitTransaction();
      acknowledged.add(id);
    } catch (error) {
      if (!isCausedByKill(error)) {
        throw error;
      }
      if (session.inTransaction()) {
        await session.abortTransaction().catch(() => undefined);
      }
    }
  }
  await session.endSession().catch(() => undefined);
}

/**
 * In each transaction, checks that the sum of all balances is constant and that repeated reads
 * return the same result.
 */
async function readConsistently(
  client: MongoClient,
  accounts: Collection<Account>,
  state: { stopped: boolean },
): Promise<void> {
  const session = client.startSession();
  while (!state.stopped) {
    try {
      session.startTransaction();
      const first = await accounts.find({}, { session }).sort({ _id: 1 }).toArray();
      const second = await accounts.find({}, { session }).sort({ _id: 1 }).toArray();
      await session.commitTransaction();
      expect(
        first.reduce((sum, { balance }) => sum + balance, 0),
        'no dirty read',
      ).to.equal(ACCOUNTS * BALANCE);
      expect(second, 'a repeated read').to.deep.equal(first);
    } catch (error) {
      if (!isCausedByKill(error)) {
        throw error;
      }
      if (session.inTransaction()) {
        await session.abortTransaction().catch(() => undefined);
      }
    }
  }
  await session.endSession().catch(() => undefined);
}

/**
 * True for an error that a killed server causes. The driver throws a plain socket error if it was
 * still sending a command.
 */
function isCausedByKill(error: unknown): boolean {
  return (
    error instanceof MongoError ||
    (error instanceof Error && 'code' in error && ['ECONNRESET', 'EPIPE'].includes(String(error.code)))
  );
}
