import mongoose, { Schema } from 'mongoose';
import { getCollection, Money } from '../database/typed-collection.js';
import type { Maskable } from '../money/closes/canonical-text.js';
import type { BillDetails } from '../providers/adapter.js';

/** The reason of a refused inquiry, as shown to the client. */
export interface QuoteRefusal {
  reason: 'already-paid' | 'wrong-number' | 'no-bill' | 'not-sold' | 'unavailable';
  message: string;
}

/**
 * A bill inquiry and its result. The quote is valid until the end of the business day and is paid
 * once: the database transaction of the debit sets `usedBy`.
 */
export interface Quote extends Maskable {
  _id: string;
  accountId: string;
  productCode: string;
  /** The normalised customer number. If `proofs` is set, the number and the name are masked. */
  customerNumber: string;
  sellerId: string;
  /** The product's code at the seller's provider, if it is not `productCode`. */
  sku?: string;
  status: 'asked' | 'open' | 'refused';
  customerName: string | null;
  /** Newest month of the bill, YYYY-MM. Null if the provider's text was not understood. */
  billPeriod: string | null;
  /** Facts about the bill that decide nothing. Absent if the provider states none. */
  details?: BillDetails | null;
  /** The biller's amount in rupiah. */
  totalBill: number | null;
  adminFee: number | null;
  totalAmount: number | null;
  /**
   * The account's markup in rupiah, fixed when the quote is made. The buyer sees it in the admin
   * fee and the total. Zero if absent.
   */
  markup?: number;
  refusal: QuoteRefusal | null;
  /** Id of the purchase that pays the bill. Null if unpaid. */
  usedBy: string | null;
  createdAt: Date;
  expiresAt: Date;
}

const schema = new Schema<Quote>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    productCode: { type: String, required: true },
    customerNumber: { type: String, required: true },
    sellerId: { type: String, required: true },
    sku: { type: String },
    status: { type: String, required: true },
    customerName: { type: String, default: null },
    billPeriod: { type: String, default: null },
    details: { type: Object },
    totalBill: { type: Money, default: null },
    adminFee: { type: Money, default: null },
    totalAmount: { type: Money, default: null },
    markup: { type: Money },
    refusal: { type: new Schema({ reason: String, message: String }, { _id: false }), default: null },
    usedBy: { type: String, default: null },
    createdAt: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
    proofSalt: { type: String },
    proofs: { type: new Schema({ customerNumber: String, customerName: String }, { _id: false }) },
  },
  { collection: 'quotes', versionKey: false },
);
schema.index(
  { accountId: 1, productCode: 1, customerNumber: 1, createdAt: -1 },
  { name: 'account_product_customer_newest' },
);

// Quotes that retention must still remove, or must mask if they were paid.
schema.index(
  { createdAt: 1 },
  { partialFilterExpression: { proofSalt: { $type: 'string' } }, name: 'kept_oldest' },
);

export const QuoteModel = mongoose.model('Quote', schema);
export const quotes = getCollection<Quote>(QuoteModel);
