import mongoose, { Schema } from 'mongoose';
import { Money } from '../database/typed-collection.js';
import { asReadOnly } from '../database/read-only-model.js';
import type { Product, ProductStatus } from './product.model.js';

/**
 * A seller's price for a product, in rupiah. The product owner's offer holds the price of the
 * product.
 */
export interface Offer {
  /** `<productCode>:<sellerId>` */
  _id: string;
  productCode: string;
  sellerId: string;
  /** The product's code at the seller's provider. If absent, it is `productCode`. */
  sku?: string | null;
  price: number;
  status: ProductStatus;
  /** Cost in rupiah, from the provider's price list or a price import. Unknown if absent. */
  cost?: number | null;
  /**
   * The highest cost in rupiah at which an operator allows sales below cost. If absent, the offer is
   * not sold while its cost is above its price.
   */
  costAllowed?: number | null;
  providerAvailable?: boolean | null;
  /**
   * Daily window in which this seller's provider does not sell the product. In business time,
   * HH:MM; the window may span midnight.
   */
  cutOff?: { start: string; end: string } | null;
  createdAt: Date;
  updatedAt: Date;
}

const schema = new Schema<Offer>(
  {
    _id: { type: String, required: true },
    productCode: { type: String, required: true },
    sellerId: { type: String, required: true },
    sku: { type: String },
    price: { type: Money, required: true },
    status: { type: String, required: true, enum: ['active', 'inactive', 'maintenance'] },
    cost: { type: Money },
    costAllowed: { type: Money },
    providerAvailable: { type: Boolean },
    cutOff: { type: new Schema({ start: String, end: String }, { _id: false }) },
  },
  { collection: 'offers', timestamps: true, versionKey: false },
);
schema.index({ productCode: 1, sellerId: 1 }, { unique: true, name: 'product_seller_unique' });
schema.index({ sellerId: 1, productCode: 1 }, { name: 'seller_products' });

export const OfferModel = asReadOnly<Offer>(mongoose.model('Offer', schema));

/** The product's code at the provider of the offer. */
export function getSku({ productCode, sku }: Pick<Offer, 'productCode' | 'sku'>): string {
  return sku ?? productCode;
}

/**
 * True if the offer is not sold because its cost is above its price, and no operator has allowed
 * that cost. A bill sets its own price, which is checked when it is paid.
 */
export function isBelowCost(
  { price, cost, costAllowed }: Pick<Offer, 'price' | 'cost' | 'costAllowed'>,
  { category }: Pick<Product, 'category'>,
): boolean {
  return category === 'prabayar' && (cost ?? 0) > Math.max(price, costAllowed ?? 0);
}

/**
 * Returns the update that sets the price of an offer. A new price ends the permission to sell below
 * cost, unless the operator gives it again.
 * @param costAllowed See `Offer`. Null removes the permission.
 */
export function buildPriceUpdate(price: number, costAllowed: number | null = null) {
  return costAllowed === null
    ? { $set: { price }, $unset: { costAllowed: 1 as const } }
    : { $set: { price, costAllowed } };
}
