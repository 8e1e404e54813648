import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { productCode, text, wholeNumber } from '../../api/fields.js';
import type { PurchaseFilter } from '../../purchases/page-of-purchases.js';
import { resolvePurchaseFilter as filterOf } from '../../purchases/purchase-filter-of.js';
import { purchaseStatuses, type PurchaseStatus } from '../../purchases/purchase.model.js';
import { day } from '../api/list-query.js';

/** What purchases are looked for by, in the list, its sums and its CSV. */
export interface PurchaseFilterQuery {
  account?: string;
  seller?: string;
  status?: PurchaseStatus;
  product?: string;
  price_from?: number;
  price_to?: number;
  from?: string;
  to?: string;
}

/** Rupiah. */
const price = wholeNumber({ max: limits.offerPriceMax });

export const purchaseFilterFields = {
  account: text(64),
  seller: text(64),
  status: Joi.string().valid(...purchaseStatuses),
  product: productCode,
  price_from: price,
  price_to: price,
  from: day,
  to: day,
};

/** @throws NotFoundError for an account that does not exist. */
export function purchaseFilterOf(query: PurchaseFilterQuery): Promise<PurchaseFilter> {
  const { product, price_from, price_to, ...same } = query;
  return filterOf({ ...same, productCode: product, priceFrom: price_from, priceTo: price_to });
}
