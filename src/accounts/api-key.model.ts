import mongoose, { Schema } from 'mongoose';
import { asReadOnly } from '../database/read-only-model.js';

/**
 * An API key. It is looked up by its SHA-256. The key itself is also stored, encrypted, because the
 * API returns it and the reseller sign is computed with it.
 */
export interface ApiKey {
  _id: string;
  accountId: string;
  sha256: string;
  sealed: string;
  /** The end of the overlap after a rotation. Null for the current key. */
  validUntil: Date | null;
  createdAt: Date;
}

const schema = new Schema<ApiKey>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    sha256: { type: String, required: true },
    sealed: { type: String, required: true },
    validUntil: { type: Date, default: null },
    createdAt: { type: Date, required: true },
  },
  { collection: 'apiKeys', versionKey: false },
);
schema.index({ sha256: 1 }, { unique: true, name: 'sha256_unique' });
// An account has one current key, even after concurrent rotations.
schema.index(
  { accountId: 1 },
  { unique: true, partialFilterExpression: { validUntil: null }, name: 'account_current_unique' },
);
schema.index({ accountId: 1, validUntil: 1 }, { name: 'account_keys' });

export const ApiKeyModel = asReadOnly<ApiKey>(mongoose.model('ApiKey', schema));
