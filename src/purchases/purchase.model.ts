import mongoose, { Schema } from 'mongoose';
import { collectionOf, storing } from '../database/typed-collection.js';
import { Money } from '../database/money-type.js';
import type { CustomerNumberRule } from '../products/product.model.js';

export type PurchaseStatus = 'PENDING' | 'PROCESSING' | 'SUCCESS' | 'FAILED' | 'REFUNDED';
export type Surface = 'wallet' | 'buyer' | 'reseller';

/** What a buyer bought; the wire and the collection say transaction. It is its own outbox: `nextActionAt` says when somebody must look at it again. */
export interface Purchase {
  _id: string;
  accountId: string;
  /** The client's reference, unique per account for ever. */
  refId: string;
  surface: Surface;
  kind: 'prepaid' | 'postpaid';
  productCode: string;
  productName: string;
  subcategory: string;
  /** Normalised; see customer-number.ts. */
  customerNumber: string;
  customerRule: CustomerNumberRule['kind'];
  /** Rupiah debited. Fixed at acceptance. */
  price: number;
  /** Postpaid: the quote that this payment claimed. */
  quoteId: string | null;
  status: PurchaseStatus;
  /** Rises with every change of state; a compare-and-set names it. */
  version: number;
  serialNumber: string | null;
  /** Words for the client on what became of it. */
  message: string | null;
  /** Set when it fails: the code (docs/interface.md#codes) that tells why. */
  failureCode: string | null;
  /** The seller that was asked last, and so the one that served it; null before any was. */
  sellerId: string | null;
  /** Rupiah of the price kept by the platform; set with success. */
  commissionAmount: number | null;
  /** This purchase's own callback URL (POST /v1/transactions), before the account's. */
  callbackUrl: string | null;
  /** Raised whenever a job is added again, so that the new job has an id of its own. */
  epoch: number;
  /** When the sweep must enqueue it if nobody has dealt with it; null once final. */
  nextActionAt: Date | null;
  /** Set when the operator must decide; see decision 010. */
  reviewSince: Date | null;
  pendingNotified: boolean;
  createdAt: Date;
  updatedAt: Date;
  finalAt: Date | null;
}

const schema = new Schema<Purchase>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    refId: { type: String, required: true },
    surface: { type: String, required: true },
    kind: { type: String, required: true },
    productCode: { type: String, required: true },
    productName: { type: String, required: true },
    subcategory: { type: String, required: true },
    customerNumber: { type: String, required: true },
    customerRule: { type: String, required: true },
    price: { type: Money, required: true },
    quoteId: { type: String, default: null },
    status: { type: String, required: true },
    version: { type: Number, required: true },
    serialNumber: { type: String, default: null },
    message: { type: String, default: null },
    failureCode: { type: String, default: null },
    sellerId: { type: String, default: null },
    commissionAmount: { type: Money, default: null },
    callbackUrl: { type: String, default: null },
    epoch: { type: Number, required: true },
    nextActionAt: { type: Date, default: null },
    reviewSince: { type: Date, default: null },
    pendingNotified: { type: Boolean, required: true },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
    finalAt: { type: Date, default: null },
  },
  { collection: 'transactions', versionKey: false },
);
schema.index({ accountId: 1, refId: 1 }, { unique: true, name: 'account_ref_unique' });
schema.index({ accountId: 1, createdAt: -1, _id: -1 }, { name: 'account_newest' });
schema.index({ accountId: 1, status: 1, createdAt: -1, _id: -1 }, { name: 'account_status_newest' });
schema.index({ sellerId: 1, createdAt: -1, _id: -1 }, { name: 'seller_newest' });
schema.index({ sellerId: 1, status: 1, createdAt: -1, _id: -1 }, { name: 'seller_status_newest' });
schema.index({ status: 1, nextActionAt: 1 }, { name: 'status_next_action' });
schema.index(
  { productCode: 1, serialNumber: 1 },
  { partialFilterExpression: { serialNumber: { $type: 'string' } }, name: 'product_serial_number' },
);
schema.index(
  { reviewSince: 1 },
  { partialFilterExpression: { reviewSince: { $type: 'date' } }, name: 'review_oldest' },
);

// Open purchases whose client has not been told that they are waiting; final ones are never in it.
schema.index(
  { createdAt: 1 },
  { partialFilterExpression: { pendingNotified: false }, name: 'pending_not_notified' },
);

export const PurchaseModel = mongoose.model('Purchase', schema);
export const purchases = collectionOf<Purchase>(PurchaseModel);
export const toStored = storing<Purchase>(['price', 'commissionAmount']);
