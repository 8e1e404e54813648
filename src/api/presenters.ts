/** Domain to wire: snake_case and the words of the interface end here. */
import type { Deposit } from '../deposits/deposit.model.js';
import { shownStatus } from '../purchases/shown-status.js';
import type { Transaction } from '../purchases/purchase.model.js';

/** Buyer transaction, interface 2.5. */
export function presentBuyerTransaction(transaction: Transaction) {
  return {
    ref_id: transaction.refId,
    transaction_id: transaction._id,
    code: transaction.productCode,
    customer_number: transaction.customerNumber,
    product_name: transaction.productName,
    price: transaction.price,
    sn: transaction.serialNumber,
    status: shownStatus(transaction.status),
    message: transaction.message,
    timestamp: transaction.createdAt.toISOString(),
  };
}

/** Wallet-surface transaction, decisions.md 7. */
export function presentWalletTransaction(transaction: Transaction) {
  return {
    id: transaction._id,
    code: transaction._id,
    ref_id: transaction.refId,
    product_code: transaction.productCode,
    destination: transaction.customerNumber,
    status: transaction.status,
    serial_number: transaction.serialNumber,
    price: transaction.price,
    message: transaction.message,
    created_at: transaction.createdAt.toISOString(),
    updated_at: transaction.updatedAt.toISOString(),
  };
}

/** Deposit result, interface 2.4; `status` is an addition (decisions.md 9). */
export function presentDeposit(deposit: Deposit) {
  return {
    ref_id: deposit.refId,
    amount: deposit.amount,
    balance_before: deposit.balanceBefore,
    balance_after: deposit.balanceAfter,
    status: deposit.status,
    timestamp: deposit.createdAt.toISOString(),
  };
}
