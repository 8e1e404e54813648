import { toInt64 } from '../../database/typed-collection.js';
import { addDays, formatBusinessDay } from '../../shared/business-time.js';
import { findChoices, type Choice } from './choose-deposit.js';
import { BankLineModel, decidedStatuses, type BankLine, type BankLineStatus } from './bank-line.model.js';
import type { QueryFilter } from 'mongoose';
import { ValidationError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { limits } from '../../../config/limits.js';

/**
 * Maximum difference in days between two bookings of the same payment. Two exports of one bank may
 * book it on the day of the transfer or on the next day.
 */
export const sameWithinDays = 1;

/** Returns the day and the neighbouring days on which the same payment may be booked. */
export function getDaysAround(day: string): string[] {
  return [-sameWithinDays, 0, sameWithinDays].map((days) => addDays(day, days));
}

const shownMax = 5;

/**
 * Finds decided lines that may be the same payment: the same amount, at most a day apart.
 * Two exports can contain one payment with different texts, and only a person can decide. The read
 * needs no majority: data that a failover rolls back can only cause an unnecessary refusal.
 */
export async function findPossibleDuplicates({ _id, amount, day }: BankLine): Promise<BankLine[]> {
  const found = await BankLineModel.find({
    status: { $in: decidedStatuses },
    amount: toInt64(amount),
    day: { $in: getDaysAround(day) },
  })
    .sort({ day: -1 })
    .limit(shownMax + 1)
    .lean<BankLine[]>();
  return found.filter((each) => each._id !== _id).slice(0, shownMax);
}

export interface ListedLine extends BankLine {
  /** For an open line, the decided lines that may be the same payment. */
  sameBefore: BankLine[];
  /** For an open line, the pending deposits of its amount: one more than `choicesMax` if there are more. */
  choices: Choice[];
}

/**
 * Lists bank lines, newest first. Without a filter it lists the open ones. The list is for display:
 * every decision reads the line again.
 * @param query.after The `next` value of the previous page.
 * @throws ValidationError if `after` is not a `next` value.
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
      ...(line.status === 'open'
        ? { sameBefore: await findPossibleDuplicates(line), choices: await findChoices(line) }
        : { sameBefore: [], choices: [] }),
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

/** Maximum number of lines that one run removes. The next run continues. */
const runMax = 10_000;

/**
 * Removes decided lines and corrections that are older than any accepted statement, because their texts
 * name payers. Open lines stay.
 * @returns The number of removed lines.
 */
export async function removeOldLines(nowMs: number): Promise<number> {
  const before = addDays(formatBusinessDay(new Date(nowMs)), -limits.bankLineKeptDays);
  const decided = { status: { $in: [...decidedStatuses, 'correction' as const] } };
  const old = await BankLineModel.find({ ...decided, day: { $lt: before } }, { _id: 1 })
    .limit(runMax)
    .lean<Pick<BankLine, '_id'>[]>();
  if (old.length === 0) {
    return 0;
  }
  // A line that is reopened meanwhile is not removed.
  const { deletedCount } = await BankLineModel.deleteMany({
    ...decided,
    _id: { $in: old.map(({ _id }) => _id) },
  });
  return deletedCount;
}
