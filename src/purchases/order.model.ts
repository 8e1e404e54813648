import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, Money } from '../database/typed-collection.js';
import type { Maskable } from '../money/closes/canonical-text.js';
import type { ProviderSettings } from '../accounts/account.model.js';

/**
 * State of an order.
 *
 * - SENT: about to be sent or in flight.
 * - UNKNOWN: sent, outcome not known.
 * - OK: the provider definitely executed it.
 * - REJECTED: the provider definitely did not and will not execute it.
 */
export type OrderStatus = 'SENT' | 'UNKNOWN' | 'OK' | 'REJECTED';

/**
 * One request to a provider for a purchase. The collection is called `attempts`. At most one order
 * of a purchase is open, so nothing is bought twice.
 */
export interface Order extends Pick<Maskable, 'proofs'> {
  /** `<purchase>-<n>`. The provider sees it as our reference. */
  _id: string;
  /** The buyer. */
  accountId: string;
  transactionId: string;
  n: number;
  sellerId: string;
  /**
   * The product's code at the provider with which the order was sent, if it is not the product code
   * of the purchase. Status checks use it even if the offer changes later.
   */
  sku?: string;
  /** The seller's price in rupiah. It never exceeds the debit less the markup. */
  offerPrice: number;
  /**
   * The highest cost in rupiah that an operator allows for a sale below cost. If absent, it is
   * `offerPrice`.
   */
  costMax?: number;
  commissionRate: number;
  providerKind: ProviderSettings['kind'];
  /**
   * The address with which the order was sent. Status checks use it even if the settings change
   * later. Null if the provider's settings have no address.
   */
  providerBaseUrl: string | null;
  /**
   * The username with which the order was sent. Status checks use it even if the settings change
   * later.
   */
  providerUsername: string;
  status: OrderStatus;
  /** True while SENT or UNKNOWN. */
  open: boolean;
  /**
   * Lease of the request in flight. Its holder may apply the response. After the lease expires,
   * other processes check the order.
   */
  leaseToken: string | null;
  leaseUntil: Date | null;
  sentAt: Date | null;
  /** Number of status checks so far. */
  checks: number;
  /** Number of consecutive "not found" responses. */
  notFound: number;
  lastCheckAt: Date | null;
  /**
   * Start of the last request without a response. The request may still arrive at the provider, so
   * a "not found" soon after it is not believed.
   */
  unansweredAt?: Date | null;
  /**
   * True once the provider has confirmed this order. Later "not found" responses are not believed.
   */
  acknowledged?: true;
  /** True if the provider must never be queried about this order again (outcome `review`). */
  neverAskAgain?: true;
  code: string | null;
  message: string | null;
  serialNumber: string | null;
  createdAt: Date;
  updatedAt: Date;
}

const schema = new Schema<Order>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    transactionId: { type: String, required: true },
    n: { type: Number, required: true },
    sellerId: { type: String, required: true },
    sku: { type: String },
    offerPrice: { type: Money, required: true },
    costMax: { type: Money },
    commissionRate: { type: Number, required: true },
    providerKind: { type: String, required: true },
    providerBaseUrl: { type: String, default: null },
    providerUsername: { type: String, required: true },
    status: { type: String, required: true },
    open: { type: Boolean, required: true },
    leaseToken: { type: String, default: null },
    leaseUntil: { type: Date, default: null },
    sentAt: { type: Date, default: null },
    checks: { type: Number, required: true },
    notFound: { type: Number, required: true },
    lastCheckAt: { type: Date, default: null },
    unansweredAt: { type: Date },
    acknowledged: { type: Boolean },
    neverAskAgain: { type: Boolean },
    code: { type: String, default: null },
    message: { type: String, default: null },
    serialNumber: { type: String, default: null },
    proofs: { type: new Schema({ serialNumber: String }, { _id: false }) },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
  },
  { collection: 'attempts', versionKey: false },
);
schema.index(
  { accountId: 1, transactionId: 1, n: 1 },
  { unique: true, name: 'account_transaction_n_unique' },
);
schema.index(
  { accountId: 1, transactionId: 1 },
  { unique: true, partialFilterExpression: { open: true }, name: 'account_one_open_attempt' },
);
// The ledger verification reads all orders in the order of this index.
schema.index({ transactionId: 1, _id: 1 }, { name: 'transaction' });
schema.index({ sellerId: 1, createdAt: 1 }, { name: 'seller_day' });

/** Returns the filter of one order, including its shard key. */
export function getOrderKey({ _id, accountId }: Pick<Order, '_id' | 'accountId'>): {
  _id: string;
  accountId: string;
} {
  return { _id, accountId };
}

export const OrderModel = mongoose.model('Order', schema);
export const orders = getCollection<Order>(OrderModel);
export const toStored = buildToStored<Order>(['offerPrice', 'costMax']);
