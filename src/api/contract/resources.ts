/**
 * Response schemas of operations. The OpenAPI document and the tests of every response use them.
 */
import Joi from 'joi';
import { purchaseStatuses, type Purchase } from '../../purchases/purchase.model.js';
import { nameSchema, timestamp } from './fields.js';
import { toShownStatus, isFinal } from '../../purchases/states.js';
import { formatIsoTime } from '../../shared/business-time.js';
import type { PricedProduct } from '../../providers/price-list.js';

const nullableText = Joi.string().allow(null).required();

export const balanceData = nameSchema(
  'Balance',
  Joi.object({
    balance: Joi.number().required().example(1_000_000),
    currency: Joi.string().valid('IDR').required(),
  }),
);

export const depositData = nameSchema(
  'Deposit',
  Joi.object({
    ref_id: Joi.string().required(),
    amount: Joi.number().required(),
    balance_before: Joi.number().required(),
    balance_after: Joi.number().required(),
    status: Joi.string().valid('pending', 'completed', 'rejected').required(),
    timestamp: timestamp.required(),
  }),
);

export const buyerTransactionData = nameSchema(
  'Transaction',
  Joi.object({
    ref_id: Joi.string().required(),
    transaction_id: Joi.string().required(),
    code: Joi.string().required(),
    customer_number: Joi.string().required(),
    product_name: Joi.string().required(),
    price: Joi.number().required(),
    sn: nullableText.description('Serial number; null while unavailable.'),
    status: Joi.string().valid('pending', 'processing', 'success', 'failed').required(),
    message: nullableText.description('Description of the outcome.'),
    timestamp: timestamp.required(),
  }),
);

export const walletPurchaseData = nameSchema(
  'WalletTransaction',
  Joi.object({
    id: Joi.string().required(),
    code: Joi.string().required().description('The same as id. Callbacks contain it under this name.'),
    ref_id: Joi.string().required(),
    product_code: Joi.string().required(),
    destination: Joi.string().required(),
    status: Joi.string()
      .valid(...purchaseStatuses)
      .required(),
    serial_number: nullableText,
    price: Joi.number().required(),
    message: nullableText,
    created_at: timestamp.required(),
    updated_at: timestamp.required(),
  }),
);

export const productData = nameSchema(
  'Product',
  Joi.object({
    code: Joi.string().required(),
    name: Joi.string().required(),
    category: Joi.string().valid('prabayar', 'pascabayar').required(),
    subcategory: Joi.string().required(),
    operator: nullableText,
    price: Joi.number().required(),
    status: Joi.string().valid('active', 'inactive', 'maintenance').required(),
    description: nullableText,
  }),
);

/** A product as its sellers see it. */
export const sellerProductData = nameSchema(
  'SellerProduct',
  productData.keys({ max_wait_s: Joi.number().allow(null).required() }),
);

/**
 * Converts a purchase to the form in docs/reference/api/buyer.md.
 * @param zone Time zone of its time. Default UTC.
 */
export function presentBuyerTransaction(purchase: Purchase, zone?: string) {
  return {
    ref_id: purchase.refId,
    transaction_id: purchase._id,
    code: purchase.productCode,
    customer_number: purchase.customerNumber,
    product_name: purchase.productName,
    price: purchase.price,
    sn: purchase.serialNumber,
    status: toShownStatus(purchase.status),
    message: purchase.message,
    timestamp: formatIsoTime(purchase.createdAt, zone),
  };
}

/**
 * Converts a purchase to the form in docs/reference/api/purchases.md#wallet-surface.
 * @param zone Time zone of its times. Default UTC.
 */
export function presentWalletTransaction(purchase: Purchase, zone?: string) {
  return {
    id: purchase._id,
    code: purchase._id,
    ref_id: purchase.refId,
    product_code: purchase.productCode,
    destination: purchase.customerNumber,
    status: purchase.status,
    serial_number: purchase.serialNumber,
    price: purchase.price,
    message: purchase.message,
    created_at: formatIsoTime(purchase.createdAt, zone),
    updated_at: formatIsoTime(purchase.updatedAt, zone),
  };
}

/** Converts a product to the form in docs/reference/api/products.md. */
export function presentProduct({ product, price, status }: PricedProduct) {
  return {
    code: product._id,
    name: product.name,
    category: product.category,
    subcategory: product.subcategory,
    operator: product.operator,
    price,
    status,
    description: product.description,
  };
}

/** Converts a product to the form that its sellers see. */
export function presentSellerProduct(shown: PricedProduct) {
  return { ...presentProduct(shown), max_wait_s: shown.product.maxWaitS ?? null };
}

/**
 * Returns 00 for a new or final purchase, and 05 for a repeated call whose purchase is in progress.
 */
export function getReplyCode(purchase: Purchase, created: boolean): '00' | '05' {
  return created || isFinal(purchase.status) ? '00' : '05';
}
