import { int64 } from '../../database/typed-collection.js';
import { daysAfter, businessDay } from '../../shared/business-time.js';
import { BankLineModel, type BankLine, type BankLineStatus } from './bank-line.model.js';
import type { QueryFilter } from 'mongoose';
import { ValidationError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { limits } from '../../../config/limits.js';

/** Two exports of one bank may book a payment on the day of its transfer, and on the next one. */
export const sameWithinDays = 1;

/** The day itself, and those on which the same payment may stand. */
export function getDaysAround(day: string): string[] {
  return [-sameWithinDays, 0, sameWithinDays].map((days) => daysAfter(day, days));
}

const shownMax = 5;

/**
 * Lines that were used or set aside and may be the same payment as this one: of its amount, at most a day away. An export with
 * other texts tells one payment twice, and nothing but a person can know. In their newest state: one that a failover takes back
 * refuses too much, never too little.
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
  /** Of one that is open: what it may be the same payment as. */
  sameBefore: BankLine[];
}

/**
 * Lines of bank statements, the newest first: by default money that came and nobody knows whose. They are only shown, as a
 * majority holds them: every decision about a line reads it again. Within a status neither key of the order changes.
 * @param query.after The `next` of the page before.
 * @throws ValidationError for an `after` that no page has given.
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
      { field: 'after', message: asWritten('Take it from `next` of the page before.') },
    ]);
  }
  return { day: { $lte: day }, $or: [{ day: { $lt: day } }, { _id: { $lt: id } }] };
}

/** The most that one run removes; the next run goes on. */
const runMax = 10_000;

/**
 * Removes lines that were decided and are so old that no statement with them is read any more: their texts name who paid. Those
 * that nobody knows the account of stay. @returns how many.
 */
export async function removeOldLines(nowMs: number): Promise<number> {
  const before = daysAfter(businessDay(new Date(nowMs)), -limits.bankLineKeptDays);
  const decided = { status: { $in: ['used' as const, 'set-aside' as const] } };
  const old = await BankLineModel.find({ ...decided, day: { $lt: before } }, { _id: 1 })
    .limit(runMax)
    .lean<Pick<BankLine, '_id'>[]>();
  if (old.length === 0) {
    return 0;
  }
  // One that is reopened meanwhile stays.
  const { deletedCount } = await BankLineModel.deleteMany({
    ...decided,
    _id: { $in: old.map(({ _id }) => _id) },
  });
  return deletedCount;
}
