import mongoose, { Schema } from 'mongoose';
import { usernamePattern } from '../shared/input-rules.js';
import { operatorRoles, type OperatorRole } from './rights.js';

/** A secret that an authenticator app shares with us. */
export interface TotpSecret {
  /** Encrypted, bound to the operator. */
  secretSealed: string;
  since: Date;
}

/** One that is shown, and not proven by a code yet. */
export interface PendingSecret extends TotpSecret {
  /** The session, or the step of a login, that was shown it: nobody else may prove it. */
  shownTo: string;
  /** The `sessionEpoch` of that moment: what ends all sessions ends it as well. */
  epoch: number;
}

/** A person who may use the console, and the command line by a key of their own. */
export interface Operator {
  _id: string;
  username: string;
  role: OperatorRole;
  /** argon2id, with its own salt and parameters. */
  passwordHash: string;
  passwordChangedAt: Date;
  /**
   * Rises with whatever ends all sessions: password, role, second factor. A session is good for the number that it
   * began with, whatever the clocks say.
   */
  sessionEpoch: number;
  /** The second factor, and the 30 s period of the last code that was used: no code is good twice. */
  totp?: (TotpSecret & { lastStep: number }) | null;
  totpPending?: PendingSecret | null;
  /** SHA-256 of the recovery codes that are left. They are random enough to need no slower hash. */
  recoveryHashes?: string[];
  /** SHA-256 of the key for the command line. */
  keyHash?: string | null;
  keyCreatedAt?: Date | null;
  /** Written when another admin was taken away (manage-operators.ts). */
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
