/** Shapes of what operations return, for the contract (OpenAPI) and for the tests that check every answer by it. */
import Joi from 'joi';
import { purchaseStatuses } from '../purchases/purchase.model.js';
import { nameSchema } from './named.js';
import { timestamp } from './fields.js';

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
    message: nullableText.description('What became of it, in words.'),
    timestamp: timestamp.required(),
  }),
);

export const walletPurchaseData = nameSchema(
  'WalletTransaction',
  Joi.object({
    id: Joi.string().required(),
    code: Joi.string().required().description('The same as id: the identifier that callbacks carry.'),
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

/** As its sellers see it. */
export const sellerProductData = nameSchema(
  'SellerProduct',
  productData.keys({ max_wait_s: Joi.number().allow(null).required() }),
);
