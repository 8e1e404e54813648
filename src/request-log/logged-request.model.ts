import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';

/**
 * A call of an account with its response, which the account can read (decision 034). It has no
 * secrets and no customer numbers (redact-body.ts).
 * Rows that a killed process had not written are missing, so no decision may depend on them.
 */
export interface LoggedRequest {
  _id: string;
  accountId: string;
  createdAt: Date;
  method: string;
  /** Without the query. */
  path: string;
  httpStatus: number;
  code: string | null;
  reason: string | null;
  failed: boolean;
  refId: string | null;
  durationMs: number;
  address: string;
  requestId: string;
  /** Body or query, and the response, as JSON. */
  request: string | null;
  response: string | null;
  expiresAt: Date;
}

const schema = new Schema<LoggedRequest>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    createdAt: { type: Date, required: true },
    method: { type: String, required: true },
    path: { type: String, required: true },
    httpStatus: { type: Number, required: true },
    code: { type: String, default: null },
    reason: { type: String, default: null },
    failed: { type: Boolean, required: true },
    refId: { type: String, default: null },
    durationMs: { type: Number, required: true },
    address: { type: String, required: true },
    requestId: { type: String, required: true },
    request: { type: String, default: null },
    response: { type: String, default: null },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'requestLog', versionKey: false },
);
schema.index({ accountId: 1, createdAt: -1, _id: -1 }, { name: 'account_newest_id' });
schema.index({ accountId: 1, failed: 1, createdAt: -1, _id: -1 }, { name: 'account_failed_newest_id' });
schema.index({ accountId: 1, refId: 1, createdAt: -1, _id: -1 }, { name: 'account_ref_newest_id' });
schema.index({ expiresAt: 1 }, { name: 'expires', expireAfterSeconds: 0 });

export const loggedRequests = getCollection<LoggedRequest>(mongoose.model('LoggedRequest', schema));
