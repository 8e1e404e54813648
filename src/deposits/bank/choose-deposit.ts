import { getBusinessDayByName, addDays } from '../../shared/business-time.js';
import { toInt64 } from '../../database/typed-collection.js';
import { limits } from '../../../config/limits.js';
import { deposits, type Deposit } from '../deposit.model.js';
import type { BankLine } from './bank-line.model.js';

/** A pending deposit that an operator may choose for a line. */
export type Choice = Pick<Deposit, '_id' | 'accountId' | 'refId' | 'createdAt'>;

/** Maximum number of deposits offered for a line. */
export const choicesMax = 20;

/**
 * Finds the pending deposits of a line's amount, newest first: one more than `choicesMax` if there
 * are more. Deposits that are requested after the payment count, because an operator decides.
 */
export async function findChoices({ amount, day }: Pick<BankLine, 'amount' | 'day'>): Promise<Choice[]> {
  const first = getBusinessDayByName(addDays(day, -limits.depositPaidWithinDays));
  return deposits
    .find({ status: 'pending', amount: toInt64(amount), createdAt: { $gte: new Date(first.startMs) } })
    .sort({ createdAt: -1 })
    .limit(choicesMax + 1)
    .project<Choice>({ accountId: 1, refId: 1, createdAt: 1 })
    .toArray();
}
