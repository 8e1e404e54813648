/** The words of lines that take another line back. */

/** Words that mean a correction wherever they stand. */
const sureWords = [
  'KOREKSI',
  'KOREKSIAN',
  'REVERSAL',
  'REVERSED',
  'REVERSE',
  'RETUR',
  'RETURN',
  'RETURNED',
  'DIRETUR',
  'REFUND',
  'PEMBATALAN',
  'DIBATALKAN',
  'PENGEMBALIAN',
  'DIKEMBALIKAN',
  'CORRECTION',
  'CORRECTED',
  'CANCELLATION',
  'CANCELLED',
  'CANCELED',
  'TOLAKAN',
  'DITOLAK',
  'REJECT',
  'REJECTED',
  'RJCT',
  'RALAT',
  'PEMBETULAN',
  'STORNO',
  'JURNAL BALIK',
  'CHARGEBACK',
];
/** Words that can also be a part of a reference: they count only between spaces. */
const softWords = [
  'REV',
  'RVSL',
  'REVS',
  'BATAL',
  'BTL',
  'KOR',
  'KOREK',
  'CORR',
  'RTR',
  'RET',
  'CANCEL',
  'VOID',
  'RTN',
  'RVS',
  'GAGAL',
];

/** Words that many texts share. They do not show that two lines are about the same payment. */
const commonWords = new Set(
  (
    'TRSF TRF TRANSFER TRANSFERAN BANKING EBANKING MBANKING IBANKING MOBILE INTERNET BIFAST FAST RTGS SKN SKNBI ' +
    'LLG ONLINE ATM CDM BANK DARI DR KE DB CR KREDIT CREDIT DEBIT DEBET SETORAN SETOR TUNAI PEMINDAHAN DANA ' +
    'UANG MASUK KELUAR TOPUP TRX TRANSAKSI TRANSACTION PEMBAYARAN BAYAR PAYMENT TGL TANGGAL DATE NONREF NTRF ' +
    'SALAH ATAS UNTUK DAN THE FOR FROM REK REKENING ACCOUNT IDR RUPIAH INWARD OUTWARD'
  ).split(' '),
);
/** BCA's channel (2711/FTSCY/WS95031) and plain dates. */
const commonPattern = /^(?:\d{1,4}|\d{4}FT[A-Z]{3}WS\d+|WS\d+|FT[A-Z]{3}|\d{1,2}(?:20)?\d{4})$/;
const wordLengthMin = 3;

const surePattern = new RegExp(`(?<![A-Z0-9])(?:${sureWords.join('|')})(?![A-Z0-9])`, 'g');
const softPattern = new RegExp(`(?<![^\\s:])(?:${softWords.join('|')})(?![^\\s:.])`, 'g');

/** In the text of an outgoing line, which no customer writes, a soft word may also stand between marks. */
const markedPattern = new RegExp(`(?<![A-Z0-9])(?:${softWords.join('|')})(?![A-Z0-9])`);
/** A text that is a balance or a sum of the statement. */
const sumPattern =
  /^\W*(?:SALDO|(?:(?:SUB|GRAND) ?)?TOTAL|JUMLAH|PINDAHAN|BALANCE|MUTASI (?:KREDIT|CREDIT|DEBIT|DEBET)|(?:OPENING|CLOSING|BEGINNING|ENDING|STARTING|PREVIOUS|LEDGER) BALANCE|(?:BROUGHT|CARRIED) FORWARD)\b/;
/** Longest text that is searched. */
const searchedMax = 20_000;

/** Writes a text without the letters that only look like others, and without invisible characters. */
function toPlainText(text: string): string {
  return text
    .slice(0, searchedMax)
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toUpperCase();
}

/** True if the whole text of an outgoing line may say that it takes another line back. */
export function isCorrectionText(text: string): boolean {
  const plain = toPlainText(text);
  return plain.search(surePattern) >= 0 || markedPattern.test(plain);
}

/** True for a text that may be no payment of a customer: a balance, a sum or a correction. */
export function isDoubtfulText(text: string): boolean {
  return sumPattern.test(toPlainText(text)) || findCorrectionWord(text) !== null;
}

/** Finds whether a text says that it takes another line back: `maybe` if it has only a soft word. */
export function findCorrectionWord(text: string): 'sure' | 'maybe' | null {
  const upper = toPlainText(text);
  if (upper.search(surePattern) >= 0) {
    return 'sure';
  }
  return upper.search(softPattern) >= 0 ? 'maybe' : null;
}

/** Returns the words of a text that tell one payment from another: references and names. */
export function findTellingWords(text: string): string[] {
  const words = text
    .toUpperCase()
    .replaceAll(surePattern, ' ')
    .replaceAll(softPattern, ' ')
    .split(/\s+/)
    .map((word) => word.replaceAll(/[^A-Z0-9]/g, ''))
    .filter((word) => word.length >= wordLengthMin && !commonWords.has(word) && !commonPattern.test(word));
  return [...new Set(words)];
}

/** Returns the words of a text that are references: they have a digit, and are not a day. */
export function findReferences(text: string): string[] {
  return findTellingWords(text).filter((word) => /\d/.test(word) && !/^20\d{6}$/.test(word));
}

/** Shortest part of a cut word that counts. */
const cutLengthMin = 6;
const referenceWeight = 10;

/**
 * Returns how much two texts share: 0 if they are about different payments. A reference (a word with
 * a digit) weighs more than a name.
 */
export function scoreOverlap(one: readonly string[], other: readonly string[]): number {
  const shared = one.filter((word) => other.some((each) => isSameWord(word, each)));
  return shared.length * 2 < Math.min(one.length, other.length)
    ? 0
    : shared.reduce((sum, word) => sum + (/\d/.test(word) ? referenceWeight : 1), 0);
}

/** True for equal words, and for a word that a bank has cut. */
function isSameWord(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short === long || (short.length >= cutLengthMin && long.startsWith(short));
}
