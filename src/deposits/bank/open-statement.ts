import { limits } from '../../../config/limits.js';
import { readCsvRows } from '../../workbook/csv-lines.js';
import { readHtmlLines } from '../../workbook/html-lines.js';
import { isZip } from '../../workbook/zip.js';
import { buildUnreadableError } from './statement-line.js';
import type { RowSource } from './statement-table.js';

/** The content of a statement file by its format. A table may have several possible separators. */
export type StatementContent =
  { kind: 'table'; sources: RowSource[] } | { kind: 'mt940' | 'camt053'; text: string };

const save = 'Open it with a spreadsheet program and save it as CSV UTF-8, or let the bank export CSV';
/** Length of the beginning in which the format is recognised. */
const beginningMax = 20_000;

/**
 * Recognises the format of a statement by its content, because banks export HTML and CSV under the
 * name `.xls`.
 * @throws ValidationError if the format is not read.
 */
export function openStatement(bytes: Uint8Array): StatementContent {
  if (bytes.length > limits.bankStatementBytesMax) {
    throw buildUnreadableError(
      `it has ${bytes.length} bytes, and the limit is ${limits.bankStatementBytesMax}`,
    );
  }
  refuseBinary(bytes);
  const text = decodeText(bytes);
  const beginning = text.slice(0, beginningMax);
  if (/^\s*</.test(beginning) && /<(?:\w{1,20}:)?BkToCstmrStmt[\s>]/.test(beginning)) {
    return { kind: 'camt053', text };
  }
  if (/^\s*</.test(beginning)) {
    return openMarkup(text, beginning);
  }
  if (/^(?:\{4:)?:20:|\{4:\s*$/m.test(beginning) && /^:60[FM]:/m.test(beginning)) {
    return { kind: 'mt940', text };
  }
  if (/^(?:\{4:)?:20:|\{4:\s*$/m.test(beginning) && /^:(?:34F|90[CD]):/m.test(beginning)) {
    throw buildUnreadableError(
      'it is an interim report (MT942). Let the bank export the statement of the day: MT940, CAMT.053 or CSV',
    );
  }
  const marks = [',', ';', '\t'] as const;
  return { kind: 'table', sources: marks.map((mark) => () => readCsvRows(text, mark, true)) };
}

function openMarkup(text: string, beginning: string): StatementContent {
  if (/<(?:\w{1,20}:)?BkToCstmr(?:AcctRpt|DbtCdtNtfctn)[\s>]/.test(beginning)) {
    throw buildUnreadableError(
      'it is a report or a notification (CAMT.052 or CAMT.054). Let the bank export the statement: CAMT.053, MT940 or CSV',
    );
  }
  if (/urn:schemas-microsoft-com:office:spreadsheet|<Workbook[\s>]/.test(beginning)) {
    throw buildUnreadableError(`it is a workbook in XML (Excel 2003). ${save}`);
  }
  if (!/<(?:html|table|body|tr)[\s>]/i.test(text.slice(0, 50_000))) {
    throw buildUnreadableError(
      'it is neither an HTML table nor CAMT.053. Let the bank export CSV, MT940 or CAMT.053',
    );
  }
  return { kind: 'table', sources: [() => readHtmlLines(text)] };
}

function refuseBinary(bytes: Uint8Array): void {
  const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1');
  if (isZip(bytes)) {
    const what = start.includes('opendocument') ? 'an OpenDocument workbook (.ods)' : 'a workbook (.xlsx)';
    throw buildUnreadableError(`it is ${what}. ${save}`);
  }
  if (start.startsWith('\u00d0\u00cf\u0011\u00e0')) {
    throw buildUnreadableError(`it is an Excel workbook (.xls). ${save}`);
  }
  if (start.startsWith('%PDF')) {
    throw buildUnreadableError('it is a PDF. Let the bank export CSV, MT940 or CAMT.053');
  }
}

/** Decodes UTF-8, and UTF-16 with a byte order mark, or with zero bytes around its first letters. */
function decodeText(bytes: Uint8Array): string {
  const encoding =
    (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] !== 0 && bytes[1] === 0 && bytes[3] === 0)
      ? 'utf-16le'
      : (bytes[0] === 0xfe && bytes[1] === 0xff) || (bytes[0] === 0 && bytes[1] !== 0 && bytes[2] === 0)
        ? 'utf-16be'
        : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw buildUnreadableError('it is not CSV in UTF-8. Save it as CSV UTF-8');
  }
}
