import mongoose, { Schema } from 'mongoose';
import { getCollection, Money } from '../database/typed-collection.js';
import { readOnly } from '../database/read-only-model.js';

/** Run-time state of a seller's provider, apart from its settings. */
export interface ProviderState {
  /** The seller's account id. */
  _id: string;
  /**
   * Set by the operator: the provider gets no new orders. Status checks of orders in flight go on.
   */
  paused: { reason: string; by: string; at: Date } | null;
  /**
   * Our balance at the provider in rupiah when it last reported it. Null: unknown, which blocks
   * nothing.
   */
  floatAmount: number | null;
  floatAt: Date | null;
}

const schema = new Schema<ProviderState>(
  {
    _id: { type: String, required: true },
    paused: { type: new Schema({ reason: String, by: String, at: Date }, { _id: false }), default: null },
    floatAmount: { type: Money, default: null },
    floatAt: { type: Date, default: null },
  },
  { collection: 'providerStates', versionKey: false },
);

const model = mongoose.model('ProviderState', schema);
export const ProviderStateModel = readOnly<ProviderState>(model);
/**
 * Writes floats. Any order may report one, so these writes send no invalidation; routing may see a
 * float one second late.
 */
export const providerFloats = getCollection<ProviderState & { paused: null }>(model);
