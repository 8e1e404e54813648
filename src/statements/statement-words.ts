import { lookUp } from '../shared/look-up.js';
import type { Language } from '../shared/messages.js';

interface Words {
  statement: string;
  period: string;
  opening: string;
  closing: string;
  incoming: string;
  outgoing: string;
  movements: string;
  none: string;
  page: string;
  heads: { at: string; kind: string; reference: string; amount: string; balance: string };
}

/** What a statement on paper says. */
export const statementWords: Record<Language, Words> = {
  en: {
    statement: 'Statement',
    period: 'Period',
    opening: 'Opening balance',
    closing: 'Closing balance',
    incoming: 'Money in',
    outgoing: 'Money out',
    movements: 'Movements',
    page: 'Page',
    none: 'Nothing moved in this time.',
    heads: { at: 'Time', kind: 'Kind', reference: 'Reference', amount: 'Amount', balance: 'Balance' },
  },
  id: {
    statement: 'Mutasi',
    period: 'Masa',
    opening: 'Saldo awal',
    closing: 'Saldo akhir',
    incoming: 'Uang masuk',
    outgoing: 'Uang keluar',
    movements: 'Pergerakan',
    page: 'Halaman',
    none: 'Tidak ada pergerakan pada masa ini.',
    heads: { at: 'Waktu', kind: 'Jenis', reference: 'Referensi', amount: 'Jumlah', balance: 'Saldo' },
  },
};

const kindsInIndonesian: Record<string, string> = {
  purchase: 'pembelian',
  refund: 'dana kembali',
  reversal: 'pembatalan',
  adjustment: 'koreksi',
  'seller-posting': 'hasil penjualan',
  'settlement-request': 'pencairan diminta',
  'settlement-completed': 'pencairan selesai',
  'settlement-failed': 'pencairan gagal',
};

/** A kind of movement for a reader; one that is not known is shown as the contract calls it. */
export function translateKind(kind: string, language: Language): string {
  return language === 'id' ? (lookUp(kindsInIndonesian, kind) ?? kind) : kind;
}
