/**
 * The columns of every report, in CSV order, by wire name. Rows and the API contract
 * (src/api/reports/report-data.ts) both derive from these columns, so that they cannot differ.
 */
import type { Role } from '../accounts/account.model.js';
import type { ShownStatus } from '../purchases/states.js';
import type { Deposit } from '../deposits/deposit.model.js';
import type { ReportType } from './report.model.js';

/** The value type of a cell, by the kind of its column. */
export interface Cells {
  text: string;
  textOrNull: string | null;
  /** Whole rupiah. */
  rupiah: number;
  rupiahOrNull: number | null;
  transactionStatus: ShownStatus;
  depositStatus: Deposit['status'];
  /** ISO 8601, in UTC or the report's time zone. */
  time: string;
}

export type Columns = Readonly<Record<string, { kind: keyof Cells; description?: string }>>;

/** A row with exactly these columns. */
export type RowFor<C extends Columns> = { [Name in keyof C]: Cells[C[Name]['kind']] };

export const purchaseColumns = {
  ref_id: { kind: 'text' },
  transaction_id: { kind: 'text' },
  customer_number: { kind: 'text' },
  code: { kind: 'text' },
  product_name: { kind: 'text' },
  price: { kind: 'rupiah' },
  status: { kind: 'transactionStatus' },
  sn: { kind: 'textOrNull', description: 'Serial number; null while unavailable.' },
  timestamp: { kind: 'time' },
  message: { kind: 'textOrNull', description: 'Description of the outcome.' },
} as const satisfies Columns;

/** A sale as its seller sees it, in history and reports, without the buyer's identity. */
export const saleColumns = {
  transaction_id: { kind: 'text' },
  code: { kind: 'text' },
  customer_number: { kind: 'text', description: 'Masked but for the last four.' },
  product_name: { kind: 'text' },
  price: { kind: 'rupiah' },
  commission_amount: { kind: 'rupiahOrNull', description: 'Null until it succeeded.' },
  net_amount: { kind: 'rupiahOrNull', description: 'price − commission_amount.' },
  sn: { kind: 'textOrNull' },
  status: { kind: 'transactionStatus' },
  timestamp: { kind: 'time' },
} as const satisfies Columns;

export const depositColumns = {
  ref_id: { kind: 'text' },
  amount: { kind: 'rupiah' },
  balance_before: { kind: 'rupiah' },
  balance_after: { kind: 'rupiah' },
  status: { kind: 'depositStatus' },
  timestamp: { kind: 'time' },
} as const satisfies Columns;

/** Returns the columns of a report by its type and the account's role. */
export function getColumns({ role, type }: { role: Role; type: ReportType }): Columns {
  switch (type) {
    case 'deposit':
      return depositColumns;
    case 'transaction':
    case 'purchase':
    case 'sales':
    case 'product':
      return role === 'buyer' ? purchaseColumns : saleColumns;
  }
}
