import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../../database/typed-collection.js';

/**
 * Binds a ref_id to the refused request that first used it. Only signs made with md5 alone need a
 * binding (decision 025).
 */
export interface SignBinding {
  /** `<account>:<ref_id>` */
  _id: string;
  /** SHA-256 of the product code and the customer number. */
  wantedSha256: string;
  expiresAt: Date;
}

const schema = new Schema<SignBinding>(
  {
    _id: { type: String, required: true },
    wantedSha256: { type: String, required: true },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'signBindings', versionKey: false },
);
schema.index({ expiresAt: 1 }, { name: 'expires' });

export const SignBindingModel = mongoose.model('SignBinding', schema);
export const signBindings = getCollection<SignBinding>(SignBindingModel);
