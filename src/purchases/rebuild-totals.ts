import { getBusinessDay, getBusinessDayByName } from '../shared/business-time.js';
import { dailyTotals } from '../money/totals/daily-totals.model.js';
import { AccountModel } from '../accounts/account.model.js';
import { purchases } from './purchase.model.js';
import { ownerField, sides, type Side, getCounters, type CountedPurchase } from './purchase-totals.js';
import { type Snapshot, withSnapshot } from '../database/mongo.js';
import { addToCounters, type Counters } from '../money/totals/counters.js';
import { replaceBase } from '../money/totals/write-totals.js';
import { compareCounters, readStoredDay } from '../money/totals/read-totals.js';
import { setTotalsComplete } from '../money/totals/totals-state.model.js';

const accountBatchSize = 1_000;

/**
 * Yields every day on which an account has purchases or totals, account by account. Only the days
 * of one account are in memory at a time.
 * @param options.fromDay First day (YYYY-MM-DD). Null means no lower limit.
 * @param options.onAccount Called for each account, including accounts without days.
 */
export async function* listAccountDays({
  fromDay = null,
  onAccount = () => undefined,
}: { fromDay?: string | null; onAccount?: () => void } = {}): AsyncGenerator<{
  accountId: string;
  day: string;
}> {
  for await (const accountId of listAccountIds()) {
    onAccount();
    const days = new Set<string>();
    for (const side of sides) {
      for await (const day of listPurchaseDays(accountId, side)) {
        if (fromDay !== null && day < fromDay) {
          break;
        }
        days.add(day);
      }
    }
    for (const day of await findTotalsDays(accountId, fromDay)) {
      days.add(day);
    }
    for (const day of [...days].sort()) {
      yield { accountId, day };
    }
  }
}

async function* listAccountIds(): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const page = await AccountModel.find({ _id: { $gt: after } }, { _id: 1 })
      .sort({ _id: 1 })
      .limit(accountBatchSize)
      .lean<{ _id: string }[]>();
    yield* page.map((each) => each._id);
    after = page.at(-1)?._id ?? '';
    if (page.length < accountBatchSize) {
      return;
    }
  }
}

/**
 * Skips from one day to the next in the index, so the cost does not depend on the number of
 * purchases in a day.
 */
async function* listPurchaseDays(accountId: string, side: Side): AsyncGenerator<string> {
  let before: Date | null = null;
  for (;;) {
    const newest: { createdAt: Date } | null = await purchases.findOne(
      { [ownerField[side]]: accountId, ...(before && { createdAt: { $lt: before } }) },
      { projection: { _id: 0, createdAt: 1 }, sort: { createdAt: -1, _id: -1 } },
    );
    if (!newest) {
      return;
    }
    const { day, startMs } = getBusinessDay(newest.createdAt);
    yield day;
    before = new Date(startMs);
  }
}

async function findTotalsDays(accountId: string, fromDay: string | null): Promise<Set<string>> {
  const found = dailyTotals
    .find({ _id: { $gte: `${accountId}|${fromDay ?? ''}`, $lt: `${accountId}|~` } })
    .project<{ day: string }>({ _id: 0, day: 1 })
    // The base sorts after its slots, so a slot that is folded during the read is not missed.
    .sort({ _id: 1 });
  const days = new Set<string>();
  for await (const { day } of found) {
    days.add(day);
  }
  return days;
}

/**
 * A stored purchase. The ledger verification must also read damaged rows that lack the product
 * fields.
 */
type StoredPurchase = { _id: string } & Omit<CountedPurchase, 'productCode' | 'subcategory'> &
  Partial<CountedPurchase>;

const countedFields = {
  accountId: 1,
  sellerId: 1,
  status: 1,
  price: 1,
  commissionAmount: 1,
  productCode: 1,
  subcategory: 1,
  createdAt: 1,
};

const pageSize = 1_000;

/**
 * Counts the totals for one day of an account from its purchases, at the caller's snapshot.
 * Purchases are read in pages, so memory does not grow with the day.
 */
export async function countDayTotals(snapshot: Snapshot, accountId: string, day: string): Promise<Counters> {
  const counters: Counters = new Map();
  for (const side of sides) {
    for await (const page of readPurchasePages(snapshot, { [ownerField[side]]: accountId }, day)) {
      page.forEach((each) => {
        addToCounters(counters, getCounters({ productCode: '', subcategory: '', ...each }, side));
      });
    }
  }
  return counters;
}

/** Uses one query per page, because a cursor's `getMore` does not keep the snapshot. */
async function* readPurchasePages(
  snapshot: Snapshot,
  owner: Record<string, string>,
  day: string,
): AsyncGenerator<StoredPurchase[]> {
  const { startMs, endMs } = getBusinessDayByName(day);
  let last: StoredPurchase | undefined;
  do {
    const page: StoredPurchase[] = await purchases
      .find(
        {
          ...owner,
          createdAt: { $gte: new Date(startMs), $lte: last?.createdAt ?? new Date(endMs) },
          ...(last && { $or: [{ createdAt: { $lt: last.createdAt } }, { _id: { $lt: last._id } }] }),
        },
        { ...snapshot, singleBatch: true, limit: pageSize, batchSize: pageSize },
      )
      .project<StoredPurchase>(countedFields)
      .sort({ createdAt: -1, _id: -1 })
      .toArray();
    yield page;
    last = page.length < pageSize ? undefined : page.at(-1);
  } while (last);
}

export interface RebuildResult {
  /** Number of account days processed. */
  days: number;
  /** Number of account days whose totals were wrong and were corrected. */
  corrected: number;
}

/**
 * Rebuilds the daily totals from the purchases while the service runs. Safe to interrupt and to run
 * again. Until the first rebuild completes, history is counted from rows.
 *
 * Before you run it, upgrade every process that makes sales to a release that writes totals.
 */
export async function rebuildTotals(
  progress: (days: number) => void = () => undefined,
): Promise<RebuildResult> {
  const rebuilt: RebuildResult = { days: 0, corrected: 0 };
  for await (const { accountId, day } of listAccountDays()) {
    rebuilt.corrected += (await rebuildDay(accountId, day)) ? 1 : 0;
    progress(++rebuilt.days);
  }
  await setTotalsComplete();
  return rebuilt;
}

/** Marks the totals as complete if the database has no purchases. */
export async function initializeTotals(): Promise<void> {
  if ((await purchases.findOne({}, { projection: { _id: 1 } })) === null) {
    await setTotalsComplete();
  }
}

/**
 * Computes the base at a snapshot: the counted totals less the slots. Slots are not written, so no
 * sale conflicts with the rebuild. A sale updates its slot in the posting of the sale, so the
 * snapshot has both or neither. If slots are folded into the base meanwhile, the function retries.
 * @returns True if the base was changed.
 */
async function rebuildDay(accountId: string, day: string): Promise<boolean> {
  for (;;) {
    const { right, base, version } = await withSnapshot(async (snapshot) => {
      const counted = await countDayTotals(snapshot, accountId, day);
      const stored = await readStoredDay(snapshot, accountId, day);
      addToCounters(counted, stored.slots, -1);
      return { ...stored, right: counted };
    });
    if (compareCounters(right, base).length === 0) {
      return false;
    }
    if (await replaceBase({ accountId, day, version }, right)) {
      return true;
    }
  }
}
