/** Column headings of bank statements, in Indonesian and English. */
const headings = {
  date: [
    'tanggal',
    'tgl',
    'tanggal transaksi',
    'tgl transaksi',
    'tgl tran',
    'tgl txn',
    'tanggal posting',
    'tgl posting',
    'waktu transaksi',
    'date',
    'transaction date',
    'trx date',
    'txn date',
    'tran date',
    'posting date',
    'post date',
    'date time',
    'date and time',
    'tanggal waktu',
    'tanggal jam',
  ],
  description: [
    'keterangan',
    'uraian',
    'uraian transaksi',
    'keterangan transaksi',
    'deskripsi',
    'rincian',
    'rincian transaksi',
    'berita',
    'desk transaksi',
    'deskripsi transaksi',
    'catatan',
    'description',
    'transaction description',
    'desc',
    'remark',
    'remarks',
    'details',
    'transaction details',
    'narrative',
    'trx description',
  ],
  reference: [
    'no referensi',
    'nomor referensi',
    'referensi',
    'no ref',
    'no reff',
    'reference',
    'reference no',
    'reference number',
    'ref no',
    'ref',
    'customer reference',
  ],
  credit: [
    'kredit',
    'credit',
    'cr',
    'mutasi kredit',
    'jumlah kredit',
    'credit amount',
    'amount credit',
    'kredit idr',
    'credit idr',
    'kredit rp',
    'uang masuk',
  ],
  debit: [
    'debit',
    'debet',
    'db',
    'dr',
    'mutasi debit',
    'mutasi debet',
    'jumlah debit',
    'jumlah debet',
    'debit amount',
    'amount debit',
    'debit idr',
    'debet idr',
    'debit rp',
    'debet rp',
    'uang keluar',
  ],
  amount: [
    'jumlah',
    'nominal',
    'mutasi',
    'nilai',
    'amount',
    'transaction amount',
    'jumlah idr',
    'amount idr',
    'jumlah transaksi',
    'nominal transaksi',
  ],
  kind: [
    'db cr',
    'cr db',
    'd c',
    'c d',
    'd k',
    'k d',
    'dk',
    'dc',
    'dbcr',
    'debit kredit',
    'debet kredit',
    'debit credit',
    'jenis',
    'tipe',
    'type',
    'jenis transaksi',
    'tipe transaksi',
    'transaction type',
    'db k',
    'cr dr',
    'dr cr',
    'type transaksi',
  ],
} as const satisfies Record<string, readonly string[]>;

type ColumnName = keyof typeof headings;

/** Column positions, counted from 0. The position of an absent column is -1. */
export interface BankColumns extends Record<Exclude<ColumnName, 'description' | 'reference'>, number> {
  /** Positions of the description and reference columns. */
  texts: number[];
}

/** Returns the required columns that a row of headings lacks. Empty if no column is missing. */
export function findMissingColumns(columns: BankColumns): string[] {
  return [
    ...(columns.date < 0 ? ['the date (Tanggal, Tgl, Date)'] : []),
    ...(columns.texts.length === 0 ? ['the description (Keterangan, Uraian, Description)'] : []),
    ...(columns.credit < 0 && columns.amount < 0
      ? ['the amount (Kredit or Credit, or Jumlah or Amount with CR and DB)']
      : []),
  ];
}

/** Maximum number of characters of a heading that are read. Longer headings match no column. */
const headingLengthMax = 100;

/**
 * Finds a heading that two amount columns share, which makes the statement ambiguous.
 * @returns The heading, or undefined if the headings are unique.
 */
export function findDuplicateHeading(cells: readonly string[]): string | undefined {
  const names = cells.map(normalizeHeading);
  return (['credit', 'debit', 'amount'] as const)
    .map((of) => names.find((name, place) => isColumnHeading(of, name) && names.indexOf(name) !== place))
    .find((name) => name !== undefined);
}

export function findColumns(cells: readonly string[]): BankColumns {
  const names = cells.map(normalizeHeading);
  const places = (of: ColumnName) =>
    names.flatMap((name, place) => (isColumnHeading(of, name) ? [place] : []));
  const first = (of: ColumnName) => places(of)[0] ?? -1;
  const amount = first('amount');
  // BCA leaves the heading of the CR/DB column empty. The column is next to the amount.
  const unnamed = amount >= 0 && names[amount + 1] === '' ? amount + 1 : -1;
  const texts = places('description');
  return {
    date: first('date'),
    credit: first('credit'),
    debit: first('debit'),
    amount,
    kind: first('kind') >= 0 ? first('kind') : unnamed,
    texts: texts.length === 0 ? [] : [...texts, ...places('reference')],
  };
}

function isColumnHeading(column: ColumnName, name: string): boolean {
  return (headings[column] as readonly string[]).includes(name);
}

function normalizeHeading(heading: string): string {
  return heading
    .slice(0, headingLengthMax)
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, ' ')
    .trim();
}
