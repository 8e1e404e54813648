import {
  changeSettings,
  clearAllowlist,
  enableWebhooks,
  revokeLinks,
  setPriceGroup,
  resumeAccount,
  suspendAccount,
} from '../accounts/change-account.js';
import { createAccountCall } from '../accounts/create-account.js';
import { getAccount, listAccounts } from '../accounts/read-accounts.js';
import { getStatement } from '../accounts/get-statement.js';
import { rotateAccountKey, revokeKey } from '../accounts/api-keys.js';
import {
  approveAdjustmentCall,
  rejectAdjustmentCall,
  requestAdjustmentCall,
} from '../adjustments/change-adjustments.js';
import { listAdjustmentsCall } from '../adjustments/list-adjustments.js';
import { listAttention, resolveCase } from '../attention/attention.js';
import { listBankLinesCall, reopenBankLine, setBankLineAside, useBankLine } from '../deposits/bank-lines.js';
import { confirmDeposit, rejectDeposit, listDeposits } from '../deposits/deposits.js';
import { confirmBankStatement, previewBankStatement } from '../deposits/match-bank-statement.js';
import { applyPriceImport, previewPriceImport, undoPriceImport } from '../imports/import-prices.js';
import { getOfferHistory, listOfferChanges, listPriceImports } from '../imports/list-price-imports.js';
import { removeMarkupCall, setMarkupCall, listMarkupsCall, listPriceGroupsCall } from '../markups/markups.js';
import { getProduct, listProducts, setCutOffCall, setOfferCall } from '../products/products.js';
import {
  acceptDifferencesCall,
  comparePrices,
  getRouting,
  reconcileProviderDay,
} from '../providers/check-provider.js';
import { connectProviderCall, listProviderKinds, sendTestOrderCall } from '../providers/connect-provider.js';
import { getProvider } from '../providers/get-provider.js';
import { applyCatalogueCall, previewCatalogue } from '../providers/import-catalogue.js';
import { listProviders } from '../providers/list-providers.js';
import {
  limitProvider,
  pauseProviderCall,
  resumeProviderCall,
  testProvider,
} from '../providers/control-provider.js';
import { listAudit } from '../audit/list-audit.js';
import { getLedger, verifyLedgerNow } from '../ledger/ledger.js';
import {
  createOperatorCall,
  endOperatorSessions,
  removeOperatorCall,
  resetPasswordCall,
  resetSecondFactorCall,
  setRoleCall,
} from '../operators/change-operators.js';
import { getRights, listOperatorsCall } from '../operators/list-operators.js';
import {
  beginOwnSecondFactor,
  changeOwnPassword,
  confirmOwnSecondFactor,
  endOwnSessions,
  makeOwnKey,
  makeRecoveryCodes,
} from '../own/change-own-credentials.js';
import { getOwnProfile, getSession } from '../own/get-own-profile.js';
import { getCustomerView, getPurchase } from '../purchases/get-purchase.js';
import { decidePurchase, reversePurchase } from '../purchases/decide-purchase.js';
import { getPurchaseSums, listPurchases, searchCall } from '../purchases/list-purchases.js';
import {
  replayDelivery,
  countDeadDeliveries,
  replayDeadDeliveries,
  replayDeliveriesCall,
} from '../webhooks/replay-deliveries.js';
import {
  approveSettlement,
  claimSettlement,
  completeSettlement,
  failSettlement,
} from '../settlements/decide-settlement.js';
import { listSettlements } from '../settlements/list-settlements.js';
import { findJobsCall, getJob, listJobsCall, retryJobsCall } from '../system/jobs.js';
import { getServiceSettings, getSystem } from '../system/get-system.js';
import { listProcesses, listQueues } from '../system/processes-and-queues.js';
import { getToday } from '../today/get-today.js';
import { listAllReceivers, listReceivers } from '../webhooks/list-receivers.js';
import { listDeliveries } from '../webhooks/deliveries.js';
import type { AnyConsoleOperation } from './console-operation.js';

export const consoleOperations: readonly AnyConsoleOperation[] = [
  getSession,
  getToday,
  searchCall,
  getPurchaseSums,
  listPurchases,
  getPurchase,
  getCustomerView,
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
  listProviderKinds,
  connectProviderCall,
  sendTestOrderCall,
  getRouting,
  previewCatalogue,
  applyCatalogueCall,
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
  rotateAccountKey,
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
  getOwnProfile,
  changeOwnPassword,
  beginOwnSecondFactor,
  confirmOwnSecondFactor,
  makeRecoveryCodes,
  makeOwnKey,
  endOwnSessions,
];
