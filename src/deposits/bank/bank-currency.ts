/** Currencies in bank statements. Only rupiah are read. */
import { parseDay } from './bank-cells.js';

const isoCodes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
/** Codes that a line about an account may contain. Others could be words. */
const commonCodes =
  /\b(?:USD|SGD|EUR|JPY|AUD|CNY|CNH|HKD|GBP|MYR|THB|SAR|CHF|NZD|CAD|KRW|AED|INR|PHP|TWD|VND)\b/;
const foreignNames =
  /\b(?:dollars?|dolar|euro|yen|yuan|renminbi|ringgit|pounds?|poundsterling|baht|riyal|franc|won|peso|rupees?)\b|US\$|S\$|A\$|[$€£¥]/i;
const labelPattern =
  /^[\s"'=]*(?:\p{L}{1,20}[\s.]+){0,3}(?:mata\s*uang|currency(?:\s+code)?|ccy|curr|valuta)(?!\p{L})[\s:.="]*/iu;
const accountPattern = /rekening|account|saldo|balance|produk|product|giro|tabungan/i;
const namePattern = /\bnama|name\b/i;
/** A code next to the number of an account. In a row with a name, other codes could be words. */
const numberedCode = new RegExp(
  `\\(\\s*${commonCodes.source}\\s*\\)|\\d[\\s-]*${commonCodes.source.slice(2)}`,
);
const foreignWords = /\bvalas\b|\bforeign currency\b/i;
const amountHeading =
  /credit|debit|kredit|debet|amount|jumlah|nominal|nilai|mutasi|saldo|balance|masuk|keluar|\b(?:cr|db|dr)\b/i;

/** Longest part of a cell that is read. */
const lengthMax = 200;
/** Maximum number of cells of a row that are read. */
const cellsRead = 50;

/** True if a cell of a currency column says rupiah. */
export function isRupiah(text: string): boolean {
  const words = text.toUpperCase().match(/[A-Z]+|\d+/g) ?? [];
  return (
    words.some((word) => ['IDR', 'RP', 'RUPIAH', '360'].includes(word)) &&
    words.every((word) => ['IDR', 'RP', 'RUPIAH', '360', 'INDONESIA', 'INDONESIAN'].includes(word))
  );
}

/** True if a cell of a currency column is not rupiah. `Valuta` is also a heading of value dates. */
export function isForeign(text: string, today: string): boolean {
  return !isRupiah(text) && parseDay(text, today) === null;
}

/** True for a cell that is only the code of a foreign currency, whatever its heading says. */
export function isForeignCodeOnly(text: string): boolean {
  return text.length === 3 && commonCodes.test(text);
}

/** True if the text names a currency other than rupiah. */
export function hasForeignCurrency(text: string): boolean {
  const cell = text.slice(0, lengthMax);
  return foreignNames.test(cell) || (cell.match(/\b[A-Z]{3}\b/g) ?? []).some(isForeignCode);
}

function isForeignCode(word: string): boolean {
  return word !== 'IDR' && isoCodes.has(word);
}

/** True for the heading of an amount in another currency, such as `Credit (USD)` or `Ekuivalen IDR`. */
export function isForeignHeading(heading: string): boolean {
  if (/ekuivalen|equivalent|\bekv\b|\beqv\b/i.test(heading)) {
    return true;
  }
  const [, last = ''] = /[^a-z]([a-z]{3})[^a-z]*$/i.exec(heading) ?? [];
  const names = heading.toUpperCase().replaceAll(/[^A-Z$€£¥]+/g, ' ');
  return (
    amountHeading.test(heading) &&
    (foreignNames.test(heading) || commonCodes.test(names) || isForeignCode(last.toUpperCase()))
  );
}

/**
 * Finds a currency other than rupiah after a label, such as `Currency : USD`.
 * @returns The cell, or undefined if there is none.
 */
export function findForeignLabel(cells: readonly string[]): string | undefined {
  return cells.slice(0, cellsRead).find((each, place) => {
    const label = labelPattern.exec(each.slice(0, lengthMax))?.[0];
    const value = each.slice(label?.length ?? 0, lengthMax).trim();
    const next = cells.slice(place + 1, cellsRead).find((after) => !/^[\s:]*$/.test(after)) ?? '';
    return label !== undefined && hasForeignCurrency((value === '' ? next : value).toUpperCase());
  });
}

/**
 * Finds a currency other than rupiah above the lines: after a label, under a label of the row above, or
 * in a row about an account, such as `No. Rekening : 123 (USD)`.
 * @returns The cell, or undefined if there is none.
 */
export function findForeignAccount(cells: readonly string[], above: readonly string[]): string | undefined {
  const text = cells.join(' ').slice(0, lengthMax);
  const isNamed = namePattern.test(text);
  const codes = isNamed ? numberedCode : accountPattern.test(text) ? commonCodes : null;
  const isLabel = (cell = '') => cell !== '' && labelPattern.exec(cell)?.[0] === cell;
  return (
    findForeignLabel(cells) ??
    cells
      .slice(0, cellsRead)
      .find(
        (each, place) =>
          codes?.test(each.slice(0, lengthMax)) === true ||
          (!isNamed && foreignWords.test(each.slice(0, lengthMax))) ||
          (isLabel(above[place]) && hasForeignCurrency(each)),
      )
  );
}
