import type { Collection } from 'mongodb';
import mongoose, { Schema } from 'mongoose';
import { usernamePattern } from '../shared/input-rules.js';
import { asReadOnly } from '../database/read-only-model.js';
import { getCollection } from '../database/typed-collection.js';
import type { EndpointOwner, WebhookEndpoint } from './webhook-endpoint.js';
import { languages, type Language } from '../shared/messages.js';

export type Role = 'buyer' | 'seller';

/**
 * The system that fulfils a seller's sales. The encryption of `secretSealed` is bound to the
 * account's id.
 */
export interface ProviderSettings {
  kind: 'simulator' | 'h2h' | 'digiflazz' | 'iak';
  /** Base URL of the provider. Null for the simulator, whose address is SIMULATOR_URL. */
  baseUrl: string | null;
  /** The platform's username at the provider. */
  username: string;
  secretSealed: string;
  /**
   * A separate secret that signs the provider's callbacks, encrypted like `secretSealed`. If null
   * or absent, `secretSealed` signs them.
   */
  callbackSecretSealed?: string | null;
  /** Signing algorithm, for h2h only. md5 is for reseller engines without HMAC. */
  signWith?: 'hmac' | 'md5';
  /**
   * The system before the last change of kind, address or username. Status checks and callbacks of
   * orders that it received use these secrets.
   */
  previous?: Pick<
    ProviderSettings,
    'kind' | 'baseUrl' | 'username' | 'secretSealed' | 'callbackSecretSealed' | 'signWith'
  >;
  /** Maximum calls per second from all workers together. Null or absent means no limit. */
  callsPerSecond?: number | null;
  /** Maximum concurrent calls from all workers together. Null or absent means no limit. */
  concurrency?: number | null;
  /**
   * Maximum seconds that an order waits in the queue before it is refunded. Null or absent means 10
   * minutes.
   */
  maxWaitS?: number | null;
  /**
   * Further texts that the provider writes where it has no serial number, in addition to the
   * common ones. Null or absent means none.
   */
  serialPlaceholders?: string[] | null;
}

/** A buyer or a seller. The wallet of the account has the same id. */
export interface Account extends EndpointOwner {
  username: string;
  role: Role;
  status: 'active' | 'suspended';
  mode: 'live' | 'test';
  callbackUrl: string | null;
  ipWhitelist: string[];
  /** Requests per minute over all surfaces, as the account chose. See `getRateLimit`. */
  rateLimit: number;
  /**
   * Upper limit of `rateLimit`, set by an operator. If null or absent, `limits.rateLimitMax`
   * applies.
   */
  rateLimitMax?: number | null;
  /**
   * Language of messages to reseller software, which sends no language header. English if absent.
   */
  language?: Language;
  webhookStatus: 'enabled' | 'disabled';
  /**
   * Time of the last change of URL, allowlist, key or secret. Settlements need a review for a day
   * after it. Null or absent if there was no such change.
   */
  guardedSince?: Date | null;
  /**
   * Number of times that all report download links of the account were revoked. Each link contains
   * this number. Zero if absent.
   */
  linkEpoch?: number;
  requireStrongSign: boolean;
  requireAck: boolean;
  /**
   * For buyers, the group whose markups apply (see `loadMarkups`). Null or absent if in no group.
   */
  priceGroup?: string | null;
  /**
   * For sellers, the fraction of each sale that the platform keeps. If null, COMMISSION_RATE
   * applies.
   */
  commissionRate: number | null;
  /**
   * For sellers, the maximum number of products. If null or absent, `limits.productsPerSellerMax`
   * applies.
   */
  productLimit?: number | null;
  /** For sellers, the provider that fulfils their sales. Null for buyers. */
  provider: ProviderSettings | null;
  createdAt: Date;
  updatedAt: Date;
}

const settingsFields = {
  events: { type: [String], required: true },
  version: { type: String, required: true },
  description: { type: String, default: null },
  inFlightLimit: { type: Number, default: null },
};
const replacedSecret = {
  type: new Schema({ sealed: String, validUntil: Date }, { _id: false }),
  default: null,
};
const endpointSchema = new Schema<WebhookEndpoint>(
  {
    ...settingsFields,
    id: { type: String, required: true },
    url: { type: String, required: true },
    secretSealed: { type: String, required: true },
    previousSecret: replacedSecret,
  },
  // `id` is a stored field. Mongoose would otherwise add a virtual `id` with the value of `_id`.
  { _id: false, id: false },
);

const schema = new Schema<Account>(
  {
    _id: { type: String, required: true },
    username: { type: String, required: true, match: usernamePattern },
    role: { type: String, required: true, enum: ['buyer', 'seller'] },
    status: { type: String, required: true, enum: ['active', 'suspended'], default: 'active' },
    mode: { type: String, required: true, enum: ['live', 'test'] },
    webhookUrl: { type: String, default: null },
    webhookSettings: { type: new Schema(settingsFields, { _id: false }), default: null },
    webhookEndpoints: { type: [endpointSchema], default: undefined },
    callbackUrl: { type: String, default: null },
    ipWhitelist: { type: [String], default: [] },
    rateLimit: { type: Number, required: true },
    rateLimitMax: { type: Number, default: null },
    language: { type: String, enum: languages },
    webhookSecretSealed: { type: String, required: true },
    previousWebhookSecret: replacedSecret,
    webhookStatus: { type: String, enum: ['enabled', 'disabled'], default: 'enabled' },
    guardedSince: { type: Date, default: null },
    linkEpoch: { type: Number },
    requireStrongSign: { type: Boolean, default: false },
    requireAck: { type: Boolean, default: false },
    priceGroup: { type: String, default: null },
    commissionRate: { type: Number, default: null, min: 0, max: 1 },
    productLimit: { type: Number, default: null },
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
          maxWaitS: Number,
          serialPlaceholders: { type: [String], default: undefined },
          previous: {
            type: new Schema(
              {
                kind: String,
                baseUrl: { type: String, default: null },
                username: String,
                secretSealed: String,
                callbackSecretSealed: String,
                signWith: String,
              },
              { _id: false },
            ),
            default: undefined,
          },
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
schema.index(
  { priceGroup: 1, username: 1 },
  { partialFilterExpression: { priceGroup: { $gt: '' } }, name: 'price_group' },
);

const model = mongoose.model('Account', schema);
export const AccountModel = asReadOnly<Account>(model);
export const accounts: Pick<Collection<Account>, 'find' | 'findOne'> = getCollection<Account>(model);
