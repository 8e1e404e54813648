import { AccountModel } from '../accounts/account.model.js';
import { atSnapshot, type Snapshot } from '../database/mongo.js';
import { addToCounter, type Counters } from '../money/totals/counters.js';
import { readTotalsOfMany } from '../money/totals/read-totals.js';
import { areTotalsComplete } from '../money/totals/totals-state.model.js';
import { businessDay, getBusinessDayByName, getBusinessDay, daysAfter } from '../shared/business-time.js';
import { nowMs } from '../shared/clock.js';
import { purchases, type Purchase } from './purchase.model.js';
import { getCounters } from './purchase-totals.js';

/** What was sold by everybody, by its seller: `null` are purchases that no seller has been asked for (yet). */
export interface DaySales {
  sellerId: string | null;
  /** YYYY-MM-DD in business time: the day on which the purchases were accepted, whenever they became what they are. */
  day: string;
  /** The counters `sold` of src/purchases/purchase-totals.ts, by the rest of their path. */
  counters: Counters;
}

export interface BusinessDays {
  today: string;
  yesterday: string;
  /** The 28 before, the first of them first. */
  olderDays: string[];
  /** Today and yesterday, with all purchases of these days and their quarters of an hour. */
  recent: DaySales[];
  /** Of the days before: what sellers were asked for, which is all that has succeeded. */
  older: DaySales[];
  /** Usernames by id. */
  sellers: Map<string, string>;
  /** False: the totals do not hold the whole history yet, or there is more than is read here. */
  isWhole: boolean;
}

const olderDaysRead = 28;
const sellersMax = 2_000;
/** Purchases of two days that nobody has been asked for: they are counted one by one. */
const unassignedMax = 5_000;
const paths = ['sold.count', 'sold.amount', 'sold.commission'];

/**
 * The business of the last 30 days at one moment, from the daily totals of all sellers: what they say is in the database
 * transactions that moved the money. What no seller was asked for is in nobody's `sold`, and counted from the purchases.
 */
export async function readBusinessDays(): Promise<BusinessDays> {
  const today = businessDay(new Date(nowMs()));
  const yesterday = daysAfter(today, -1);
  const [found, areComplete] = await Promise.all([
    AccountModel.find({ role: 'seller' }, { username: 1 })
      .sort({ createdAt: -1 })
      .limit(sellersMax)
      .batchSize(sellersMax)
      .lean<{ _id: string; username: string }[]>(),
    areTotalsComplete(),
  ]);
  const accountIds = found.map(({ _id }) => _id);
  const olderDays = Array.from({ length: olderDaysRead }, (_, n) => daysAfter(yesterday, n - olderDaysRead));
  return atSnapshot(async (snapshot) => {
    const recent = await readTotalsOfMany(snapshot, {
      accountIds,
      from: yesterday,
      to: today,
      paths: [...paths, 'sold.quarters'],
    });
    // The first read has fixed the moment.
    const [older, unasked] = await Promise.all([
      readTotalsOfMany(snapshot, {
        accountIds,
        from: daysAfter(yesterday, -olderDaysRead),
        to: daysAfter(yesterday, -1),
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

/** So many are looked at of what is open; more changes nothing about what to do. */
const lookedMax = 5_000;

export interface OpenPurchases {
  count: number;
  /** Rupiah that were debited for them and belong to nobody yet. */
  suspense: number;
  /** There are more than were looked at. */
  isCut: boolean;
  /** How many were accepted less than so many milliseconds ago, in the order of the ages asked for. */
  younger: number[];
}

/**
 * Purchases that are not final, by the index of what is due; what waits for a person comes first there. Counted and added
 * up by MongoDB: thousands of rows are not sent for a few figures.
 */
export async function sumOpenPurchases(agesMs: readonly number[] = []): Promise<OpenPurchases> {
  const atMs = nowMs();
  const youngerThan = agesMs.map((ageMs, place): [name: string, sum: object] => [
    `younger${place}`,
    { $sum: { $cond: [{ $gt: ['$createdAt', new Date(atMs - ageMs)] }, 1, 0] } },
  ]);
  // Of one moment: a purchase moves within this index while it is read, and would be counted twice or not at all.
  const [found] = await atSnapshot((snapshot) =>
    purchases
      .aggregate<{ count: number; suspense: number } & Record<string, number>>(
        [
          { $match: { status: { $in: ['PENDING', 'PROCESSING'] } } },
          { $limit: lookedMax },
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
  return { count, suspense, isCut: count === lookedMax, younger };
}
