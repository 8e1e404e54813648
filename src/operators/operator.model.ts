import mongoose, { Schema } from 'mongoose';
import { usernamePattern } from '../shared/input-rules.js';
import { operatorRoles, type OperatorRole } from './rights.js';

/** TOTP secret that an authenticator app shares with us. */
export interface TotpSecret {
  /** Encrypted, bound to the operator. */
  secretSealed: string;
  since: Date;
}

/** A secret that was shown but not yet confirmed by a code. */
export interface PendingSecret extends TotpSecret {
  /** Session or login step in which the secret was shown. Only there can it be confirmed. */
  shownTo: string;
  /** `sessionEpoch` at that time. Ending all sessions invalidates the secret. */
  epoch: number;
}

/** A person who may use the console, and the command line with an operator key. */
export interface Operator {
  _id: string;
  username: string;
  role: OperatorRole;
  /** argon2id hash with its own salt and parameters. */
  passwordHash: string;
  passwordChangedAt: Date;
  /**
   * Increased by each change that ends all sessions: password, role, second factor. A session is
   * valid only for the epoch it started with, independently of clocks.
   */
  sessionEpoch: number;
  /** Second factor, with the 30 s period of the last used code. No code is accepted twice. */
  totp?: (TotpSecret & { lastStep: number }) | null;
  totpPending?: PendingSecret | null;
  /**
   * SHA-256 of the remaining recovery codes. The codes have so much entropy that they need no
   * slower hash.
   */
  recoveryHashes?: string[];
  /** SHA-256 of the operator key. */
  keyHash?: string | null;
  keyCreatedAt?: Date | null;
  /** Written when another admin is removed (manage-operators.ts). */
  keptAsAdminAt?: Date | null;
  createdAt: Date;
}

const totpFields = {
  secretSealed: { type: String, required: true },
  since: { type: Date, required: true },
} as const;

const schema = new Schema<Operator>(
  {
    _id: { type: String, required: true },
    username: { type: String, required: true, match: usernamePattern },
    role: { type: String, required: true, enum: operatorRoles },
    passwordHash: { type: String, required: true },
    passwordChangedAt: { type: Date, required: true },
    sessionEpoch: { type: Number, default: 0 },
    totp: {
      type: new Schema({ ...totpFields, lastStep: { type: Number, required: true } }, { _id: false }),
      default: null,
    },
    totpPending: {
      type: new Schema({ ...totpFields, shownTo: String, epoch: Number }, { _id: false }),
      default: null,
    },
    recoveryHashes: { type: [String], default: [] },
    keyHash: { type: String, default: null },
    keyCreatedAt: { type: Date, default: null },
    keptAsAdminAt: { type: Date, default: null },
    createdAt: { type: Date, required: true },
  },
  { collection: 'operators', versionKey: false },
);
schema.index({ username: 1 }, { unique: true, name: 'username_unique' });
schema.index(
  { keyHash: 1 },
  { unique: true, partialFilterExpression: { keyHash: { $type: 'string' } }, name: 'key_unique' },
);

export const OperatorModel = mongoose.model('Operator', schema);
