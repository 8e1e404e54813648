import { WalletModel, type Wallet } from '../money/wallets/wallet.model.js';
import { getMd5SignCounts } from './md5-signs.js';
import { AccountModel, type Account, type Role } from './account.model.js';
import { AuditModel, type AuditEntry } from '../audit/audit.model.js';
import { getWallet } from '../money/wallets/wallet-balance.js';
import { ApiKeyModel, type ApiKey } from './api-key.model.js';
import { requireAccount } from './find-account.js';

export interface AccountFilter {
  role?: Role;
  status?: Account['status'];
  /** Only accounts of this price group. */
  priceGroup?: string;
  /** Prefix of the username. */
  prefix?: string;
  /** Only usernames after this one. Pass the last username of the previous page. */
  after?: string;
  limit: number;
}

export interface ListedAccount {
  account: Account;
  /** Balance in rupiah. */
  balance: number;
  held: number;
  /** Number of md5 signs in the last 30 days. Null if Redis is unavailable. */
  md5Signs: number | null;
}

/** Lists accounts by username with their balances, for operators. */
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

const keysShown = 10;
const changesShown = 10;

export interface AccountDescription {
  account: Account;
  wallet: Wallet;
  /** The API keys without their secrets, newest first. */
  keys: Pick<ApiKey, '_id' | 'createdAt' | 'validUntil'>[];
  audit: AuditEntry[];
  /** Number of md5 signs in the last 30 days. Null if Redis is unavailable. */
  md5Signs: number | null;
}

/**
 * Returns an account with wallet, keys and recent changes, for operators.
 * @throws NotFoundError if there is no such account.
 */
export async function describeAccount(usernameOrId: string): Promise<AccountDescription> {
  const account = await requireAccount(usernameOrId);
  const [wallet, keys, audit, md5Signs] = await Promise.all([
    getWallet(account._id),
    ApiKeyModel.find({ accountId: account._id }, { createdAt: 1, validUntil: 1 })
      .sort({ _id: -1 })
      .limit(keysShown)
      .lean<AccountDescription['keys']>(),
    AuditModel.find({ 'subject.kind': 'account', 'subject.id': account._id })
      .sort({ at: -1 })
      .limit(changesShown)
      .lean<AuditEntry[]>(),
    getMd5SignCounts([account._id]),
  ]);
  return { account, wallet, keys, audit, md5Signs: md5Signs?.[0] ?? null };
}
