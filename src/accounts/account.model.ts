import mongoose, { Schema } from 'mongoose';
import { collectionOf } from '../database/typed-collection.js';

export type Role = 'buyer' | 'seller';

/** Which system fulfils a seller's sales. `secretSealed` is encrypted, bound to the account's id. */
export interface ProviderSettings {
  kind: 'simulator' | 'h2h' | 'digiflazz';
  /** Null for the simulator, whose address comes from SIMULATOR_URL. */
  baseUrl: string | null;
  /** Our name at the provider. */
  username: string;
  secretSealed: string;
  /** Signs the provider's callbacks, where that is another secret; sealed in the same way. */
  callbackSecretSealed?: string | null;
  /** h2h: md5 for engines that know nothing better than it. */
  signWith?: 'hmac' | 'md5';
  /** Calls to it per second, by all workers together. Absent: no limit. */
  callsPerSecond?: number | null;
  /** Calls under way at once per worker process. */
  concurrency?: number | null;
}

/** A buyer or a seller. Its wallet has the same id. */
export interface Account {
  _id: string;
  username: string;
  role: Role;
  status: 'active' | 'suspended';
  mode: 'live' | 'test';
  webhookUrl: string | null;
  callbackUrl: string | null;
  ipWhitelist: string[];
  /** Requests per minute over all surfaces. */
  rateLimit: number;
  webhookSecretSealed: string;
  /** The secret before the last rotation; signs too until it expires. */
  previousWebhookSecret: { sealed: string; validUntil: Date } | null;
  webhookStatus: 'enabled' | 'disabled';
  requireStrongSign: boolean;
  requireAck: boolean;
  /** Sellers only: fraction of each sale that the platform keeps; null = COMMISSION_RATE. */
  commissionRate: number | null;
  /** Sellers only. */
  provider: ProviderSettings | null;
  createdAt: Date;
  updatedAt: Date;
}

const schema = new Schema<Account>(
  {
    _id: { type: String, required: true },
    username: { type: String, required: true, match: /^[a-z0-9._-]{3,40}$/ },
    role: { type: String, required: true, enum: ['buyer', 'seller'] },
    status: { type: String, required: true, enum: ['active', 'suspended'], default: 'active' },
    mode: { type: String, required: true, enum: ['live', 'test'] },
    webhookUrl: { type: String, default: null },
    callbackUrl: { type: String, default: null },
    ipWhitelist: { type: [String], default: [] },
    rateLimit: { type: Number, required: true },
    webhookSecretSealed: { type: String, required: true },
    previousWebhookSecret: {
      type: new Schema({ sealed: String, validUntil: Date }, { _id: false }),
      default: null,
    },
    webhookStatus: { type: String, enum: ['enabled', 'disabled'], default: 'enabled' },
    requireStrongSign: { type: Boolean, default: false },
    requireAck: { type: Boolean, default: false },
    commissionRate: { type: Number, default: null, min: 0, max: 1 },
    provider: {
      type: new Schema(
        {
          kind: String,
          baseUrl: { type: String, default: null },
          username: String,
          secretSealed: String,
          callbackSecretSealed: String,
          signWith: String,
          callsPerSecond: Number,
          concurrency: Number,
        },
        { _id: false },
      ),
      default: null,
    },
  },
  { collection: 'accounts', timestamps: true, versionKey: false },
);
schema.index({ username: 1 }, { unique: true, name: 'username_unique' });
schema.index({ role: 1, createdAt: -1 }, { name: 'role_newest' });

export const AccountModel = mongoose.model('Account', schema);
export const accounts = collectionOf<Account>(AccountModel);
