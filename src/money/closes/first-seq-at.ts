import type { Document } from 'mongodb';
import { int64 } from '../../database/money-type.js';
import { businessDay, daysAfter, startOf } from '../../shared/business-time.js';
import { now } from '../../shared/clock.js';
import { journals } from '../journals/journal.model.js';
import { dayCloses } from './day-close.model.js';
import { lastClosedDay } from './find-close.js';
import { walletCloses, type WalletClose } from './wallet-close.model.js';
import { ofWallet } from './wallet-journals.js';

/** What a wallet's `seq` was at which time, as it is known at one moment. */
export interface WalletTimes {
  /** The last `seq` there is. */
  readonly last: number;
  /**
   * The first `seq` that belongs to this instant or later; `last + 1` if none does yet. It never falls as time rises, so
   * periods that meet share no journal and lose none. In closed days it is what the closes say, for ever.
   */
  firstSeqAt(at: Date): Promise<number>;
}

/**
 * Reads by index; within a day by that day's journals alone, and in days not closed by those since the last close.
 *
 * A majority holds the last `seq` and the closed days. What lies before them never changes, so any primary has it.
 */
export async function walletTimes(walletId: string): Promise<WalletTimes> {
  const [last, firstDay, lastDay] = await Promise.all([
    lastSeqOf(walletId),
    firstClosedDay(),
    lastClosedDay(),
  ]);
  const closed = firstDay !== null && lastDay ? { first: firstDay, last: lastDay._id } : null;
  const asOf = now();
  return {
    last,
    async firstSeqAt(at) {
      if (at > asOf) {
        return last + 1;
      }
      const day = businessDay(at);
      const before = closed && (await rowOf({ walletId, day: { $lt: day, $lte: closed.last } }, -1));
      const after = before?.lastSeq ?? 0;
      const isStart = at.getTime() === startOf(day).getTime();
      if (!closed || day > closed.last) {
        // The day behind the last closed one begins where that ended.
        return closed && isStart && day === daysAfter(closed.last, 1)
          ? after + 1
          : find(walletId, { after, to: last }, { $gte: at, $lte: asOf });
      }
      const row = await rowOf({ walletId, day: { $gte: day, $lte: closed.last } }, 1);
      // The first close holds days of its past as well.
      if (!row || (row.day !== closed.first && (isStart || row.day !== day))) {
        return after + 1;
      }
      const end = startOf(daysAfter(row.day, 1));
      return find(walletId, { after, to: row.lastSeq }, { $gte: at, $lt: end });
    },
  };
}

/** The first journal in this range of `seq` that was written in this range of time. */
async function find(
  walletId: string,
  range: { after: number; to: number },
  createdAt: Document,
): Promise<number> {
  const [found] = await journals
    .find(
      {
        ...ofWallet(walletId),
        walletSeq: { $gt: int64(range.after), $lte: int64(range.to) },
        createdAt,
      },
      { projection: { walletSeq: 1 } },
    )
    .sort({ walletSeq: 1 })
    .limit(1)
    .toArray();
  return found?.walletSeq ?? range.to + 1;
}

async function lastSeqOf(walletId: string): Promise<number> {
  const [last] = await journals
    .find(ofWallet(walletId), { projection: { walletSeq: 1 }, readConcern: 'majority' })
    .sort({ walletSeq: -1 })
    .limit(1)
    .toArray();
  return last?.walletSeq ?? 0;
}

async function rowOf(
  filter: { walletId: string; day: Document },
  direction: 1 | -1,
): Promise<WalletClose | undefined> {
  const [row] = await walletCloses.find(filter).sort({ day: direction }).limit(1).toArray();
  return row;
}

async function firstClosedDay(): Promise<string | null> {
  const [first] = await dayCloses
    .find({ state: 'closed' }, { readConcern: 'majority' })
    .sort({ _id: 1 })
    .limit(1)
    .toArray();
  return first?._id ?? null;
}
