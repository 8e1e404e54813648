import { WalletModel, type Wallet } from '../money/wallets/wallet.model.js';
import { getMd5SignCounts } from './md5-signs.js';
import { AccountModel, type Account, type Role } from './account.model.js';

export interface AccountFilter {
  role?: Role;
  status?: Account['status'];
  /** Those of this price group alone. */
  priceGroup?: string;
  /** How the username begins. */
  prefix?: string;
  /** Usernames after this one, for the next page. */
  after?: string;
  limit: number;
}

export interface ListedAccount {
  account: Account;
  /** Rupiah. */
  balance: number;
  held: number;
  /** In the last 30 days; null while Redis is away. */
  md5Signs: number | null;
}

/** Accounts by username with their balances, for the operator. */
export async function listAccounts(filter: AccountFilter): Promise<ListedAccount[]> {
  const accounts = await AccountModel.find({
    username: {
      $gt: filter.after ?? '',
      ...(filter.prefix && { $gte: filter.prefix, $lt: `${filter.prefix}\uffff` }),
    },
    ...(filter.role && { role: filter.role }),
    ...(filter.status && { status: filter.status }),
    ...(filter.priceGroup && { priceGroup: filter.priceGroup }),
  })
    .sort({ username: 1 })
    .limit(filter.limit)
    .lean<Account[]>();
  const ids = accounts.map((each) => each._id);
  const [wallets, md5Signs] = await Promise.all([
    WalletModel.find({ _id: { $in: ids } }).lean<Wallet[]>(),
    getMd5SignCounts(ids),
  ]);
  const walletOf = new Map(wallets.map((each) => [each._id, each]));
  return accounts.map((account, index) => ({
    account,
    balance: walletOf.get(account._id)?.balance ?? 0,
    held: walletOf.get(account._id)?.held ?? 0,
    md5Signs: md5Signs?.[index] ?? null,
  }));
}
