import { defineScheduledJob } from '../jobs/sweep-job.js';
import { AccountModel, type Account } from '../accounts/account.model.js';
import { bySystem } from '../audit/record-audit.js';
import { getAdapter, buildConnection, hasAdapter } from '../providers/get-adapter.js';
import { withLease } from '../redis/lease.js';
import { formatBusinessDay, addDays, getStartOfDay } from '../shared/business-time.js';
import { now, nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import {
  daysWatched,
  storedDifferencesMax,
  storeReconciliation,
  findLastReconciliations,
} from './stored-reconciliations.js';
import { hasUnacceptedDifferences, type ProviderReconciliation } from './provider-reconciliation.model.js';
import { reconcileProvider, getRecordPeriod } from './reconcile-provider.js';

/**
 * Compares the records of providers with ours, day by day. If no day is due, the job takes one read
 * per provider.
 */
export const reconcileProvidersJob = defineScheduledJob('reconcile-providers', 600_000);

/** Delay after the end of a day. By then almost all of its orders are final on both sides. */
const fromMs = 2 * 3_600_000;
/**
 * Delay before a day with differences is compared again, because the cause may be fixed by then.
 */
const differenceRetryMs = 3_600_000;
const leaseMs = 60_000;

/** A seller whose provider is reconciled. */
export type ReconciledSeller = Pick<Account, '_id' | 'username' | 'createdAt' | 'provider'>;

/** Counts of one scheduled run. */
export interface ReconciledDays {
  days: number;
  different: number;
  /** Days whose record could not be read. The next run retries them. */
  unread: number;
}

/**
 * For each provider with a record, compares every day that is over and has not been compared. Days
 * with unaccepted differences are compared again every hour. Safe to run twice. Run by
 * `reconcileProvidersJob`.
 */
export async function reconcileDue(): Promise<ReconciledDays | null> {
  return withLease('reconcile-providers', leaseMs, async () => {
    const ended: ReconciledDays = { days: 0, different: 0, unread: 0 };
    for (const seller of await findReconciledSellers()) {
      for (const date of getDueDays(await findLastReconciliations(seller._id))) {
        const different = await reconcileSellerDay(seller, date);
        ended.days += Number(different !== null);
        ended.different += different ?? 0;
        ended.unread += Number(different === null);
      }
    }
    return ended;
  });
}

/** Finds sellers whose provider can return its record. Includes sellers that no longer sell. */
async function findReconciledSellers(): Promise<ReconciledSeller[]> {
  const fields = { username: 1, createdAt: 1, provider: 1 };
  const sellers = await AccountModel.find({ role: 'seller' }, fields).lean<ReconciledSeller[]>();
  return sellers.filter(
    ({ provider }) =>
      provider !== null && hasAdapter(provider.kind) && getAdapter(provider.kind).record !== undefined,
  );
}

/** Finds the last comparisons of each provider, newest first. */
export async function findLastByProvider(): Promise<
  { seller: ReconciledSeller; last: ProviderReconciliation[] }[]
> {
  const sellers = await findReconciledSellers();
  return Promise.all(
    sellers.map(async (seller) => ({ seller, last: await findLastReconciliations(seller._id) })),
  );
}

/** Returns the time of the next scheduled comparison. */
export function getNextReconciliation(last: ProviderReconciliation[]): Date {
  if (getDueDays(last).length > 0) {
    return now();
  }
  const red = last.filter(hasUnacceptedDifferences).map(({ at }) => at.getTime() + differenceRetryMs);
  const tomorrow = getStartOfDay(addDays(formatBusinessDay(now()), 1)).getTime() + fromMs;
  const today = getStartOfDay(formatBusinessDay(now())).getTime() + fromMs;
  return new Date(Math.min(...red, today > nowMs() ? today : tomorrow));
}

/** True if almost all orders of a day are final on both sides. */
export function isDayOver(date: string): boolean {
  return date <= getLastDayOver();
}

function getLastDayOver(): string {
  return addDays(formatBusinessDay(new Date(nowMs() - fromMs)), -1);
}

/** @param last The compared days, newest first. */
function getDueDays(last: ProviderReconciliation[]): string[] {
  const over = getLastDayOver();
  const again = last.filter(
    (each) => hasUnacceptedDifferences(each) && nowMs() - each.at.getTime() >= differenceRetryMs,
  );
  const due = again.map(({ date }) => date);
  const compared = new Set(last.map(({ date }) => date));
  const earliest = addDays(over, 1 - daysWatched);
  const begun = last.at(-1)?.date ?? over;
  for (let day = begun > earliest ? begun : earliest; day <= over; day = addDays(day, 1)) {
    if (!compared.has(day)) {
      due.push(day);
    }
  }
  return due;
}

/** @returns The number of differences. Null if the record could not be read. */
async function reconcileSellerDay(seller: ReconciledSeller, date: string): Promise<number | null> {
  try {
    const { provider, _id: sellerId } = seller;
    const reading =
      provider && (await getAdapter(provider.kind).record?.(buildConnection(seller), getRecordPeriod(date)));
    if (!reading?.ok) {
      logger.warn('provider did not return its record', { sellerId, date, code: reading?.code });
      return null;
    }
    const found = await reconcileProvider(seller, date, reading.value, storedDifferencesMax);
    await storeReconciliation(sellerId, found, bySystem.actor);
    const { ours, theirs, matched, different } = found;
    logger.log(different > 0 ? 'error' : 'info', 'provider reconciled', {
      sellerId,
      date,
      ours,
      theirs,
      matched,
      different,
    });
    return different;
  } catch (error) {
    // A provider with wrong settings must not prevent the comparison of others.
    logger.warn('provider not reconciled', { sellerId: seller._id, date, error });
    return null;
  }
}
