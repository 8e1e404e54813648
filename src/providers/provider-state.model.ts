import mongoose, { Schema } from 'mongoose';
import { getCollection, Money } from '../database/typed-collection.js';
import { readOnly } from '../database/read-only-model.js';

/** What is known about a seller's provider at run time, apart from its settings. */
export interface ProviderState {
  /** The seller's account id. */
  _id: string;
  /** Set by the operator: no new orders go there; those under way are still asked about. */
  paused: { reason: string; by: string; at: Date } | null;
  /** Our money at the provider when it last told us, in rupiah; null = not known, which stops nothing. */
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
/** For the float, which every order may tell anew: it is not announced, and routing may know it for a second. */
export const providerFloats = getCollection<ProviderState & { paused: null }>(model);
