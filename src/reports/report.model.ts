import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';
import type { Role } from '../accounts/account.model.js';
import type { CsvFormat } from '../shared/csv-text.js';

export type ReportType = 'transaction' | 'purchase' | 'deposit' | 'sales' | 'product';
export type ReportFormat = 'json' | 'xlsx' | CsvFormat;
/** `failed`: it could not be made, again and again (decision 047). */
export type ReportStatus = 'pending' | 'processing' | 'completed' | 'failed';

/** A report that was asked for. Its rows are a file in GridFS, where every process can reach it, for 7 days. */
export interface Report {
  _id: string;
  accountId: string;
  role: Role;
  type: ReportType;
  format: ReportFormat;
  /** Both ends included. */
  period: { start: Date; end: Date };
  /** In which its times are written, an IANA name. Absent: UTC. */
  zone?: string;
  status: ReportStatus;
  /** Wire names and rupiah; null until it is completed. */
  summary: Record<string, unknown> | null;
  rows: number | null;
  /** Bytes of the file. */
  size: number | null;
  filename: string;
  /** Raised whenever a job is added again and by each attempt; the file of an older epoch is thrown away. */
  epoch: number;
  /** How often its download links were revoked; a link names it. Absent: never. */
  linkEpoch?: number;
  /** Its period is long: short ones go before it, and it takes the first turn of its account alone. Absent: it is short. */
  isLong?: boolean;
  /** Its place among those of its account that are made at the same time (report-queue.ts); null before and after. */
  turn: number | null;
  /** Of the call that asked for it. Absent where it is not kept (src/shared/ids.ts). */
  requestId?: string;
  /** When the sweep must add a job if nobody has dealt with it; null once it is completed or has failed. */
  nextActionAt: Date | null;
  createdAt: Date;
  expiresAt: Date;
}

const schema = new Schema<Report>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    role: { type: String, required: true },
    type: { type: String, required: true },
    format: { type: String, required: true },
    period: { type: new Schema({ start: Date, end: Date }, { _id: false }), required: true },
    zone: { type: String },
    status: { type: String, required: true },
    summary: { type: Schema.Types.Mixed, default: null },
    rows: { type: Number, default: null },
    size: { type: Number, default: null },
    filename: { type: String, required: true },
    epoch: { type: Number, required: true },
    linkEpoch: { type: Number },
    isLong: { type: Boolean },
    turn: { type: Number, default: null },
    requestId: { type: String },
    nextActionAt: { type: Date, default: null },
    createdAt: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'reports', versionKey: false },
);
schema.index({ accountId: 1, status: 1, createdAt: 1 }, { name: 'account_status_oldest' });
schema.index(
  { accountId: 1, turn: 1 },
  { name: 'account_turn_unique', unique: true, partialFilterExpression: { turn: { $type: 'number' } } },
);
schema.index({ status: 1, nextActionAt: 1 }, { name: 'status_next_action' });
// Long ones that wait in the queue, which short ones overtake.
schema.index(
  { createdAt: 1 },
  {
    name: 'long_waiting_oldest',
    partialFilterExpression: { isLong: true, status: 'pending', turn: { $type: 'number' } },
  },
);
schema.index({ expiresAt: 1 }, { name: 'expires_oldest' });

export const ReportModel = mongoose.model('Report', schema);
export const reports = getCollection<Report>(ReportModel);
