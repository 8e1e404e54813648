import { WalletModel, type Wallet } from './wallet.model.js';
import { ValidationError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import type { JournalKind, LedgerAccount } from '../journals/journal.model.js';
import { buildMovementLines } from '../journals/new-journal.js';
import type { Posting } from '../posting/posting.js';

/** Reads the wallet of an account from the primary. Amounts are in rupiah. */
export async function getWallet(accountId: string): Promise<Wallet> {
  const wallet = await WalletModel.findById(accountId).lean<Wallet>();
  if (!wallet) {
    throw new Error(`Account ${accountId} has no wallet`);
  }
  return wallet;
}

/** Builds the error for a balance that would exceed the largest safe integer. */
export function buildBalanceTooLargeError(): ValidationError {
  return new ValidationError([{ field: 'amount', message: say('balanceTooLarge') }]);
}

/**
 * Builds the movement of an amount in rupiah from a ledger account to the account's wallet. A
 * negative amount moves the other way.
 */
export function buildWalletMovement(
  kind: JournalKind,
  from: LedgerAccount,
  { _id, accountId, amount }: { _id: string; accountId: string; amount: number },
): Pick<Posting, 'accountId' | 'kind' | 'subjectId' | 'wallet' | 'lines'> {
  return {
    accountId,
    kind,
    subjectId: _id,
    wallet: { balance: amount },
    lines: buildMovementLines(amount, { from, to: `wallet:${accountId}` }),
  };
}
