import mongoose, { Schema } from 'mongoose';
import { Money } from '../shared/money.js';
import type { ProductStatus } from './product.model.js';

/** A seller's price for a product, in rupiah. The creating seller's price is its offer. */
export interface Offer {
  /** `<productCode>:<sellerId>` */
  _id: string;
  productCode: string;
  sellerId: string;
  price: number;
  status: ProductStatus;
  createdAt: Date;
  updatedAt: Date;
}

const schema = new Schema<Offer>(
  {
    _id: { type: String, required: true },
    productCode: { type: String, required: true },
    sellerId: { type: String, required: true },
    price: { type: Money, required: true },
    status: { type: String, required: true, enum: ['active', 'inactive', 'maintenance'] },
  },
  { collection: 'offers', timestamps: true, versionKey: false },
);
schema.index({ productCode: 1, sellerId: 1 }, { unique: true, name: 'product_seller_unique' });
schema.index({ sellerId: 1, productCode: 1 }, { name: 'seller_products' });

export const OfferModel = mongoose.model('Offer', schema);
