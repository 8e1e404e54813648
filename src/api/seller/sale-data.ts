import Joi from 'joi';
import { maskCustomerNumber } from '../../transactions/mask-customer-number.js';
import { shownStatus } from '../../transactions/shown-status.js';
import { timestamp } from '../fields.js';
import type { Transaction } from '../../transactions/transaction.model.js';

/** An item of a seller's history and reports: no buyer identity (decisions.md 14, 17.19). */
export const saleData = Joi.object({
  transaction_id: Joi.string().required(),
  code: Joi.string().required(),
  customer_number: Joi.string().required().description('Masked but for the last four.'),
  product_name: Joi.string().required(),
  price: Joi.number().required(),
  commission_amount: Joi.number().allow(null).required().description('Null until it succeeded.'),
  net_amount: Joi.number().allow(null).required().description('price − commission_amount.'),
  sn: Joi.string().allow(null).required(),
  status: Joi.string().valid('pending', 'processing', 'success', 'failed').required(),
  timestamp: timestamp.required(),
});

export function presentSale(transaction: Transaction) {
  const { commissionAmount } = transaction;
  return {
    transaction_id: transaction._id,
    code: transaction.productCode,
    customer_number: maskCustomerNumber(transaction.customerNumber),
    product_name: transaction.productName,
    price: transaction.price,
    commission_amount: commissionAmount,
    net_amount: commissionAmount === null ? null : transaction.price - commissionAmount,
    sn: transaction.serialNumber,
    status: shownStatus(transaction.status),
    timestamp: transaction.createdAt.toISOString(),
  };
}
