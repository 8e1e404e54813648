import { changeSettings } from '../accounts/change-settings.js';
import { clearAllowlist } from '../accounts/clear-allowlist.js';
import { getAccount } from '../accounts/get-account.js';
import { getStatement } from '../accounts/get-statement.js';
import { listAccounts } from '../accounts/list-accounts.js';
import { newKey } from '../accounts/new-key.js';
import { revokeLinks } from '../accounts/revoke-links.js';
import { resumeAccount, suspendAccount } from '../accounts/set-status.js';
import { listAttention } from '../attention/list-attention.js';
import { resolveCase } from '../attention/resolve-case.js';
import { decidePurchase } from '../purchases/decide-purchase.js';
import { getPurchase } from '../purchases/get-purchase.js';
import { listPurchases } from '../purchases/list-purchases.js';
import { replayDelivery } from '../purchases/replay-delivery.js';
import { reversePurchase } from '../purchases/reverse-purchase.js';
import { search } from '../purchases/search.js';
import type { AnyConsoleOperation } from './console-operation.js';
import { getSession } from './get-session.js';

/** Every call of the console's pages. */
export const consoleOperations: readonly AnyConsoleOperation[] = [
  getSession,
  search,
  listPurchases,
  getPurchase,
  decidePurchase,
  reversePurchase,
  replayDelivery,
  listAttention,
  resolveCase,
  listAccounts,
  getAccount,
  getStatement,
  suspendAccount,
  resumeAccount,
  changeSettings,
  clearAllowlist,
  revokeLinks,
  newKey,
];
