import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { expect } from 'chai';
import { DateTime } from 'luxon';
import { Long } from 'mongodb';
import mongoose from 'mongoose';
import { createAccount } from '../../src/accounts/create-account.js';
import { dailyTotals } from '../../src/money/totals/daily-totals.model.js';
import { foldTotals } from '../../src/money/totals/fold-totals.js';
import { areTotalsComplete } from '../../src/money/totals/totals-state.model.js';
import { listTransactions, type HistoryQuery } from '../../src/purchases/history.js';
import { PurchaseModel, purchases, toStored, type Purchase } from '../../src/purchases/purchase.model.js';
import { initializeTotals, rebuildTotals } from '../../src/purchases/rebuild-totals.js';
import { checkDailyTotals } from '../../src/reconciliation/ledger/check-totals.js';
import { createFindingLog } from '../../src/reconciliation/ledger/ledger-report.js';
import { createDeposit } from '../../src/deposits/create-deposit.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { forkTestProgram } from '../support/fork-test-program.js';
import { seededRandom } from '../support/random.js';
import { someTransaction } from '../webhooks/support/accounts.js';
import { useDatabase } from '../webhooks/support/database.js';
import { idsOf, playPurchase, type Parties } from './play-purchases.js';
import type { SellingOrder } from './selling-process.js';

const zone = 'Asia/Jakarta';
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const random = seededRandom();

/**
 * Computes every counter of every account and day from the rows, without using code of the service.
 */
async function countFromRows(): Promise<Record<string, number>> {
  const counted: Record<string, number> = {};
  const add = (path: string, amount: number) => (counted[path] = (counted[path] ?? 0) + amount);
  for (const row of await PurchaseModel.find().lean<Purchase[]>()) {
    const at = DateTime.fromJSDate(row.createdAt, { zone });
    const quarter = at.hour * 4 + Math.floor(at.minute / 15);
    for (const [side, id] of [
      ['bought', row.accountId],
      ['sold', row.sellerId],
    ] as const) {
      const before = `${id ?? ''} ${at.toISODate() ?? ''} ${side}`;
      if (id !== null) {
        add(`${before}.count.${row.status}`, 1);
        add(`${before}.amount.${row.status}`, row.price);
        add(`${before}.quarters.${quarter}.${row.status}`, 1);
      }
      if (id !== null && row.status === 'SUCCESS') {
        add(`${before}.commission`, row.commissionAmount ?? 0);
        add(`${before}.products.${encoded(row.productCode)}.count`, 1);
        add(`${before}.products.${encoded(row.productCode)}.amount`, row.price);
        add(`${before}.categories.${encoded(row.subcategory)}.count`, 1);
        add(`${before}.categories.${encoded(row.subcategory)}.amount`, row.price);
      }
    }
  }
  return withoutZeros(counted);
}

const encoded = (name: string) =>
  name.replace(/[^A-Za-z0-9-]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

async function storedTotals(): Promise<Record<string, number>> {
  const stored: Record<string, number> = {};
  const walk = (value: unknown, path: string) => {
    if (Long.isLong(value)) {
      stored[path] = (stored[path] ?? 0) + value.toNumber();
      return;
    }
    expect(value, `${path} is int64 or holds some`).to.be.an('object');
    for (const [field, inner] of Object.entries(value as object)) {
      walk(inner, `${path}${path.endsWith(' ') ? '' : '.'}${field}`);
    }
  };
  for (const { accountId, day, counters } of await dailyTotals.find({}, { promoteLongs: false }).toArray()) {
    walk(counters, `${accountId} ${day} `);
  }
  return withoutZeros(stored);
}

const withoutZeros = (all: Record<string, number>) =>
  Object.fromEntries(
    Object.entries(all)
      .filter(([, value]) => value !== 0)
      .sort(),
  );

const statuses = {
  pending: ['PENDING'],
  processing: ['PROCESSING'],
  success: ['SUCCESS'],
  failed: ['FAILED', 'REFUNDED'],
};

/** Requests pages with all kinds of filters and compares each page with the sorted rows. */
async function expectHistoryToBeRight({ buyerIds, sellerIds }: Parties, rounds: number): Promise<void> {
  const rows = await PurchaseModel.find().lean<Purchase[]>();
  rows.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a._id < b._id ? 1 : -1));
  const pick = <T>(of: readonly T[]) => of[Math.floor(random() * of.length)] as T;
  const pageOf = async (query: HistoryQuery) => {
    const { total, purchases: found } = await listTransactions(query);
    return { total, ids: found.map((each) => each._id) };
  };
  for (let round = 0; round < rounds; round++) {
    const isBuyer = random() < 0.5;
    const id = pick(isBuyer ? buyerIds : sellerIds);
    const startMs = Date.now() - random() * 7 * dayMs;
    const endMs = startMs + random() * 4 * dayMs;
    const text = (ms: number) =>
      round % 2 === 0 ? new Date(ms).toISOString() : (DateTime.fromMillis(ms, { zone }).toISODate() ?? '');
    const given = round % 5 === 0 ? {} : { startDate: text(startMs), endDate: text(endMs) };
    const edge = (date: string | undefined, ms: number, of: 'startOf' | 'endOf') =>
      round % 2 === 0 && date !== undefined
        ? Date.parse(date)
        : DateTime.fromMillis(ms, { zone })[of]('day').toMillis();
    const from = edge(
      given.startDate,
      given.startDate === undefined ? Date.now() - 29 * dayMs : startMs,
      'startOf',
    );
    const until = edge(given.endDate, given.endDate === undefined ? Date.now() : endMs, 'endOf');
    const status = pick([undefined, 'pending', 'processing', 'success', 'failed'] as const);
    const wanted = rows
      .filter((row) => (isBuyer ? row.accountId : row.sellerId) === id)
      .filter((row) => status === undefined || statuses[status].includes(row.status))
      .filter((row) => row.createdAt.getTime() >= from && row.createdAt.getTime() <= until)
      .map((row) => row._id);
    const limit = pick([1, 7, 20, 100]);
    const pages = Math.ceil(wanted.length / limit);
    for (const page of new Set([1, Math.max(1, Math.floor(pages / 2)), Math.max(1, pages), pages + 1])) {
      const query = { owner: isBuyer ? { accountId: id } : { sellerId: id }, status, ...given, page, limit };
      expect(await pageOf(query), JSON.stringify(query)).to.deep.equal({
        total: wanted.length,
        ids: wanted.slice((page - 1) * limit, page * limit),
      });
    }
  }
}

