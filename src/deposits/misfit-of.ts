import type { Deposit } from './deposit.model.js';

/**
 * Why money that has arrived does not credit this deposit; null: it does. The one rule for whoever brings it: a notified
 * payment, a line of a bank statement. An amount fits to the rupiah or not at all.
 * @param amount Rupiah.
 */
export function findMismatch(
  { _id, amount: asked, status }: Pick<Deposit, '_id' | 'amount' | 'status'>,
  amount: number,
): string | null {
  if (asked !== amount) {
    return `deposit ${_id} is one of ${asked}`;
  }
  return status === 'pending' ? null : `deposit ${_id} is ${status} already`;
}
