import { businessDay } from '../shared/business-time.js';
import { AccountModel } from './account.model.js';

/** The business day (YYYY-MM-DD) on which this copy of the service got its first account; null: it has none yet. */
export async function findFirstAccountDay(): Promise<string | null> {
  const first = await AccountModel.findOne({}, { createdAt: 1 }).sort({ _id: 1 }).lean<{ createdAt: Date }>();
  return first && businessDay(first.createdAt);
}
