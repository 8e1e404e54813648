import { AccountModel } from '../accounts/account.model.js';
import { withSnapshot, type Snapshot } from '../database/mongo.js';
import { addToCounter, type Counters } from '../money/totals/counters.js';
import { readTotalsOfMany } from '../money/totals/read-totals.js';
import { areTotalsComplete } from '../money/totals/totals-state.model.js';
import { formatBusinessDay, getBusinessDayByName, getBusinessDay, addDays } from '../shared/business-time.js';
import { nowMs } from '../shared/clock.js';
import { purchases, type Purchase } from './purchase.model.js';
import { getCounters } from './purchase-totals.js';

/**
 * Sales of one seller on one day. If `sellerId` is null, these purchases were sent to no seller
 * yet.
 */
export interface DaySales {
  sellerId: string | null;
  /** YYYY-MM-DD in business time: the day on which the purchases were accepted. */
  day: string;
  /** The `sold` counters (see purchase-totals.ts), without the prefix of their path. */
  counters: Counters;
}

export interface BusinessDays {
  today: string;
  yesterday: string;
  /** The 28 days before yesterday, oldest first. */
  olderDays: string[];
  /** Today and yesterday, with all purchases and their quarter hours. */
  recent: DaySales[];
  /**
   * The days before yesterday, with only the purchases that were sent to a seller. These include
   * every success.
   */
  older: DaySales[];
  /** Usernames by id. */
  sellers: Map<string, string>;
  /** False if the totals do not cover the whole history, or a read limit was reached. */
  isWhole: boolean;
}

const olderDaysRead = 28;
const sellersMax = 2_000;
/**
 * Maximum number of purchases without a seller to count in two days. They are counted row by row.
 */
const unassignedMax = 5_000;
const paths = ['sold.count', 'sold.amount', 'sold.commission'];

/**
 * Reads the sales of the last 30 days from the daily totals of all sellers, at one snapshot.
 * Purchases without a seller are in no seller's `sold` counters, so they are counted from the rows.
 */
export async function readBusinessDays(): Promise<BusinessDays> {
  const today = formatBusinessDay(new Date(nowMs()));
  const yesterday = addDays(today, -1);
  const [found, areComplete] = await Promise.all([
    AccountModel.find({ role: 'seller' }, { username: 1 })
      .sort({ createdAt: -1 })
      .limit(sellersMax)
      .batchSize(sellersMax)
      .lean<{ _id: string; username: string }[]>(),
    areTotalsComplete(),
  ]);
  const accountIds = found.map(({ _id }) => _id);
  const olderDays = Array.from({ length: olderDaysRead }, (_, n) => addDays(yesterday, n - olderDaysRead));
  return withSnapshot(async (snapshot) => {
    const recent = await readTotalsOfMany(snapshot, {
      accountIds,
      from: yesterday,
      to: today,
      paths: [...paths, 'sold.quarters'],
    });
    // The first read fixes the snapshot.
    const [older, unasked] = await Promise.all([
      readTotalsOfMany(snapshot, {
        accountIds,
        from: addDays(yesterday, -olderDaysRead),
        to: addDays(yesterday, -1),
        paths,
      }),
      readUnassignedSales(snapshot, yesterday, today),
    ]);
    return {
      today,
      yesterday,
      olderDays,
      recent: [...recent.map(toDaySales), ...unasked.sold],
      older: older.map(toDaySales),
      sellers: new Map(found.map(({ _id, username }) => [_id, username])),
      isWhole: areComplete && !unasked.isCut && found.length < sellersMax,
    };
  });
}

function toDaySales(each: { accountId: string; day: string; counters: Counters }): DaySales {
  const counters = [...each.counters].map(([path, value]) => [path.slice('sold.'.length), value] as const);
  return { sellerId: each.accountId, day: each.day, counters: new Map(counters) };
}

async function readUnassignedSales(
  snapshot: Snapshot,
  from: string,
  to: string,
): Promise<{ sold: DaySales[]; isCut: boolean }> {
  type Counted = Pick<Purchase, 'status' | 'price' | 'createdAt'>;
  const rows: Counted[] = await purchases
    .find(
      {
        sellerId: null,
        createdAt: {
          $gte: new Date(getBusinessDayByName(from).startMs),
          $lte: new Date(getBusinessDayByName(to).endMs),
        },
      },
      { ...snapshot, singleBatch: true, limit: unassignedMax, batchSize: unassignedMax },
    )
    .project<Counted>({ _id: 0, status: 1, price: 1, createdAt: 1 })
    .sort({ createdAt: -1, _id: -1 })
    .toArray();
  const byDay = new Map<string, Counters>();
  for (const row of rows) {
    const { day } = getBusinessDay(row.createdAt);
    const counters = byDay.get(day) ?? new Map<string, number>();
    byDay.set(day, counters);
    const counted = { ...row, accountId: '', sellerId: null, commissionAmount: null };
    for (const [path, add] of getCounters({ ...counted, productCode: '', subcategory: '' }, 'sold')) {
      addToCounter(counters, path.slice('sold.'.length), add);
    }
  }
  return {
    sold: [...byDay].map(([day, counters]) => ({ sellerId: null, day, counters })),
    isCut: rows.length === unassignedMax,
  };
}

/**
 * Maximum number of open purchases to read. A higher count would not change what the operator does.
 */
const scannedMax = 5_000;

export interface OpenPurchases {
  count: number;
  /** Rupiah that were debited for the open purchases and are not settled yet. */
  suspense: number;
  /** True if the read limit was reached. */
  isCut: boolean;
  /** For each of the requested ages in milliseconds, the number of purchases that are younger. */
  younger: number[];
}

/**
 * Counts and sums purchases that are not final, using the index status_next_action. In this index,
 * purchases under review sort first. MongoDB aggregates, so rows are not transferred.
 */
export async function sumOpenPurchases(agesMs: readonly number[] = []): Promise<OpenPurchases> {
  const atMs = nowMs();
  const youngerThan = agesMs.map((ageMs, place): [name: string, sum: object] => [
    `younger${place}`,
    { $sum: { $cond: [{ $gt: ['$createdAt', new Date(atMs - ageMs)] }, 1, 0] } },
  ]);
  // Use a snapshot read. Without it, a purchase that moves within the index would be counted twice
  // or not at all.
  const [found] = await withSnapshot((snapshot) =>
    purchases
      .aggregate<{ count: number; suspense: number } & Record<string, number>>(
        [
          { $match: { status: { $in: ['PENDING', 'PROCESSING'] } } },
          { $limit: scannedMax },
          {
            $group: {
              _id: null,
              count: { $sum: 1 },
              suspense: { $sum: '$price' },
              ...Object.fromEntries(youngerThan),
            },
          },
        ],
        { ...snapshot, hint: 'status_next_action' },
      )
      .toArray(),
  );
  const { count = 0, suspense = 0 } = found ?? {};
  const younger = youngerThan.map(([name]) => found?.[name] ?? 0);
  return { count, suspense, isCut: count === scannedMax, younger };
}
