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
