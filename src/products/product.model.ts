import mongoose, { Schema } from 'mongoose';
import { asReadOnly } from '../database/read-only-model.js';

export type ProductCategory = 'prabayar' | 'pascabayar';
export type ProductStatus = 'active' | 'inactive' | 'maintenance';

/** The format of a product's customer numbers; see customer-number.ts. */
export type CustomerNumberRule =
  | { kind: 'phone'; prefixes: string[] }
  | { kind: 'pln' }
  | { kind: 'game' }
  | { kind: 'bill' }
  | { kind: 'any' };

/** A product of the catalogue. Its offers hold the prices. */
export interface Product {
  /** The product code, unique in the catalogue. */
  _id: string;
  sellerId: string;
  name: string;
  category: ProductCategory;
  subcategory: string;
  operator: string | null;
  status: ProductStatus;
  description: string | null;
  customerNumber: CustomerNumberRule;
  /**
   * Daily window without sales in business time HH:MM, which may span midnight. Null if there is
   * none.
   */
  cutOff: { start: string; end: string } | null;
  /**
   * Maximum time in seconds that an order waits in a queue (src/providers/backlog.ts). Null or
   * absent means no limit for this product.
   */
  maxWaitS?: number | null;
  createdAt: Date;
  updatedAt: Date;
}

const schema = new Schema<Product>(
  {
    _id: { type: String, required: true },
    sellerId: { type: String, required: true },
    name: { type: String, required: true },
    category: { type: String, required: true, enum: ['prabayar', 'pascabayar'] },
    subcategory: { type: String, required: true },
    operator: { type: String, default: null },
    status: { type: String, required: true, enum: ['active', 'inactive', 'maintenance'] },
    description: { type: String, default: null },
    customerNumber: {
      type: new Schema({ kind: String, prefixes: { type: [String], default: undefined } }, { _id: false }),
      required: true,
    },
    cutOff: { type: new Schema({ start: String, end: String }, { _id: false }), default: null },
    maxWaitS: { type: Number },
  },
  { collection: 'products', timestamps: true, versionKey: false },
);
schema.index({ category: 1, subcategory: 1, _id: 1 }, { name: 'category_subcategory' });
schema.index({ operator: 1, _id: 1 }, { name: 'operator' });
schema.index({ sellerId: 1, _id: 1 }, { name: 'seller' });

export const ProductModel = asReadOnly<Product>(mongoose.model('Product', schema));
