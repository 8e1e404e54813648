import type { AnyOperation } from '../operation.js';
import { createDeposit } from './create-deposit.js';
import { createPayment } from './create-payment.js';
import { createBuyerTransaction } from './create-transaction.js';
import { getBuyerBalance } from './get-balance.js';
import { getReceipt } from './get-receipt.js';
import { inquireBuyerBill } from './inquire-bill.js';
import { getBuyerPriceList } from './get-price-list.js';
import { getBuyerTransaction } from './get-transaction.js';
import { listBuyerDeposits } from './list-deposits.js';
import { listBuyerTransactions } from './list-transactions.js';
import { lookupBuyerTransactions } from './lookup-transactions.js';

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