async function findings() {
  const log = createFindingLog();
  await checkDailyTotals(log, { fromDay: null, onPart: () => undefined });
  return log.findings;
}

describe(`daily totals, ${random.seed}`, function () {
  this.timeout(120_000);
  useDatabase();
  let parties: Parties;
  const sellers: ChildProcess[] = [];

  before(async () => {
    await initializeTotals();
    parties = await newParties();
  });
  after(() => {
    sellers.forEach((each) => each.kill('SIGKILL'));
  });

  async function newParties(): Promise<Parties> {
    const name = (role: string) => uniqueRef(role).toLowerCase().slice(0, 40);
    const buyers = await Promise.all(
      [1, 2, 3].map(() => createAccount({ username: name('b'), role: 'buyer' })),
    );
    const others = await Promise.all(
      [1, 2].map(() =>
        createAccount({
          username: name('s'),
          role: 'seller',
          provider: { kind: 'simulator', baseUrl: null, username: 'x', secret: 'y' },
        }),
      ),
    );
    await Promise.all(
      buyers.map(({ account }) => createDeposit({ account, amount: 1_000_000_000, refId: uniqueRef() })),
    );
    return { buyerIds: idsOf(buyers), sellerIds: idsOf(others) };
  }

  async function startSelling(order: Omit<SellingOrder, 'parties' | 'seed'>) {
    const child = forkTestProgram('test/purchases/selling-process');
    sellers.push(child);
    await once(child, 'message');
    const state = { child, sold: 0, done: false, slots: [] as number[] };
    // Use one permanent listener, because two messages can arrive together, before code that awaits
    // the first one continues.
    child.on('message', (message: { sold?: true; done?: true; slots?: number[] }) => {
      state.sold += message.sold ? 1 : 0;
      state.done ||= message.done === true;
      state.slots = message.slots ?? state.slots;
    });
    child.send({ ...order, parties, seed: Math.floor(random() * 2 ** 31) } satisfies SellingOrder);
    return state;
  }

  it('are complete in a database without purchases', async () => {
    expect(await areTotalsComplete()).to.equal(true);
  });

  it('equal the purchases while processes sell or die and days are folded and rebuilt', async () => {
    // All three processes sell without limit. Two are stopped later, and the third is killed.
    const order = { purchases: Number.MAX_SAFE_INTEGER, atOnce: 4 };
    const [first, second, killed] = await Promise.all([order, order, order].map(startSelling));
    const haveSold = (least: number, ...of: (typeof first)[]) =>
      of.every((each) => (each?.sold ?? 0) > least);
    let stopped = false;
    // Retries work that has too many write conflicts, as the schedule does. While sales continue,
    // folding a day may succeed only after they end.
    const untilDone = (work: () => Promise<unknown>) =>
      eventually('the work succeeds', () => work().then(() => true), 30_000);
    const folding = (async () => {
      while (!stopped) {
        await untilDone(foldTotals);
      }
    })();
    try {
      for (let rounds = 0; rounds < 3 || !haveSold(100, first, second); rounds++) {
        await untilDone(rebuildTotals);
        expect(await findings()).to.deep.equal([]);
        if (haveSold(20, killed)) {
          killed?.child.kill('SIGKILL');
        }
      }
      await eventually('the last process sells before its kill', () => haveSold(20, killed));
    } finally {
      killed?.child.kill('SIGKILL');
      first?.child.send('stop');
      second?.child.send('stop');
      stopped = true;
      await folding;
    }
    await eventually('the other processes end', () => first?.done && second?.done);
    expect(killed?.done).to.equal(false);
    // The last database transaction of the killed process may still be committed.
    await eventually('its last database transaction is complete', async () => {
      const [rows, totals] = [await countFromRows(), await storedTotals()];
      return JSON.stringify(rows) === JSON.stringify(totals);
    });
    expect(Object.keys(await countFromRows())).to.have.length.greaterThan(100);
    await expectHistoryToBeRight(parties, 60);
  });

  it('are one document per day after folding, with the same sums', async () => {
    await playPurchase(parties, random);
    const before = await storedTotals();
    await foldTotals();
    expect(await storedTotals()).to.deep.equal(before);
    const yesterday = DateTime.now().setZone(zone).minus({ days: 1 }).toISODate() ?? '';
    const old = await dailyTotals.find({ day: { $lt: yesterday } }).toArray();
    expect(old).to.have.length.greaterThan(3);
    expect(old.filter((each) => each.slot !== null)).to.deep.equal([]);
    // A later change to an old purchase is counted in a slot again.
    await playPurchase(parties, random);
    expect(await findings()).to.deep.equal([]);
  });

  it('are found if wrong, by account, day and counter, and rebuilt', async () => {
    const right = await storedTotals();
    const [some] = await dailyTotals
      .find({ 'counters.bought.count.SUCCESS': { $gt: 0 } })
      .limit(1)
      .toArray();
    await dailyTotals.updateOne(
      { _id: some?._id ?? '' },
      { $inc: { 'counters.bought.count.SUCCESS': Long.fromNumber(1) } },
    );
    const found = await findings();
    expect(found).to.have.length(1);
    expect(found[0]).to.include({
      check: 'totals',
      subject: `account ${some?.accountId ?? ''} on ${some?.day ?? ''}`,
    });
    expect(found[0]?.message).to.match(/^bought\.count\.SUCCESS is \d+, its transactions total \d+/);
    expect((await rebuildTotals()).corrected).to.equal(1);
    expect(await storedTotals()).to.deep.equal(right);
    expect(await findings()).to.deep.equal([]);
  });

  it('of a day without purchases are found and removed', async () => {
    await dailyTotals.insertOne({
      _id: `${parties.buyerIds[0] ?? ''}|2020-01-01|3`,
      accountId: parties.buyerIds[0] ?? '',
      day: '2020-01-01',
      slot: 3,
      counters: { bought: { count: { SUCCESS: 1 } } },
    });
    expect(await findings()).to.have.length(1);
    await rebuildTotals();
    expect(await findings()).to.deep.equal([]);
  });

  it('are replaced by counting while they are missing, until a rebuild', async () => {
    // Delete the totals. Only the rows remain, as after a change of BUSINESS_TIMEZONE.
    await mongoose.connection.db?.collection('totalsState').deleteMany({});
    await dailyTotals.deleteMany({});
    await eventually('the process notices', async () => !(await areTotalsComplete()));
    await playPurchase(parties, random);
    await expectHistoryToBeRight(parties, 20);
    expect(await findings(), 'findings while the totals are unused').to.deep.equal([]);
    await initializeTotals();
    expect(await areTotalsComplete(), 'totals complete despite purchases').to.equal(false);
    await rebuildTotals();
    expect(await areTotalsComplete()).to.equal(true);
    expect(await storedTotals()).to.deep.equal(await countFromRows());
    await expectHistoryToBeRight(parties, 20);
  });

  it('page through a busy quarter of an hour and into older days', async () => {
    const at = DateTime.now().setZone(zone).minus({ days: 3 }).startOf('day').plus({ hours: 9 }).toMillis();
    const [accountId = ''] = parties.buyerIds;
    const rows = Array.from({ length: 1_500 }, (_, index) =>
      someTransaction({
        accountId,
        status: index % 3 === 0 ? 'FAILED' : 'REFUNDED',
        createdAt: new Date(at + Math.floor(random() * (index < 1_200 ? 0.3 : 5) * hourMs)),
      }),
    );
    await purchases.insertMany(rows.map(toStored));
    await rebuildTotals();
    await expectHistoryToBeRight(parties, 60);
  });

  it('use separate slots in each process, two if two groups are written at once', async () => {
    const children = await Promise.all([1, 2, 3].map(() => startSelling({ purchases: 1, atOnce: 1 })));
    const asked = await eventually('all slots are leased', () => {
      children.forEach(({ child }) => child.send('slots'));
      const all = children.flatMap(({ slots }) => slots);
      return all.length === 6 && all.every((slot) => slot < 48) && all;
    });
    expect(new Set(asked)).to.have.property('size', 6);
  });
});
