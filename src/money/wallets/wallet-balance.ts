import { WalletModel, type Wallet } from './wallet.model.js';
import { ValidationError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import type { JournalKind, LedgerAccount } from '../journals/journal.model.js';
import { buildMovementLines } from '../journals/new-journal.js';
import type { Posting } from '../posting/posting.js';

/** The wallet of an account as it is now, read from the primary. Rupiah. */
export async function getWallet(accountId: string): Promise<Wallet> {
  const wallet = await WalletModel.findById(accountId).lean<Wallet>();
  if (!wallet) {
    throw new Error(`Account ${accountId} has no wallet`);
  }
  return wallet;
}

/** The wallet cannot take the amount: its balance would pass the largest safe integer. */
export function buildBalanceTooLargeError(): ValidationError {
  return new ValidationError([{ field: 'amount', message: say('balanceTooLarge') }]);
}

/** The amount of a document comes to its account's wallet from a platform account, or, negative, goes there. Rupiah. */
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
