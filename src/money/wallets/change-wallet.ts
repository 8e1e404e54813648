import { limits } from '../../../config/limits.js';
import { InsufficientBalanceError, ValidationError } from '../../shared/errors.js';
import { int64 } from '../../database/money-type.js';
import type { Session } from '../../database/mongo.js';
import { insertJournals } from '../journals/insert-journals.js';
import type { JournalKind, JournalLine } from '../journals/journal.model.js';
import { wallets, type Wallet } from './wallet.model.js';

export interface WalletChange {
  walletId: string;
  /** Rupiah added to (or, negative, taken from) the spendable balance. */
  balanceDelta: number;
  heldDelta?: number;
  kind: JournalKind;
  subjectId: string;
  lines: JournalLine[];
  /** Only a reversal of a sale may take a seller below zero (decision 018). */
  mayOverdraw?: boolean;
}

/**
 * Changes one wallet and appends the journal that says why, within the caller's database transaction.
 * Invariant (docs/money.md#rules): the condition on the balance is in the database; `seq` rises by one.
 * @returns the wallet after the change, in rupiah.
 * @throws InsufficientBalanceError where the balance does not cover it.
 * @throws ValidationError where the balance would pass the largest safe integer.
 */
export async function changeWallet(session: Session, change: WalletChange): Promise<Wallet> {
  const heldDelta = change.heldDelta ?? 0;
  const after = await wallets.findOneAndUpdate(
    {
      _id: change.walletId,
      ...balanceCondition(change),
      ...(heldDelta < 0 && { held: { $gte: int64(-heldDelta) } }),
    },
    { $inc: { balance: int64(change.balanceDelta), held: int64(heldDelta), seq: int64(1) } },
    { session, returnDocument: 'after' },
  );
  if (!after) {
    throw change.balanceDelta < 0
      ? new InsufficientBalanceError()
      : new ValidationError([{ field: 'amount', message: 'amount would make the balance too large' }]);
  }
  await insertJournals(session, [
    {
      kind: change.kind,
      subjectId: change.subjectId,
      walletId: change.walletId,
      walletSeq: after.seq,
      balanceAfter: after.balance,
      lines: change.lines,
    },
  ]);
  return after;
}

function balanceCondition(change: WalletChange) {
  if (change.balanceDelta < 0) {
    return change.mayOverdraw ? {} : { balance: { $gte: int64(-change.balanceDelta) } };
  }
  return change.balanceDelta > 0 ? { balance: { $lte: int64(limits.moneyMax - change.balanceDelta) } } : {};
}
