import { limits } from '../../../config/limits.js';
import { firstIdAt } from '../../shared/ids.js';
import { PriceImportRowModel, type PriceImportRow } from './price-import.model.js';

/** The most that one run removes; the next run goes on. */
const runMax = 10_000;
const dayMs = 86_400_000;

/** Imports of before can be undone no more. */
export function getUndoableSince(nowMs: number): Date {
  return new Date(nowMs - limits.priceImportRowsKeptDays * dayMs);
}

/**
 * Removes what imports have changed of each offer, when they are so old that nobody takes them back any more. The imports stay in
 * their list, and each change in the audit log. @returns how many.
 */
export async function removeOldImportRows(nowMs: number): Promise<number> {
  // A day later than an undo may begin: none that is under way loses its rows.
  const beforeMs = getUndoableSince(nowMs).getTime() - dayMs;
  // Ids begin with that of their import, and that with the time of its making.
  const old = await PriceImportRowModel.find({ _id: { $lt: firstIdAt(beforeMs) } }, { _id: 1 })
    .limit(runMax)
    .lean<Pick<PriceImportRow, '_id'>[]>();
  if (old.length === 0) {
    return 0;
  }
  const { deletedCount } = await PriceImportRowModel.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } });
  return deletedCount;
}
