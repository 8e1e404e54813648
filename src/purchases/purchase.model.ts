import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, Money } from '../database/typed-collection.js';
import type { Maskable } from '../money/closes/canonical-text.js';
import type { CustomerNumberRule } from '../products/product.model.js';

export const purchaseStatuses = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED', 'REFUNDED'] as const;
export type PurchaseStatus = (typeof purchaseStatuses)[number];
export type Surface = 'wallet' | 'buyer' | 'reseller';

/** What a buyer bought; the wire and the collection say transaction. It is its own outbox: `nextActionAt` says when somebody must look at it again. */
export interface Purchase extends Maskable {
  _id: string;
  accountId: string;
  /** The client's reference, unique per account for ever. */
  refId: string;
  surface: Surface;
  kind: 'prepaid' | 'postpaid';
  productCode: string;
  productName: string;
  subcategory: string;
  /** Normalised; see customer-number.ts. With `proofs` it is masked. */
  customerNumber: string;
  customerRule: CustomerNumberRule['kind'];
  /** Rupiah debited. Fixed at acceptance. */
  price: number;
  /** What of it is above the seller's price, and stays with the platform (decision 012). Absent: nothing. */
  markup?: number;
  /** The seller whose offer this price was, without the markup: it is asked first, at that. */
  offerSellerId: string;
  /** Seconds that it may wait for its turn, as its product said when it was accepted. Absent: its product said nothing. */
  maxWaitS?: number;
  /** Postpaid: the quote that this payment claimed. */
  quoteId: string | null;
  status: PurchaseStatus;
  /** Rises with every change of state; a compare-and-set names it. */
  version: number;
  serialNumber: string | null;
  /** Words for the client on what became of it. */
  message: string | null;
  /** Set when it fails: the code (docs/reference/errors.md#codes) that tells why. */
  failureCode: string | null;
  /** The seller that was asked last, and so the one that served it; null before any was. */
  sellerId: string | null;
  /** Rupiah of the price kept by the platform, the markup among them; set with success. */
  commissionAmount: number | null;
  /** This purchase's own callback URL (POST /v1/transactions), before the account's. */
  callbackUrl: string | null;
  /** Raised whenever a job is added again, so that the new job has an id of its own. */
  epoch: number;
  /** When the sweep must enqueue it if nobody has dealt with it; null once final. */
  nextActionAt: Date | null;
  /**
   * The seller in whose provider's queue it waits for its turn: nothing of it is with a provider then. Null: it waits
   * nowhere.
   */
  queuedFor: string | null;
  /** Set when the operator must decide; see decision 003. */
  reviewSince: Date | null;
  /** Why it was put under review last, for the operator. Absent where it never was. */
  reviewReason?: string;
  /** When the operator last let its provider be asked again: the time until the next review counts from there. */
  reviewAskedAt?: Date;
  pendingNotified: boolean;
  /** Of the call that it was accepted by, for log lines and the operator. Absent where it may not be kept. */
  requestId?: string;
  /** The trace that its acceptance began, for the operator. Absent where it was not traced. */
  traceId?: string;
  /** The number was erased, and the reports that may show it have still to end (src/privacy). */
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
// What a buyer looks for in its history (history.ts); by customer number it is customer_newest.
schema.index({ accountId: 1, productCode: 1, createdAt: -1, _id: -1 }, { name: 'account_product_newest' });
schema.index(
  { accountId: 1, serialNumber: 1 },
  { partialFilterExpression: { serialNumber: { $type: 'string' } }, name: 'account_serial_number' },
);
schema.index({ sellerId: 1, createdAt: -1, _id: -1 }, { name: 'seller_newest' });
schema.index({ sellerId: 1, status: 1, createdAt: -1, _id: -1 }, { name: 'seller_status_newest' });
// What a seller looks for in its own.
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

// Open purchases whose client has not been told that they are waiting; final ones are never in it.
schema.index(
  { createdAt: 1 },
  { partialFilterExpression: { pendingNotified: false }, name: 'pending_not_notified' },
);

// What a customer can say on the telephone (search-purchases.ts). Newest first within a number.
schema.index({ refId: 1 }, { name: 'ref' });
schema.index({ customerNumber: 1, _id: -1 }, { name: 'customer_newest' });

// What retention has still to mask.
schema.index(
  { createdAt: 1 },
  { partialFilterExpression: { proofSalt: { $type: 'string' } }, name: 'unmasked_oldest' },
);

// Whether a bill is being paid, and when its payments have ended (create-payment.ts). Open ones come first.
schema.index(
  { accountId: 1, productCode: 1, customerNumber: 1, finalAt: 1 },
  { partialFilterExpression: { kind: 'postpaid' }, name: 'account_bill_ended' },
);

// What an erasure has still to end reports for.
schema.index(
  { reportsToEnd: 1 },
  { partialFilterExpression: { reportsToEnd: true }, name: 'reports_to_end' },
);

export const PurchaseModel = mongoose.model('Purchase', schema);
export const purchases = getCollection<Purchase>(PurchaseModel);
export const toStored = buildToStored<Purchase>(['price', 'markup', 'commissionAmount']);
