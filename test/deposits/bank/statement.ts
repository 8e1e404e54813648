import { DateTime } from 'luxon';

/** A line of a statement as a test says it: rupiah, what the bank writes, and how many days ago. */
export interface SaidLine {
  amount: number;
  text: string;
  days?: number;
}

const day = (days: number) => DateTime.now().setZone('Asia/Jakarta').minus({ days }).toFormat('dd/MM/yyyy');

/** A bank's export of lines of money that came in. */
export function statementOf(...lines: SaidLine[]): string {
  return [
    'PT PULSA JAYA;;;',
    'Tanggal;Keterangan;Debet;Kredit',
    ...lines.map(({ amount, text, days = 0 }) => `${day(days)};"${text}";;"${amount}.00"`),
  ].join('\r\n');
}

/** As the console's pages send it. */
export function encoded(statement: string): string {
  return Buffer.from(statement).toString('base64');
}

let last = 51_000 + Math.floor(Math.random() * 900_000) * 100;

/** An amount that no other test has. */
export function ownAmount(): number {
  return (last += 7);
}
