import { limits } from '../../../config/limits.js';
import { businessDay, daysAfter } from '../../shared/business-time.js';
import { BankLineModel, type BankLine } from './bank-line.model.js';

/** The most that one run removes; the next run goes on. */
const runMax = 10_000;

/**
 * Removes lines that were decided and are so old that no statement with them is read any more: their texts name who paid. Those
 * that nobody knows the account of stay. @returns how many.
 */
export async function removeOldLines(nowMs: number): Promise<number> {
  const before = daysAfter(businessDay(new Date(nowMs)), -limits.bankLineKeptDays);
  const old = await BankLineModel.find(
    { status: { $in: ['used', 'set-aside'] }, day: { $lt: before } },
    { _id: 1 },
  )
    .limit(runMax)
    .lean<Pick<BankLine, '_id'>[]>();
  if (old.length === 0) {
    return 0;
  }
  const { deletedCount } = await BankLineModel.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } });
  return deletedCount;
}
