import { DateTime } from 'luxon';

/** A line of a test statement: the amount in rupiah, the bank's text, and the age in days. */
export interface StatementLine {
  amount: number;
  text: string;
  days?: number;
}

/** The fields of a preview that the tests read. */
export interface Plan {
  fingerprint: string;
  matches: Record<string, number>;
  amount_named: number;
  amount_referenced: number;
  amount_by_amount: number;
  first_day: string | null;
  last_day: string | null;
  is_order_told: boolean;
  lines: {
    line: number;
    amount: number;
    match: string;
    same_before: boolean;
    deposits: { id: string; account: string }[];
  }[];
}

const day = (days: number) => DateTime.now().setZone('Asia/Jakarta').minus({ days }).toFormat('dd/MM/yyyy');

/** Builds a statement file of incoming payments, as a bank exports it. */
export function statementOf(...lines: StatementLine[]): string {
  return [
    'PT PULSA JAYA;;;',
    'Tanggal;Keterangan;Debet;Kredit',
    ...lines.map(({ amount, text, days = 0 }) => `${day(days)};"${text}";;"${amount}.00"`),
  ].join('\r\n');
}

/** Encodes a statement file as the console sends it. */
export function encoded(statement: string): string {
  return Buffer.from(statement).toString('base64');
}

let last = 51_000 + Math.floor(Math.random() * 900_000) * 100;

/** Returns an amount that no other test uses. */
export function createUniqueAmount(): number {
  return (last += 7);
}
