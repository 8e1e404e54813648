import { WalletModel, type Wallet } from './wallet.model.js';

/** The wallet of an account as it is now, read from the primary. Rupiah. */
export async function getWallet(accountId: string): Promise<Wallet> {
  const wallet = await WalletModel.findById(accountId).lean<Wallet>();
  if (!wallet) {
    throw new Error(`Account ${accountId} has no wallet`);
  }
  return wallet;
}
