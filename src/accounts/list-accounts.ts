import { WalletModel, type Wallet } from '../money/wallets/wallet.model.js';
import { AccountModel, type Account, type Role } from './account.model.js';

export interface AccountFilter {
  role?: Role;
  status?: Account['status'];
  /** Usernames after this one, for the next page. */
  after?: string;
  limit: number;
}

export interface ListedAccount {
  account: Account;
  /** Rupiah. */
  balance: number;
  held: number;
}

/** Accounts by username with their balances, for the operator. */
export async function listAccounts(filter: AccountFilter): Promise<ListedAccount[]> {
  const accounts = await AccountModel.find({
    username: { $gt: filter.after ?? '' },
    ...(filter.role && { role: filter.role }),
    ...(filter.status && { status: filter.status }),
  })
    .sort({ username: 1 })
    .limit(filter.limit)
    .lean<Account[]>();
  const wallets = await WalletModel.find({ _id: { $in: accounts.map((each) => each._id) } }).lean<Wallet[]>();
  const walletOf = new Map(wallets.map((each) => [each._id, each]));
  return accounts.map((account) => ({
    account,
    balance: walletOf.get(account._id)?.balance ?? 0,
    held: walletOf.get(account._id)?.held ?? 0,
  }));
}
