import type { AnyOperation } from '../operation.js';
import { createWalletTransaction } from './create-transaction.js';
import { getWalletBalance } from './get-balance.js';
import { getWalletTransaction } from './get-transaction.js';
import { listWalletProducts } from './list-products.js';
import { login } from './login.js';

/** docs/reference/api/purchases.md#wallet-surface */
export const walletOperations: AnyOperation[] = [
  login,
  getWalletBalance,
  listWalletProducts,
  createWalletTransaction,
  getWalletTransaction,
];
