import mongoose, { Schema } from 'mongoose';

/** viewer: sees everything in the console. admin: may also change what the console lets change. */
export type OperatorRole = 'admin' | 'viewer';

/** A person who may use the console. */
export interface Operator {
  _id: string;
  username: string;
  role: OperatorRole;
  /** argon2id, with its own salt and parameters. */
  passwordHash: string;
  /** Sessions that began before this are refused. */
  passwordChangedAt: Date;
  createdAt: Date;
}

const schema = new Schema<Operator>(
  {
    _id: { type: String, required: true },
    username: { type: String, required: true, match: /^[a-z0-9._-]{3,40}$/ },
    role: { type: String, required: true, enum: ['admin', 'viewer'] },
    passwordHash: { type: String, required: true },
    passwordChangedAt: { type: Date, required: true },
    createdAt: { type: Date, required: true },
  },
  { collection: 'operators', versionKey: false },
);
schema.index({ username: 1 }, { unique: true, name: 'username_unique' });

export const OperatorModel = mongoose.model('Operator', schema);
