import type { AnyOperation } from '../operation.js';
import { createProduct } from './create-product.js';
import { getSellerBalance } from './get-balance.js';
import { getSettlement } from './get-settlement.js';
import { listProducts } from './list-products.js';
import { listSettlements } from './list-settlements.js';
import { listSellerTransactions } from './list-transactions.js';
import { putOffer } from './put-offer.js';
import { requestSettlement } from './request-settlement.js';
import { updateProduct } from './update-product.js';

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
