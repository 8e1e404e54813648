import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, Money } from '../database/typed-collection.js';
import type { Maskable } from '../money/closes/canonical-text.js';
import type { CustomerNumberRule } from '../products/product.model.js';
import type { Surface } from '../shared/caller-fields.js';

export const purchaseStatuses = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED', 'REFUNDED'] as const;
export type PurchaseStatus = (typeof purchaseStatuses)[number];

/**
 * A purchase of a buyer. The API and the collection call it a transaction. The document is its own
 * outbox: the sweep handles it at `nextActionAt`.
 */
export interface Purchase extends Maskable {
  _id: string;
  accountId: string;
  /** The client's reference. Unique per account forever. */
  refId: string;
  surface: Surface;
  kind: 'prepaid' | 'postpaid';
  productCode: string;
  productName: string;
  subcategory: string;
  /** Normalised by normalizeCustomerNumber. Masked if `proofs` is set. */
  customerNumber: string;
  customerRule: CustomerNumberRule['kind'];
  /** Rupiah debited. Fixed at acceptance. */
  price: number;
  /**
   * The part of the price above the seller's price, in rupiah. The platform keeps it (decision
   * 012). Zero if absent.
   */
  markup?: number;
  /**
   * The seller whose offer set the price. This seller is tried first, at the price without the
   * markup.
   */
  /** The product's code at the provider with which the bill was quoted, if it is another one. */
  sku?: string;
  offerSellerId: string;
  /**
   * Maximum time in a queue in seconds, from the product at acceptance. Absent if the product had
   * no limit.
   */
  maxWaitS?: number;
  /** The quote that a postpaid payment claimed. Null for a prepaid purchase. */
  quoteId: string | null;
  status: PurchaseStatus;
  /**
   * Incremented by every state change. Every conditional update expects the version that was read.
   */
  version: number;
  serialNumber: string | null;
  /** Message for the client about the outcome. Null if there is none. */
  message: string | null;
  /** The error code of a failure (docs/reference/errors.md#codes). Null otherwise. */
  failureCode: string | null;
  /**
   * The seller that was tried last. After success, the seller that served the purchase. Null before
   * the first order.
   */
  sellerId: string | null;
  /** The platform's share of the price in rupiah, including the markup. Null before success. */
  commissionAmount: number | null;
  /** Callback URL of this purchase (POST /v1/transactions). It overrides the URL of the account. */
  callbackUrl: string | null;
  /**
   * Number of times that the sweep has added the job again. The grace period of the sweep grows
   * with it.
   */
  epoch: number;
  /**
   * When the sweep adds the job again if it was lost. Null if the purchase is final or under
   * review.
   */
  nextActionAt: Date | null;
  /**
   * The seller in whose provider queue the purchase waits. It then has no open order. Null if it
   * waits in no queue.
   */
  queuedFor: string | null;
  /** When the review began. Null unless the operator must decide (decision 003). */
  reviewSince: Date | null;
  /** Reason of the last review. Absent if there was none. */
  reviewReason?: string;
  /**
   * When the operator last sent the purchase back to the workers. The time until the next review
   * counts from this moment.
   */
  reviewAskedAt?: Date;
  pendingNotified: boolean;
  /** Request id of the call that created the purchase. Absent if the id may not be stored. */
  requestId?: string;
  /** Trace id of the call that created the purchase. Absent if the call was not traced. */
  traceId?: string;
  /**
   * Set after the customer number is erased, until the reports that may contain it are ended
   * (src/privacy).
   */
  reportsToEnd?: true;
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
    markup: { type: Money },
    sku: { type: String },
    offerSellerId: { type: String, required: true },
    maxWaitS: { type: Number },
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
    queuedFor: { type: String, default: null },
    reviewSince: { type: Date, default: null },
    reviewReason: { type: String },
    reviewAskedAt: { type: Date },
    pendingNotified: { type: Boolean, required: true },
    requestId: { type: String },
    traceId: { type: String },
    reportsToEnd: { type: Boolean },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
    finalAt: { type: Date, default: null },
    proofSalt: { type: String },
    proofs: { type: new Schema({ customerNumber: String, serialNumber: String }, { _id: false }) },
  },
  { collection: 'transactions', versionKey: false },
);
schema.index({ accountId: 1, refId: 1 }, { unique: true, name: 'account_ref_unique' });
schema.index({ accountId: 1, createdAt: -1, _id: -1 }, { name: 'account_newest' });
schema.index({ accountId: 1, status: 1, createdAt: -1, _id: -1 }, { name: 'account_status_newest' });
// The buyer's history search (history.ts). A search by customer number uses customer_newest.
schema.index({ accountId: 1, productCode: 1, createdAt: -1, _id: -1 }, { name: 'account_product_newest' });
schema.index(
  { accountId: 1, serialNumber: 1 },
  { partialFilterExpression: { serialNumber: { $type: 'string' } }, name: 'account_serial_number' },
);
schema.index({ sellerId: 1, createdAt: -1, _id: -1 }, { name: 'seller_newest' });
schema.index({ sellerId: 1, status: 1, createdAt: -1, _id: -1 }, { name: 'seller_status_newest' });
// The seller's history search.
schema.index({ sellerId: 1, productCode: 1, createdAt: -1, _id: -1 }, { name: 'seller_product_newest' });
schema.index(
  { sellerId: 1, serialNumber: 1 },
  { partialFilterExpression: { serialNumber: { $type: 'string' } }, name: 'seller_serial_number' },
);
schema.index({ status: 1, nextActionAt: 1 }, { name: 'status_next_action' });
schema.index(
  { productCode: 1, serialNumber: 1 },
  { partialFilterExpression: { serialNumber: { $type: 'string' } }, name: 'product_serial_number' },
);
schema.index(
  { reviewSince: 1 },
  { partialFilterExpression: { reviewSince: { $type: 'date' } }, name: 'review_oldest' },
);

// The sweep of pending notices. This index never contains final purchases.
schema.index(
  { createdAt: 1 },
  { partialFilterExpression: { pendingNotified: false }, name: 'pending_not_notified' },
);

// Operator search (search-purchases.ts). Within one ref_id, the newest purchase comes first.
schema.index({ refId: 1 }, { name: 'ref' });
schema.index({ customerNumber: 1, _id: -1 }, { name: 'customer_newest' });

// Purchases that retention has not masked yet.
schema.index(
  { createdAt: 1 },
  { partialFilterExpression: { proofSalt: { $type: 'string' } }, name: 'unmasked_oldest' },
);

// Finds concurrent payments of a bill (create-payment.ts). Open payments sort first.
schema.index(
  { accountId: 1, productCode: 1, customerNumber: 1, finalAt: 1 },
  { partialFilterExpression: { kind: 'postpaid' }, name: 'account_bill_ended' },
);

// Purchases whose customer number was erased and whose reports are not ended yet.
schema.index(
  { reportsToEnd: 1 },
  { partialFilterExpression: { reportsToEnd: true }, name: 'reports_to_end' },
);

export const PurchaseModel = mongoose.model('Purchase', schema);
export const purchases = getCollection<Purchase>(PurchaseModel);
export const toStored = buildToStored<Purchase>(['price', 'markup', 'commissionAmount']);
