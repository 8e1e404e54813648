import type { DecimalMark } from './bank-cells.js';

/** The content of a column. The line's text is all `text` columns, then all `reference` columns. */
export type ColumnRole = 'date' | 'text' | 'reference' | 'credit' | 'debit' | 'amount' | 'kind' | 'currency';

/** A heading as the bank writes it, with its role. A column without a role is ignored. */
type Column = readonly [heading: string, role?: ColumnRole];

/** The layout of one export of one bank. */
export interface BankLayout {
  bank: string;
  /** All headings in the bank's order. Other headings are read with bank-headings.ts. */
  columns: readonly Column[];
  /** The mark before the sen in amounts. Absent if it differs between exports of the bank. */
  decimalMark?: DecimalMark;
  /**
   * The bank writes texts without quotes, so a text may contain the separator. The cells after the
   * text are then counted from the right. `anchor` is what the column after the text always looks like:
   * it must not fit a part of a text or of an amount.
   */
  unquoted?: { text: string; anchor: RegExp };
}

/** BCA's branch code. The four digits cannot be a group of an amount. */
const branch = /^'?\d{4}$/;

/**
 * Layouts of Indonesian banks, from public descriptions of their exports. Each has a made-up file
 * in test/deposits/bank/corpus.
 */
export const bankLayouts: readonly BankLayout[] = [
  {
    bank: 'BCA KlikBCA',
    columns: [
      ['Tanggal Transaksi', 'date'],
      ['Keterangan', 'text'],
      ['Cabang'],
      ['Jumlah', 'amount'],
      ['', 'kind'],
      ['Saldo'],
    ],
    decimalMark: '.',
    unquoted: { text: 'Keterangan', anchor: branch },
  },
  {
    bank: 'BCA KlikBCA (English)',
    columns: [
      ['Date', 'date'],
      ['Description', 'text'],
      ['Branch'],
      ['Amount', 'amount'],
      ['', 'kind'],
      ['Balance'],
    ],
    decimalMark: '.',
    unquoted: { text: 'Description', anchor: branch },
  },
  {
    bank: 'BCA KlikBCA Bisnis',
    columns: [
      ['Tanggal Transaksi', 'date'],
      ['Keterangan', 'text'],
      ['Cabang'],
      ['Jumlah', 'amount'],
      ['Saldo'],
    ],
    decimalMark: '.',
  },
  {
    bank: 'Mandiri MCM',
    columns: [
      ['Account No'],
      ['Date', 'date'],
      ['Val. Date'],
      ['Transaction Code'],
      ['Description', 'text'],
      ['Description', 'text'],
      ['Reference No.', 'reference'],
      ['Debit', 'debit'],
      ['Credit', 'credit'],
    ],
  },
  {
    bank: 'Mandiri Kopra',
    columns: [
      ['AccountNo'],
      ['Ccy', 'currency'],
      ['PostDate', 'date'],
      ['Remarks', 'text'],
      ['AdditionalDesc', 'text'],
      ['Credit Amount', 'credit'],
      ['Debit Amount', 'debit'],
      ['Close Balance'],
    ],
    decimalMark: '.',
  },
  {
    bank: 'BRI CMS and Qlola',
    columns: [
      ['ID'],
      ['NOREK'],
      ['TGL_TRAN', 'date'],
      ['TGL_EFEKTIF'],
      ['JAM_TRAN'],
      ['SEQ'],
      ['DESK_TRAN', 'text'],
      ['SALDO_AWAL_MUTASI'],
      ['MUTASI_DEBET', 'debit'],
      ['MUTASI_KREDIT', 'credit'],
      ['SALDO_AKHIR_MUTASI'],
      ['GLSIGN', 'kind'],
      ['TRUSER'],
      ['KODE_TRAN'],
      ['KODE_TRAN_TELLER'],
      ['TRREMK', 'text'],
      ['TLBDS1', 'text'],
      ['TLBDS2', 'text'],
      ['REMARK_CUSTOM', 'text'],
    ],
    decimalMark: '.',
  },
  {
    bank: 'BNI Direct',
    columns: [
      ['Post Date', 'date'],
      ['Value Date'],
      ['Branch'],
      ['Journal No.'],
      ['Description', 'text'],
      ['Debit', 'debit'],
      ['Credit', 'credit'],
    ],
    decimalMark: '.',
  },
  {
    bank: 'BNI Direct (one amount)',
    columns: [
      ['Posting Date', 'date'],
      ['Effective Date'],
      ['Branch'],
      ['Journal'],
      ['Transaction Description', 'text'],
      ['Amount', 'amount'],
      ['DB/CR', 'kind'],
      ['Balance'],
    ],
    decimalMark: '.',
  },
  {
    bank: 'CIMB Niaga BizChannel',
    columns: [
      ['Post Date', 'date'],
      ['Eff Date'],
      ['Cheque No'],
      ['Description', 'text'],
      ['Debit', 'debit'],
      ['Credit', 'credit'],
      ['Balance'],
      ['Transaction Code'],
      ['Transaction Ref No', 'reference'],
    ],
    decimalMark: '.',
  },
  {
    bank: 'Permata',
    columns: [
      ['Posted Date (mm/dd/yyyy)', 'date'],
      ['Description', 'text'],
      ['Credit/Debit', 'kind'],
      ['Amount', 'amount'],
    ],
    decimalMark: '.',
  },
  {
    bank: 'OCBC Velocity',
    columns: [
      ['Transaction Date', 'date'],
      ['Value Date'],
      ['Reference No.', 'reference'],
      ['Cheque No.'],
      ['Description', 'text'],
      ['Debit', 'debit'],
      ['Credit', 'credit'],
      ['Balance'],
    ],
    decimalMark: '.',
  },
  {
    bank: 'Bank Jatim',
    columns: [
      ['Post Date', 'date'],
      ['Effective Date'],
      ['Account'],
      ['Name'],
      ['Description', 'text'],
      ['Currency', 'currency'],
      ['Debit', 'debit'],
      ['Credit', 'credit'],
      ['Balance'],
      ['Reference No', 'reference'],
    ],
    decimalMark: '.',
  },
];
