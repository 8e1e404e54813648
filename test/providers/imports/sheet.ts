/**
 * Hand-written price sheets: a heading row with code, seller, price and cost, and the data rows.
 */
import { expect } from 'chai';
import { strToU8 } from 'fflate';
import { readPriceFile } from '../../../src/providers/imports/read-price-file.js';
import { ValidationError } from '../../../src/shared/errors.js';
import { workbookWith } from './workbook.js';

export const text = (place: string, value: string) => `<c r="${place}" t="str"><v>${value}</v></c>`;
const head = `<row r="1">${['code', 'seller', 'price', 'cost'].map((each, n) => text(`${'ABCD'[n] ?? ''}1`, each)).join('')}</row>`;
export const row = (line: number, cells: string, more = '') =>
  `<row r="${line}"${more}>${text(`A${line}`, `S${line}`)}${text(`B${line}`, 'grosir')}${cells}</row>`;
export const buildPriceRow = (line: number, price: number) =>
  row(line, `<c r="C${line}"><v>${price}</v></c>`);
export const sheetOf = (...rows: string[]) =>
  `<worksheet><sheetData>${head}${rows.join('')}</sheetData></worksheet>`;
export const bookOf = (sheet: string, more: Record<string, string> = {}) =>
  workbookWith(
    strToU8(sheet),
    Object.fromEntries(Object.entries(more).map(([name, part]) => [name, strToU8(part)])),
  );
export const read = (...rows: string[]) => readPriceFile(bookOf(sheetOf(...rows)));
/**
 * Returns the message with which the whole file is refused.
 * @throws Error if the file is accepted.
 */
export const refusal = async (bytes: Uint8Array | string): Promise<string> => {
  try {
    await readPriceFile(Buffer.from(bytes));
  } catch (error) {
    expect(error).to.be.instanceOf(ValidationError);
    return (error as ValidationError).errors?.[0]?.message.en ?? '';
  }
  return expect.fail('it was read');
};
export const refusalOf = (...rows: string[]) => refusal(bookOf(sheetOf(...rows)));
