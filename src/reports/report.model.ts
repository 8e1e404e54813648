import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';
import type { Role } from '../accounts/account.model.js';
import type { CsvFormat } from '../shared/csv-text.js';

export type ReportType = 'transaction' | 'purchase' | 'deposit' | 'sales' | 'product';
export type ReportFormat = 'json' | 'xlsx' | CsvFormat;
/** `failed` means that generating the report failed repeatedly (decision 047). */
export type ReportStatus = 'pending' | 'processing' | 'completed' | 'failed';

/**
 * A requested report. Its rows are stored for 7 days as a file in GridFS, which every process can
 * read.
 */
export interface Report {
  _id: string;
  accountId: string;
  role: Role;
  type: ReportType;
  format: ReportFormat;
  /** Start and end of the period, both inclusive. */
  period: { start: Date; end: Date };
  /** IANA time zone of the times in the report. UTC if absent. */
  zone?: string;
  status: ReportStatus;
  /** Summary in wire names, with amounts in rupiah. Null until the report is completed. */
  summary: Record<string, unknown> | null;
  rows: number | null;
  /** Size of the file in bytes. */
  size: number | null;
  filename: string;
  /**
   * Incremented by each attempt, and when the sweep adds a job. Files of earlier epochs are
   * deleted.
   */
  epoch: number;
  /**
   * Number of times the download links were revoked. It is part of each link's signature. Absent if
   * they never were.
   */
  linkEpoch?: number;
  /**
   * True if the period is long. Short reports run first, and a long report can take only the first
   * turn of its account. Absent if the period is short.
   */
  isLong?: boolean;
  /**
   * Slot among the concurrent reports of the account (report-queue.ts). Null while the report waits
   * and after it ended.
   */
  turn: number | null;
  /** Id of the API request. Absent if the id may not be stored (src/shared/ids.ts). */
  requestId?: string;
  /** When the sweep adds a job if none has run. Null once the report is completed or has failed. */
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
// Finds long reports that wait in the queue, for `promoteLongestWaiting`.
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
