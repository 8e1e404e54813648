import { changeSettings } from '../accounts/change-settings.js';
import { clearAllowlist } from '../accounts/clear-allowlist.js';
import { createAccountCall } from '../accounts/create-account.js';
import { enableWebhooks } from '../accounts/enable-webhooks.js';
import { getAccount } from '../accounts/get-account.js';
import { getStatement } from '../accounts/get-statement.js';
import { listAccounts } from '../accounts/list-accounts.js';
import { newKey } from '../accounts/new-key.js';
import { revokeKey } from '../accounts/revoke-key.js';
import { revokeLinks } from '../accounts/revoke-links.js';
import { setPriceGroup } from '../accounts/set-price-group.js';
import { resumeAccount, suspendAccount } from '../accounts/set-status.js';
import {
  approveAdjustmentCall,
  rejectAdjustmentCall,
  requestAdjustmentCall,
} from '../adjustments/change-adjustments.js';
import { listAdjustmentsCall } from '../adjustments/list-adjustments.js';
import { listAttention } from '../attention/list-attention.js';
import { resolveCase } from '../attention/resolve-case.js';
import { listBankLinesCall, reopenBankLine, setBankLineAside, useBankLine } from '../deposits/bank-lines.js';
import { confirmDeposit, rejectDeposit } from '../deposits/decide-deposit.js';
import { listDeposits } from '../deposits/list-deposits.js';
import { confirmBankStatement, previewBankStatement } from '../deposits/match-bank-statement.js';
import { applyPriceImport, previewPriceImport, undoPriceImport } from '../imports/import-prices.js';
import { getOfferHistory, listOfferChanges, listPriceImports } from '../imports/list-price-imports.js';
import { removeMarkupCall, setMarkupCall } from '../markups/change-markups.js';
import { listMarkupsCall } from '../markups/list-markups.js';
import { listPriceGroupsCall } from '../markups/list-price-groups.js';
import { getProduct } from '../products/get-product.js';
import { listProducts } from '../products/list-products.js';
import { setCutOffCall } from '../products/set-cut-off.js';
import { setOfferCall } from '../products/set-offer.js';
import { acceptDifferencesCall } from '../providers/accept-differences.js';
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
import {
  createOperatorCall,
  endOperatorSessions,
  removeOperatorCall,
  resetPasswordCall,
  resetSecondFactorCall,
  setRoleCall,
} from '../operators/change-operators.js';
import { getRights } from '../operators/get-rights.js';
import { listOperatorsCall } from '../operators/list-operators.js';
import {
  beginOwnSecondFactor,
  changeOwnPassword,
  confirmOwnSecondFactor,
  endOwnSessions,
  makeOwnKey,
  makeRecoveryCodes,
} from '../own/change-own.js';
import { getOwn } from '../own/get-own.js';
import { asCustomerSees } from '../purchases/as-customer-sees.js';
import { decidePurchase } from '../purchases/decide-purchase.js';
import { getPurchase } from '../purchases/get-purchase.js';
import { getPurchaseSums } from '../purchases/get-purchase-sums.js';
import { listPurchases } from '../purchases/list-purchases.js';
import { replayDelivery } from '../purchases/replay-delivery.js';
import { reversePurchase } from '../purchases/reverse-purchase.js';
import { searchCall } from '../purchases/search.js';
import {
  approveSettlement,
  claimSettlement,
  completeSettlement,
  failSettlement,
} from '../settlements/decide-settlement.js';
import { listSettlements } from '../settlements/list-settlements.js';
import { findJobsCall } from '../system/find-jobs.js';
import { getJob } from '../system/get-job.js';
import { getServiceSettings } from '../system/get-service-settings.js';
import { getSystem } from '../system/get-system.js';
import { listJobsCall } from '../system/list-jobs.js';
import { listProcesses } from '../system/list-processes.js';
import { listQueues } from '../system/list-queues.js';
import { retryJobsCall } from '../system/retry-jobs.js';
import { getToday } from '../today/get-today.js';
import { listAllReceivers } from '../webhooks/list-all-receivers.js';
import { listDeliveries } from '../webhooks/list-deliveries.js';
import { listReceivers } from '../webhooks/list-receivers.js';
import { countDeadDeliveries, replayDeadDeliveries, replayDeliveriesCall } from '../webhooks/replay-many.js';
import type { AnyConsoleOperation } from './console-operation.js';
import { getSession } from './get-session.js';

/** Every call of the console's pages. */
export const consoleOperations: readonly AnyConsoleOperation[] = [
  getSession,
  getToday,
  searchCall,
  getPurchaseSums,
  listPurchases,
  getPurchase,
  asCustomerSees,
  decidePurchase,
  reversePurchase,
  replayDelivery,
  listDeliveries,
  replayDeliveriesCall,
  countDeadDeliveries,
  replayDeadDeliveries,
  listReceivers,
  listAllReceivers,
  enableWebhooks,
  listAttention,
  resolveCase,
  listDeposits,
  confirmDeposit,
  rejectDeposit,
  previewBankStatement,
  confirmBankStatement,
  listBankLinesCall,
  useBankLine,
  setBankLineAside,
  reopenBankLine,
  listSettlements,
  approveSettlement,
  claimSettlement,
  completeSettlement,
  failSettlement,
  listAdjustmentsCall,
  requestAdjustmentCall,
  approveAdjustmentCall,
  rejectAdjustmentCall,
  listProducts,
  getProduct,
  setOfferCall,
  setCutOffCall,
  getOfferHistory,
  listOfferChanges,
  previewPriceImport,
  applyPriceImport,
  listPriceImports,
  undoPriceImport,
  listMarkupsCall,
  setMarkupCall,
  removeMarkupCall,
  listPriceGroupsCall,
  listProviders,
  getProvider,
  pauseProviderCall,
  resumeProviderCall,
  limitProvider,
  testProvider,
  getRouting,
  comparePrices,
  reconcileProviderDay,
  acceptDifferencesCall,
  getLedger,
  getSystem,
  listProcesses,
  listQueues,
  getServiceSettings,
  listJobsCall,
  findJobsCall,
  retryJobsCall,
  getJob,
  listAudit,
  verifyLedgerNow,
  listAccounts,
  getAccount,
  getStatement,
  suspendAccount,
  resumeAccount,
  setPriceGroup,
  changeSettings,
  clearAllowlist,
  revokeLinks,
  newKey,
  revokeKey,
  createAccountCall,
  getRights,
  listOperatorsCall,
  createOperatorCall,
  setRoleCall,
  resetPasswordCall,
  resetSecondFactorCall,
  endOperatorSessions,
  removeOperatorCall,
  getOwn,
  changeOwnPassword,
  beginOwnSecondFactor,
  confirmOwnSecondFactor,
  makeRecoveryCodes,
  makeOwnKey,
  endOwnSessions,
];
