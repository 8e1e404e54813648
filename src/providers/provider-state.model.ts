import mongoose, { Schema } from 'mongoose';
import { getCollection, Money } from '../database/typed-collection.js';
import { asReadOnly } from '../database/read-only-model.js';

/** Run-time state of a seller's provider. Its settings are stored with the account. */
export interface ProviderState {
  /** The seller's account id. */
  _id: string;
  /**
   * Set by the operator. The provider gets no new orders, but status checks of orders in flight
   * continue.
   */
  paused: { reason: string; by: string; at: Date } | null;
  /**
   * Our balance in rupiah when the provider last reported it. Null if unknown, which blocks no
   * order.
   */
  floatAmount: number | null;
  floatAt: Date | null;
  /** The last price list that was believed, and a much smaller one that is not believed yet. */
  priceList?: PriceListState | null;
}

export interface PriceListState {
  /** Rows of the believed list. Null before the first one. */
  rows: number | null;
  doubt: PriceListDoubt | null;
}

export interface PriceListDoubt {
  rows: number;
  /** Rows of the seller's offers. */
  listed: number;
  since: Date;
  /** Consecutive reads of a list of this size. */
  reads: number;
}

const schema = new Schema<ProviderState>(
  {
    _id: { type: String, required: true },
    paused: { type: new Schema({ reason: String, by: String, at: Date }, { _id: false }), default: null },
    floatAmount: { type: Money, default: null },
    floatAt: { type: Date, default: null },
    priceList: {
      type: new Schema<PriceListState>(
        {
          rows: { type: Number, default: null },
          doubt: {
            type: new Schema<PriceListDoubt>(
              { rows: Number, listed: Number, since: Date, reads: Number },
              { _id: false },
            ),
            default: null,
          },
        },
        { _id: false },
      ),
      default: null,
    },
  },
  { collection: 'providerStates', versionKey: false },
);

const model = mongoose.model('ProviderState', schema);
export const ProviderStateModel = asReadOnly<ProviderState>(model);
/**
 * Writes floats. Any order may report a float, so these writes send no cache invalidation. Routing
 * may see a float one second late.
 */
export const providerFloats = getCollection<ProviderState & { paused: null }>(model);
