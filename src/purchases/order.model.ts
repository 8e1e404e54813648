import mongoose, { Schema } from 'mongoose';
import { collectionOf, storing } from '../database/typed-collection.js';
import { Money } from '../database/money-type.js';
import type { ProviderSettings } from '../accounts/account.model.js';

/**
 * PREPARED: written, nothing sent. SENT: about to be sent or under way. UNKNOWN: sent, outcome not known.
 * OK, REJECTED: the provider's certain answer.
 */
export type OrderStatus = 'PREPARED' | 'SENT' | 'UNKNOWN' | 'OK' | 'REJECTED';

/**
 * One request to a provider for a purchase; the collection is called `attempts`. At most one order of a purchase is
 * open, so that nothing is bought twice.
 */
export interface Order {
  /** `<purchase>-<n>`: also the reference that the provider sees. */
  _id: string;
  transactionId: string;
  n: number;
  sellerId: string;
  /** Rupiah that the seller asks; never more than what was debited. */
  offerPrice: number;
  commissionRate: number;
  providerKind: ProviderSettings['kind'];
  status: OrderStatus;
  /** True while PREPARED, SENT or UNKNOWN. */
  open: boolean;
  /** While SENT: whoever holds this token may apply the answer; after it the order is asked about by others. */
  leaseToken: string | null;
  leaseUntil: Date | null;
  sentAt: Date | null;
  /** Status checks so far. */
  checks: number;
  /** "Not found" answers in a row. */
  notFound: number;
  lastCheckAt: Date | null;
  code: string | null;
  message: string | null;
  serialNumber: string | null;
  createdAt: Date;
  updatedAt: Date;
}

const schema = new Schema<Order>(
  {
    _id: { type: String, required: true },
    transactionId: { type: String, required: true },
    n: { type: Number, required: true },
    sellerId: { type: String, required: true },
    offerPrice: { type: Money, required: true },
    commissionRate: { type: Number, required: true },
    providerKind: { type: String, required: true },
    status: { type: String, required: true },
    open: { type: Boolean, required: true },
    leaseToken: { type: String, default: null },
    leaseUntil: { type: Date, default: null },
    sentAt: { type: Date, default: null },
    checks: { type: Number, required: true },
    notFound: { type: Number, required: true },
    lastCheckAt: { type: Date, default: null },
    code: { type: String, default: null },
    message: { type: String, default: null },
    serialNumber: { type: String, default: null },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
  },
  { collection: 'attempts', versionKey: false },
);
schema.index({ transactionId: 1, n: 1 }, { unique: true, name: 'transaction_n_unique' });
schema.index(
  { transactionId: 1 },
  { unique: true, partialFilterExpression: { open: true }, name: 'one_open_attempt' },
);
schema.index({ sellerId: 1, createdAt: 1 }, { name: 'seller_day' });

export const OrderModel = mongoose.model('Order', schema);
export const orders = collectionOf<Order>(OrderModel);
export const toStored = storing<Order>(['offerPrice']);
