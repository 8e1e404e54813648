import type { AnyOperation } from '../operation.js';
import { createDeposit } from './create-deposit.js';
import { createBuyerTransaction } from './create-transaction.js';
import { getBuyerBalance } from './get-balance.js';
import { getBuyerPriceList } from './get-price-list.js';
import { getBuyerTransaction } from './get-transaction.js';
import { listBuyerTransactions } from './list-transactions.js';

/** Interface 4.2. */
export const buyerOperations: AnyOperation[] = [
  getBuyerBalance,
  getBuyerPriceList,
  createDeposit,
  createBuyerTransaction,
  listBuyerTransactions,
  getBuyerTransaction,
];
