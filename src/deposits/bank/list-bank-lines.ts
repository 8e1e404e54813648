import type { QueryFilter } from 'mongoose';
import { ValidationError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { BankLineModel, type BankLine, type BankLineStatus } from './bank-line.model.js';
import { sameBefore } from './same-before.js';

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
  const found = await BankLineModel.find({ status, ...(after !== undefined && beyond(after)) })
    .sort({ day: -1, _id: -1 })
    .limit(limit + 1)
    .readConcern('majority')
    .lean<BankLine[]>();
  const lines = found.slice(0, limit);
  const last = lines.at(-1);
  const shown = await Promise.all(
    lines.map(async (line) => ({
      ...line,
      sameBefore: line.status === 'open' ? await sameBefore(line) : [],
    })),
  );
  return { lines: shown, next: found.length > limit && last ? `${last.day}_${last._id}` : null };
}

function beyond(after: string): QueryFilter<BankLine> {
  const [, day, id] = /^(\d{4}-\d{2}-\d{2})_([0-9a-f]{32})$/.exec(after) ?? [];
  if (day === undefined || id === undefined) {
    throw new ValidationError([
      { field: 'after', message: asWritten('Take it from `next` of the page before.') },
    ]);
  }
  return { day: { $lte: day }, $or: [{ day: { $lt: day } }, { _id: { $lt: id } }] };
}
