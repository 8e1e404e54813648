import { defineScheduledJob } from '../../jobs/sweep-job.js';
import { runInTransaction } from '../../database/mongo.js';
import { getShardRange } from '../../database/sharding.js';
import { addSums, computeRoot, createWalletsDigest } from '../../money/closes/close-hash.js';
import { signRoot, type ClosedDay, findLastClosedDay } from '../../money/closes/day-closes.js';
import { dayCloses, type DayClose, type DayRoot } from '../../money/closes/day-close.model.js';
import {
  toStoredSums,
  toStored,
  walletCloses,
  type LedgerSums,
  type WalletClose,
} from '../../money/closes/wallet-close.model.js';
import { wallets, type Wallet } from '../../money/wallets/wallet.model.js';
import { now, nowMs } from '../../shared/clock.js';
import { ConflictError, ValidationError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { groupBy } from '../../shared/collections.js';
import { buildWalletClose, type DayBound } from './build-wallet-close.js';
import { readDayAudit, closeAudit } from './close-audit.js';
import { withLease } from '../../redis/lease.js';
import { formatBusinessDay, addDays, getStartOfDay } from '../../shared/business-time.js';
import { logger } from '../../shared/logger.js';

/** Closes the days that have ended. Usually there are none, which takes one read. */
export const closeLedgerJob = defineScheduledJob('close-ledger', 300_000);

const walletsPerPage = 200;
/** Number of wallets read concurrently. */
const concurrency = 8;
/** A root is permanent, so it only uses data that a failover cannot roll back. */
const majorityRead = { readConcern: 'majority' } as const;

/**
 * Closes a day: first a row for each wallet that moved and each audit entry, then the root over all
 * rows, in one conditional write.
 *
 * Safe to run twice, concurrently, and after a crash. Rows never change, and each batch of rows
 * increments `batches` in its transaction. The write of the root requires an unchanged `batches`,
 * so no row follows the root, and the root includes all rows.
 *
 * @param previous The day closed before this one.
 * @returns The closed day, even if another process closed it.
 * @throws ConflictError if the journals of a wallet are not consecutive, or the signing key of
 * earlier days is not set.
 */
export async function closeDay(bound: DayBound, previous: ClosedDay | null): Promise<ClosedDay> {
  const { day } = bound;
  await dayCloses.updateOne(
    { _id: day },
    { $setOnInsert: { state: 'building', batches: 0, content: null, root: null, signature: null } },
    { upsert: true },
  );
  await writeRows(bound);
  await closeAudit(bound, previous);
  for (;;) {
    const standing = await dayCloses.findOne({ _id: day }, majorityRead);
    if (standing?.state === 'closed') {
      return standing as ClosedDay;
    }
    await writeRoot(day, standing?.batches ?? 0, previous);
  }
}

async function writeRows(bound: DayBound): Promise<void> {
  let after = '';
  for (;;) {
    const page = await wallets
      .find<Pick<Wallet, '_id' | 'seq'>>({ _id: { $gt: after } }, { projection: { seq: 1 } })
      .sort({ _id: 1 })
      .limit(walletsPerPage)
      .toArray();
    const rows = await buildRows(page, bound);
    for (const some of groupBy(rows, ({ walletId }) => getShardRange(walletId)).values()) {
      if (!(await addRows(bound.day, some))) {
        return;
      }
    }
    const last = page.at(-1);
    if (!last || page.length < walletsPerPage) {
      return;
    }
    after = last._id;
  }
}

async function buildRows(page: Pick<Wallet, '_id' | 'seq'>[], bound: DayBound): Promise<WalletClose[]> {
  // A concurrent close of a wallet can hide the wallet's newest close from this query. In that
  // case, `addRows` finds the existing row or the closed day.
  const newest = await walletCloses
    .find({ walletId: { $in: page.map(({ _id }) => _id) }, newest: true }, majorityRead)
    .toArray();
  const newestOf = new Map(newest.map((row) => [row.walletId, row]));
  const moved = page.filter(({ _id, seq }) => {
    const row = newestOf.get(_id);
    return row?.day !== bound.day && seq > (row?.lastSeq ?? 0);
  });
  const rows: (WalletClose | null)[] = [];
  for (let start = 0; start < moved.length; start += concurrency) {
    const some = moved.slice(start, start + concurrency);
    rows.push(
      ...(await Promise.all(some.map(({ _id }) => buildWalletClose(_id, newestOf.get(_id) ?? null, bound)))),
    );
  }
  return rows.filter((row) => row !== null);
}

/**
 * Adds rows to a day.
 * @returns False if the day is closed. Nothing was written, and nothing is left to do.
 */
async function addRows(day: string, rows: WalletClose[]): Promise<boolean> {
  return runInTransaction(async (session) => {
    const fence = await dayCloses.updateOne(
      { _id: day, state: 'building' },
      { $inc: { batches: 1 } },
      { session },
    );
    if (fence.matchedCount === 0) {
      return false;
    }
    const ids = rows.map(({ _id }) => _id);
    const known = await walletCloses
      .find<Pick<WalletClose, '_id'>>(
        { _id: { $in: ids }, walletId: { $in: rows.map(({ walletId }) => walletId) } },
        { session, projection: { _id: 1 } },
      )
      .toArray();
    const written = new Set(known.map(({ _id }) => _id));
    const fresh = rows.filter(({ _id }) => !written.has(_id));
    if (fresh.length > 0) {
      await walletCloses.updateMany(
        { walletId: { $in: fresh.map(({ walletId }) => walletId) }, newest: true },
        { $set: { newest: false } },
        { session },
      );
      await walletCloses.insertMany(fresh.map(toStored), { session });
    }
    return true;
  });
}

/**
 * Writes the root. Writes nothing if rows were added since `batches` was read; the caller then
 * retries.
 */
async function writeRoot(day: string, batches: number, previous: ClosedDay | null): Promise<void> {
  const digest = createWalletsDigest();
  const found = { wallets: 0, journals: 0 };
  let totals: LedgerSums = previous?.content.totals ?? {};
  for await (const row of findRows(day)) {
    digest.add(row.hash);
    found.wallets += 1;
    found.journals += row.lastSeq - row.firstSeq + 1;
    totals = addSums(totals, row.sums);
  }
  const content: DayRoot = {
    ...found,
    totals,
    walletsHash: digest.hash(),
    audit: await readDayAudit(day),
    previous: previous?.root ?? null,
    closedAt: now(),
  };
  const root = computeRoot(day, content);
  const signature = signRoot(day, root);
  refuseLostKey(day, signature, previous);
  await dayCloses.updateOne(
    { _id: day, state: 'building', batches },
    {
      $set: { state: 'closed', content: { ...content, totals: toStoredSums(totals) }, root, signature },
    },
  );
}

/**
 * Finds the rows of a day in the order of their wallets.
 * @param after Id of the previous row. By default the search starts at the first row.
 */
export function findRows(day: string, after = `${day}:`) {
  return walletCloses.find({ _id: { $gt: after, $lt: `${day};` } }, majorityRead).sort({ _id: 1 });
}

/**
 * A process without the key must not end a chain of signatures.
 * @throws ConflictError if the previous close is signed and this one is not.
 */
function refuseLostKey(day: string, signature: DayClose['signature'], previous: ClosedDay | null): void {
  if (!signature && previous?.signature) {
    throw new ConflictError(
      asWritten(
        `${previous._id} was closed with a signature, so ${day} cannot be closed without one. Set LEDGER_CLOSE_KEY in this process.`,
      ),
    );
  }
}

/** Wait after midnight for commits in progress. The close of the next day covers later commits. */
const graceMs = 600_000;
const leaseMs = 60_000;

/** Closes every day that has ended, unless another process is doing so. Run by `closeLedgerJob`. */
export async function closeDueDays(): Promise<void> {
  await withLease('close-ledger', leaseMs, () => closeLedger());
}

/**
 * Closes every day that has ended and is not closed, earliest first. The very first close covers
 * all earlier history as one day.
 * @param until YYYY-MM-DD, the last day to close.
 * @returns The days closed by this call, or by another process in the meantime.
 * @throws ValidationError if `until` has not ended.
 */
export async function closeLedger(until = getLastDayOver()): Promise<ClosedDay[]> {
  if (until > getLastDayOver()) {
    throw new ValidationError([
      {
        field: 'date',
        message: asWritten(`${until} is not over: a day can be closed from 10 minutes after its end`),
      },
    ]);
  }
  const closed: ClosedDay[] = [];
  let last = await findLastClosedDay();
  while (last === null || last._id < until) {
    const day: string = last === null ? until : addDays(last._id, 1);
    last = await closeDay({ day, end: getStartOfDay(addDays(day, 1)), now: now() }, last);
    closed.push(last);
    const { wallets, journals } = last.content;
    logger.info('ledger day closed', {
      day,
      root: last.root,
      wallets,
      journals,
      signed: last.signature !== null,
    });
  }
  return closed;
}

/** Returns the time of the next scheduled close. */
export function getNextClose(last: ClosedDay | null): Date {
  const over = getLastDayOver();
  return last !== null && last._id < over
    ? now()
    : new Date(getStartOfDay(addDays(over, 2)).getTime() + graceMs);
}

function getLastDayOver(): string {
  return addDays(formatBusinessDay(new Date(nowMs() - graceMs)), -1);
}
