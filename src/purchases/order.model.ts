import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, Money } from '../database/typed-collection.js';
import type { Maskable } from '../money/closes/canonical-text.js';
import type { ProviderSettings } from '../accounts/account.model.js';

/**
 * SENT: about to be sent or under way. UNKNOWN: sent, outcome not known. OK, REJECTED: the provider's certain answer.
 */
export type OrderStatus = 'SENT' | 'UNKNOWN' | 'OK' | 'REJECTED';

/**
 * One request to a provider for a purchase; the collection is called `attempts`. At most one order of a purchase is
 * open, so that nothing is bought twice.
 */
export interface Order extends Pick<Maskable, 'proofs'> {
  /** `<purchase>-<n>`: also the reference that the provider sees. */
  _id: string;
  /** The buyer's. */
  accountId: string;
  transactionId: string;
  n: number;
  sellerId: string;
  /** Rupiah that the seller asks; never more than what was debited, less the markup. */
  offerPrice: number;
  commissionRate: number;
  providerKind: ProviderSettings['kind'];
  /**
   * Where it was sent, and under which name: it is asked about there, whatever the settings say by then. Null: the
   * provider has no address of its own in them.
   */
  providerBaseUrl: string | null;
  providerUsername: string;
  status: OrderStatus;
  /** True while SENT or UNKNOWN. */
  open: boolean;
  /** While it is sent or asked about: whoever holds this token may apply the answer; after it the order is asked about by others. */
  leaseToken: string | null;
  leaseUntil: Date | null;
  sentAt: Date | null;
  /** Status checks so far. */
  checks: number;
  /** "Not found" answers in a row. */
  notFound: number;
  lastCheckAt: Date | null;
  /** When the last request began that was not answered: it may still arrive there, so "not found" is not believed for long after it. */
  unansweredAt?: Date | null;
  /** The provider has said once that it has this order: "not found" is not believed any more. */
  acknowledged?: true;
  /** The provider's answer says that it must never be asked about again (outcome `review`). */
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
    offerPrice: { type: Money, required: true },
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
// For the verification of the ledger, which walks all purchases.
schema.index({ transactionId: 1, _id: 1 }, { name: 'transaction' });
schema.index({ sellerId: 1, createdAt: 1 }, { name: 'seller_day' });

/** The one order, in the shard that it is in. */
export function getOrderKey({ _id, accountId }: Pick<Order, '_id' | 'accountId'>): {
  _id: string;
  accountId: string;
} {
  return { _id, accountId };
}

export const OrderModel = mongoose.model('Order', schema);
export const orders = getCollection<Order>(OrderModel);
export const toStored = buildToStored<Order>(['offerPrice']);
