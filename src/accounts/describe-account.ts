import { AuditModel, type AuditEntry } from '../audit/audit.model.js';
import { getWallet } from '../money/wallets/balance-of.js';
import type { Wallet } from '../money/wallets/wallet.model.js';
import type { Account } from './account.model.js';
import { ApiKeyModel, type ApiKey } from './api-key.model.js';
import { getMd5SignCounts } from './md5-signs.js';
import { requireAccount } from './require-account.js';

const keysShown = 10;
const changesShown = 10;

export interface AccountDescription {
  account: Account;
  wallet: Wallet;
  /** Newest first, without the keys themselves. */
  keys: Pick<ApiKey, '_id' | 'createdAt' | 'validUntil'>[];
  audit: AuditEntry[];
  /** In the last 30 days; null while Redis is away. */
  md5Signs: number | null;
}

/** All that an operator needs to know of one account. @throws NotFoundError */
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
