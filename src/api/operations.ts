import type { Role } from '../accounts/account.model.js';
import type { AnyOperation } from './contract/operation.js';
import { getConfigFor, updateConfigFor } from './account/config.js';
import { listRequestsFor } from './account/list-requests.js';
import { rotateKeyFor } from './account/rotate-key.js';
import { createDeposit, getBuyerBalance, listBuyerDeposits } from './buyer/deposits.js';
import { createPayment, createBuyerTransaction } from './buyer/create-purchases.js';
import { getReceipt } from './buyer/get-receipt.js';
import { inquireBuyerBill } from './buyer/inquire-bill.js';
import { getBuyerPriceList } from './buyer/get-price-list.js';
import { getBuyerTransaction, listBuyerTransactions, lookupBuyerTransactions } from './buyer/transactions.js';
import { advanceSandbox, endTransaction, listScenarios } from './sandbox/scenarios.js';
import { createProduct, listProducts, putOffer, updateProduct } from './seller/products.js';
import { getSellerBalance, getSettlement, listSettlements, requestSettlement } from './seller/settlements.js';
import { listSellerTransactions } from './seller/list-transactions.js';
import { createWalletTransaction } from './wallet/create-transaction.js';
import { getWalletBalance, getWalletTransaction, listWalletProducts } from './wallet/queries.js';
import { login } from './wallet/login.js';
import {
  createEndpointFor,
  enableEndpointFor,
  enableWebhooksFor,
  getEndpointFor,
  listEndpointsFor,
  removeEndpointFor,
  updateEndpointFor,
} from './webhooks/endpoints.js';
import { listDeliveriesFor, replayDeliveriesFor, replayDeliveryFor } from './webhooks/deliveries.js';
import { rotateEndpointSecretFor, rotateSecretFor } from './webhooks/rotate-secret.js';
import { testEndpointFor, testWebhookFor } from './webhooks/test-events.js';
import { createResellerRequest } from './reseller/create-request.js';
import { getResellerBalance, getResellerPriceList } from './reseller/balance-and-prices.js';
import type { AnyResellerOperation } from './reseller/reseller-operation.js';
import { buildReportOperations } from './reports/operations.js';
import { buildStatementOperations } from './statements/operations.js';

/** Operations of an account on its own settings (docs/reference/api/configuration.md). */
export function buildAccountOperations(role: Role): AnyOperation[] {
  return [getConfigFor(role), updateConfigFor(role), rotateKeyFor(role), listRequestsFor(role)];
}

/** docs/reference/api/buyer.md */
export const buyerOperations: AnyOperation[] = [
  getBuyerBalance,
  getBuyerPriceList,
  createDeposit,
  listBuyerDeposits,
  createBuyerTransaction,
  inquireBuyerBill,
  createPayment,
  listBuyerTransactions,
  lookupBuyerTransactions,
  getBuyerTransaction,
  getReceipt,
];

/** docs/reference/api/sandbox.md */
export const sandboxOperations: AnyOperation[] = [listScenarios, endTransaction, advanceSandbox];

/** docs/reference/api/seller.md */
export const sellerOperations: AnyOperation[] = [
  listProducts,
  createProduct,
  updateProduct,
  putOffer,
  getSellerBalance,
  requestSettlement,
  listSettlements,
  getSettlement,
  listSellerTransactions,
];

/** docs/reference/api/purchases.md#wallet-surface */
export const walletOperations: AnyOperation[] = [
  login,
  getWalletBalance,
  listWalletProducts,
  createWalletTransaction,
  getWalletTransaction,
];

/** Operations of an account on its webhooks. */
export function buildWebhookOperations(role: Role): AnyOperation[] {
  return [
    listDeliveriesFor(role),
    replayDeliveryFor(role),
    replayDeliveriesFor(role),
    testWebhookFor(role),
    enableWebhooksFor(role),
    rotateSecretFor(role),
    listEndpointsFor(role),
    createEndpointFor(role),
    // Must follow the calls with fixed names, which would otherwise be taken for an id.
    getEndpointFor(role),
    updateEndpointFor(role),
    removeEndpointFor(role),
    testEndpointFor(role),
    enableEndpointFor(role),
    rotateEndpointSecretFor(role),
  ];
}

/** docs/reference/api/reseller.md */
export const resellerOperations: AnyResellerOperation[] = [
  createResellerRequest,
  getResellerPriceList,
  getResellerBalance,
];

/**
 * Every operation that takes a key. The app mounts this list, and the OpenAPI document describes
 * it.
 */
export const operations: AnyOperation[] = [
  ...walletOperations,
  ...buyerOperations,
  ...sellerOperations,
  ...buildStatementOperations('buyer'),
  ...buildStatementOperations('seller'),
  ...buildReportOperations('buyer'),
  ...buildReportOperations('seller'),
  ...buildWebhookOperations('buyer'),
  ...buildWebhookOperations('seller'),
  ...buildAccountOperations('buyer'),
  ...buildAccountOperations('seller'),
  ...sandboxOperations,
];
