import { changeSettings } from '../accounts/change-settings.js';
import { clearAllowlist } from '../accounts/clear-allowlist.js';
import { enableWebhooks } from '../accounts/enable-webhooks.js';
import { getAccount } from '../accounts/get-account.js';
import { getStatement } from '../accounts/get-statement.js';
import { listAccounts } from '../accounts/list-accounts.js';
import { newKey } from '../accounts/new-key.js';
import { revokeLinks } from '../accounts/revoke-links.js';
import { resumeAccount, suspendAccount } from '../accounts/set-status.js';
import { listAttention } from '../attention/list-attention.js';
import { resolveCase } from '../attention/resolve-case.js';
import { confirmDeposit, rejectDeposit } from '../deposits/decide-deposit.js';
import { listDeposits } from '../deposits/list-deposits.js';
import { getProduct } from '../products/get-product.js';
import { listProducts } from '../products/list-products.js';
import { setOfferCall } from '../products/set-offer.js';
import { comparePrices, getRouting, reconcileProviderDay } from '../providers/ask-about-provider.js';
import { getProvider } from '../providers/get-provider.js';
import { listProviders } from '../providers/list-providers.js';
import {
  limitProvider,
  pauseProviderCall,
  resumeProviderCall,
  testProvider,
} from '../providers/steer-provider.js';
import { listAudit } from '../audit/list-audit.js';
import { getLedger } from '../ledger/get-ledger.js';
import { verifyLedgerNow } from '../ledger/verify-now.js';
import { decidePurchase } from '../purchases/decide-purchase.js';
import { getPurchase } from '../purchases/get-purchase.js';
import { listPurchases } from '../purchases/list-purchases.js';
import { replayDelivery } from '../purchases/replay-delivery.js';
import { reversePurchase } from '../purchases/reverse-purchase.js';
import { search } from '../purchases/search.js';
import {
  approveSettlement,
  claimSettlement,
  completeSettlement,
  failSettlement,
} from '../settlements/decide-settlement.js';
import { listSettlements } from '../settlements/list-settlements.js';
import { getSystem } from '../system/get-system.js';
import { retryJob } from '../system/retry-job.js';
import { getToday } from '../today/get-today.js';
import { listDeliveries } from '../webhooks/list-deliveries.js';
import { listReceivers } from '../webhooks/list-receivers.js';
import type { AnyConsoleOperation } from './console-operation.js';
import { getSession } from './get-session.js';

/** Every call of the console's pages. */
export const consoleOperations: readonly AnyConsoleOperation[] = [
  getSession,
  getToday,
  search,
  listPurchases,
  getPurchase,
  decidePurchase,
  reversePurchase,
  replayDelivery,
  listDeliveries,
  listReceivers,
  enableWebhooks,
  listAttention,
  resolveCase,
  listDeposits,
  confirmDeposit,
  rejectDeposit,
  listSettlements,
  approveSettlement,
  claimSettlement,
  completeSettlement,
  failSettlement,
  listProducts,
  getProduct,
  setOfferCall,
  listProviders,
  getProvider,
  pauseProviderCall,
  resumeProviderCall,
  limitProvider,
  testProvider,
  getRouting,
  comparePrices,
  reconcileProviderDay,
  getLedger,
  getSystem,
  retryJob,
  listAudit,
  verifyLedgerNow,
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
