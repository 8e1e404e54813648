import type { FindOptions, Document } from 'mongodb';
import { toInt64 } from '../../database/typed-collection.js';
import { journals, type Journal } from '../journals/journal.model.js';
import { formatBusinessDay, addDays, getStartOfDay } from '../../shared/business-time.js';
import { now } from '../../shared/clock.js';
import { dayCloses } from './day-close.model.js';
import { findLastClosedDay } from './day-closes.js';
import { walletCloses, type WalletClose } from './wallet-close.model.js';

/**
 * Finds a wallet's journals with `after` < seq <= `to`, in order. Uses the index
 * `account_wallet_seq_unique`.
 */
export function findWalletJournals(
  walletId: string,
  { after, to }: { after: number; to?: number },
  options: FindOptions = {},
) {
  return journals
    .find<Journal>(
      {
        ...buildWalletFilter(walletId),
        walletSeq: { $gt: toInt64(after), ...(to !== undefined && { $lte: toInt64(to) }) },
      },
      options,
    )
    .sort({ walletSeq: 1 });
}

/**
 * Filters the journals of a wallet. The account id is the shard key. `$type` makes the query fit
 * the partial index.
 */
export function buildWalletFilter(walletId: string) {
  return { accountId: walletId, walletId: { $eq: walletId, $type: 'string' as const } };
}

/** Maps times to the `seq` of a wallet. All results reflect one moment. */
export interface WalletTimes {
  /** The last `seq`, or 0 if the wallet has no journal. */
  readonly last: number;
  /**
   * Returns the first `seq` at or after this instant, or `last + 1` if there is none. The result
   * never decreases as time rises. So adjacent periods share no journal and miss none. On closed
   * days the closes fix the result permanently.
   */
  firstSeqAt(at: Date): Promise<number>;
}

/**
 * Loads the data that maps times to the `seq` of a wallet. Reads use indexes and touch the journals
 * of one day, or those since the last close.
 *
 * The last `seq` and the closed days are majority reads. Earlier journals never change, so every
 * primary has them.
 */
export async function readWalletTimes(walletId: string): Promise<WalletTimes> {
  const [last, firstDay, lastDay] = await Promise.all([
    findLastSeq(walletId),
    findFirstClosedDay(),
    findLastClosedDay(),
  ]);
  const closed = firstDay !== null && lastDay ? { first: firstDay, last: lastDay._id } : null;
  const asOf = now();
  return {
    last,
    async firstSeqAt(at) {
      if (at > asOf) {
        return last + 1;
      }
      const day = formatBusinessDay(at);
      const before = closed && (await findRow({ walletId, day: { $lt: day, $lte: closed.last } }, -1));
      const after = before?.lastSeq ?? 0;
      const isStart = at.getTime() === getStartOfDay(day).getTime();
      if (!closed || day > closed.last) {
        // The day after the last closed day starts at the `seq` after that day's last journal.
        return closed && isStart && day === addDays(closed.last, 1)
          ? after + 1
          : findFirstSeq(walletId, { after, to: last }, { $gte: at, $lte: asOf });
      }
      const row = await findRow({ walletId, day: { $gte: day, $lte: closed.last } }, 1);
      // The first close also covers all earlier days.
      if (!row || (row.day !== closed.first && (isStart || row.day !== day))) {
        return after + 1;
      }
      const end = getStartOfDay(addDays(row.day, 1));
      return findFirstSeq(walletId, { after, to: row.lastSeq }, { $gte: at, $lt: end });
    },
  };
}

/** Finds the first journal that was written in a time range, within a range of `seq`. */
async function findFirstSeq(
  walletId: string,
  range: { after: number; to: number },
  createdAt: Document,
): Promise<number> {
  const [found] = await journals
    .find(
      {
        ...buildWalletFilter(walletId),
        walletSeq: { $gt: toInt64(range.after), $lte: toInt64(range.to) },
        createdAt,
      },
      { projection: { walletSeq: 1 } },
    )
    .sort({ walletSeq: 1 })
    .limit(1)
    .toArray();
  return found?.walletSeq ?? range.to + 1;
}

async function findLastSeq(walletId: string): Promise<number> {
  const [last] = await journals
    .find(buildWalletFilter(walletId), { projection: { walletSeq: 1 }, readConcern: 'majority' })
    .sort({ walletSeq: -1 })
    .limit(1)
    .toArray();
  return last?.walletSeq ?? 0;
}

async function findRow(
  filter: { walletId: string; day: Document },
  direction: 1 | -1,
): Promise<WalletClose | undefined> {
  const [row] = await walletCloses.find(filter).sort({ day: direction }).limit(1).toArray();
  return row;
}

async function findFirstClosedDay(): Promise<string | null> {
  const [first] = await dayCloses
    .find({ state: 'closed' }, { readConcern: 'majority' })
    .sort({ _id: 1 })
    .limit(1)
    .toArray();
  return first?._id ?? null;
}
