import Joi from 'joi';
import { timestamp, nameSchema } from '../../api/contract/fields.js';
import { formatToken } from '../../purchases/pln-token.js';
import { purchaseStatuses, type Purchase } from '../../purchases/purchase.model.js';
import { lookUp } from '../../shared/collections.js';
import { redactUrlSecrets } from '../../shared/mask.js';
import { requiredObject } from '../api/console-operation.js';

const nullableText = Joi.string().allow(null);

const fields = {
  id: Joi.string(),
  account: Joi.string(),
  ref_id: Joi.string(),
  product_code: Joi.string(),
  product_name: Joi.string(),
  customer_number: Joi.string(),
  price: Joi.number(),
  status: Joi.string().valid(...purchaseStatuses),
  serial_number: nullableText,
  message: nullableText,
  seller: nullableText,
  in_review: Joi.boolean(),
  created_at: timestamp,
  final_at: timestamp.allow(null),
};

export const purchaseFields = Object.keys(fields);
export const purchaseData = nameSchema('Purchase', requiredObject(fields));

/**
 * Presents a purchase as lists show it.
 * @param usernames Usernames of the buyer and the seller, by account id.
 */
export function presentPurchase(purchase: Purchase, usernames: Record<string, string>) {
  const nameOf = (id: string) => lookUp(usernames, id) ?? id;
  return {
    id: purchase._id,
    account: nameOf(purchase.accountId),
    ref_id: purchase.refId,
    product_code: purchase.productCode,
    product_name: purchase.productName,
    customer_number: purchase.customerNumber,
    price: purchase.price,
    status: purchase.status,
    serial_number: formatToken(purchase),
    message: purchase.message === null ? null : redactUrlSecrets(purchase.message),
    seller: purchase.sellerId === null ? null : nameOf(purchase.sellerId),
    in_review: purchase.reviewSince !== null,
    created_at: purchase.createdAt.toISOString(),
    final_at: purchase.finalAt?.toISOString() ?? null,
  };
}
