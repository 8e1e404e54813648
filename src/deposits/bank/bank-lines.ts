import { int64 } from '../../database/typed-collection.js';
import { addDays, formatBusinessDay } from '../../shared/business-time.js';
import { BankLineModel, type BankLine, type BankLineStatus } from './bank-line.model.js';
import type { QueryFilter } from 'mongoose';
import { ValidationError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { limits } from '../../../config/limits.js';

/** Two exports of one bank may book a payment on the day of its transfer or on the next day. */
export const sameWithinDays = 1;

/** Returns the day and the neighbouring days on which the same payment may be booked. */
export function getDaysAround(day: string): string[] {
  return [-sameWithinDays, 0, sameWithinDays].map((days) => addDays(day, days));
}

const shownMax = 5;

/**
 * Finds used or set-aside lines that may be the same payment: the same amount, at most a day apart.
 * Exports with different texts contain one payment twice, and only a person can decide. A read that
 * a failover rolls back can only refuse too much.
 */
export async function findPossibleDuplicates({ _id, amount, day }: BankLine): Promise<BankLine[]> {
  const found = await BankLineModel.find({
    status: { $in: ['used', 'set-aside'] },
    amount: int64(amount),
    day: { $in: getDaysAround(day) },
  })
    .sort({ day: -1 })
    .limit(shownMax + 1)
    .lean<BankLine[]>();
  return found.filter((each) => each._id !== _id).slice(0, shownMax);
}

export interface ListedLine extends BankLine {
  /** For an open line: decided lines that may be the same payment. */
  sameBefore: BankLine[];
}

/**
 * Lists bank lines, newest first; by default the open ones. The list is for display: every decision
 * reads the line again.
 * @param query.after The `next` of the page before.
 * @throws ValidationError if `after` is not the `next` of a page.
 */
export async function listBankLines(query: {
  status?: BankLineStatus | undefined;
  after?: string | undefined;
  limit: number;
}): Promise<{ lines: ListedLine[]; next: string | null }> {
  const { status = 'open', after, limit } = query;
  const found = await BankLineModel.find({ status, ...(after !== undefined && buildPageFilter(after)) })
    .sort({ day: -1, _id: -1 })
    .limit(limit + 1)
    .readConcern('majority')
    .lean<BankLine[]>();
  const lines = found.slice(0, limit);
  const last = lines.at(-1);
  const shown = await Promise.all(
    lines.map(async (line) => ({
      ...line,
      sameBefore: line.status === 'open' ? await findPossibleDuplicates(line) : [],
    })),
  );
  return { lines: shown, next: found.length > limit && last ? `${last.day}_${last._id}` : null };
}

function buildPageFilter(after: string): QueryFilter<BankLine> {
  const [, day, id] = /^(\d{4}-\d{2}-\d{2})_([0-9a-f]{32})$/.exec(after) ?? [];
  if (day === undefined || id === undefined) {
    throw new ValidationError([
      { field: 'after', message: asWritten('Use the `next` of the previous page.') },
    ]);
  }
  return { day: { $lte: day }, $or: [{ day: { $lt: day } }, { _id: { $lt: id } }] };
}

/** The most lines that one run removes. The next run continues. */
const runMax = 10_000;

/**
 * Removes decided lines that are older than any accepted statement, because their texts name
 * payers. Open lines stay.
 * @returns the number of removed lines.
 */
export async function removeOldLines(nowMs: number): Promise<number> {
  const before = addDays(formatBusinessDay(new Date(nowMs)), -limits.bankLineKeptDays);
  const decided = { status: { $in: ['used' as const, 'set-aside' as const] } };
  const old = await BankLineModel.find({ ...decided, day: { $lt: before } }, { _id: 1 })
    .limit(runMax)
    .lean<Pick<BankLine, '_id'>[]>();
  if (old.length === 0) {
    return 0;
  }
  // A line that is reopened meanwhile stays.
  const { deletedCount } = await BankLineModel.deleteMany({
    ...decided,
    _id: { $in: old.map(({ _id }) => _id) },
  });
  return deletedCount;
}
