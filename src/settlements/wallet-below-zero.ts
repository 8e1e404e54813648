import { postSellerCredits } from '../money/credits/seller-credits.js';
import { getWallet } from '../money/wallets/wallet-balance.js';
import { WalletModel } from '../money/wallets/wallet.model.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import type { Settlement } from './settlement.model.js';

/**
 * A settlement of a seller who owes the platform money (409/01). Sales of the seller were reversed
 * after the request, and the held amount is what can still cover them.
 */
export class WalletBelowZeroError extends ConflictError {
  /** @param balance The seller's balance in rupiah, below zero. */
  constructor({ _id, claimedBy }: Pick<Settlement, '_id' | 'claimedBy'>, balance: number) {
    const ifPaid =
      claimedBy === null
        ? ''
        : ' If it is already paid at the bank, first correct the wallet, then complete it.';
    super(
      asWritten(
        `The wallet of the seller of settlement ${_id} is below zero: ${balance} rupiah. Do not pay it. Wait until the wallet has recovered, or fail the settlement: its amount returns to the wallet.${ifPaid}`,
      ),
      { atCommandLine: `topup settlement fail ${_id} --reason …` },
    );
  }
}

/**
 * Returns the balance of the settlement's seller in rupiah. Open seller credits are posted first,
 * so that a reversed sale counts before its own job has posted it.
 */
export async function getSellerBalance({ accountId }: Settlement): Promise<number> {
  await postSellerCredits(accountId);
  return (await getWallet(accountId)).balance;
}

/** @throws WalletBelowZeroError if the seller owes the platform money. */
export async function requireWalletNotBelowZero(settlement: Settlement): Promise<void> {
  const balance = await getSellerBalance(settlement);
  if (balance < 0) {
    throw new WalletBelowZeroError(settlement, balance);
  }
}

/** Returns the accounts of this list whose wallet is below zero. */
export async function findAccountsBelowZero(accountIds: readonly string[]): Promise<Set<string>> {
  if (accountIds.length === 0) {
    return new Set();
  }
  const ids = [...new Set(accountIds)];
  const found = await WalletModel.find({ _id: { $in: ids }, balance: { $lt: 0 } }, { _id: 1 }).lean<
    { _id: string }[]
  >();
  return new Set(found.map(({ _id }) => _id));
}
