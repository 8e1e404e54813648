import { Zip, ZipDeflate } from 'fflate';
import { now } from '../shared/clock.js';
import { toPrintable } from '../shared/printable.js';
import type { Columns } from './report-columns.js';
import type { ReportRow } from './report-rows.js';
import { workbookParts, type SheetName } from './xlsx-parts.js';

/** What Excel can hold, the header among them. */
const rowsOfSheet = 1_048_576;
const cellLengthMax = 32_767;

/**
 * Rows as a workbook of Excel (decision 039), page by page, as much of its bytes as is ready: a sheet is named for the zone of its times, and what it
 * cannot hold goes on in another one. Text is text and never run, numbers are numbers, times are dates of the zone.
 */
export function createXlsxText(
  columns: Columns,
  { zone = 'UTC', rowsMax = rowsOfSheet }: { zone?: string | undefined; rowsMax?: number } = {},
) {
  const zip = openZip();
  const kinds = Object.entries(columns).map(([name, { kind }], index) => ({
    name,
    kind,
    letter: getColumnLetter(index),
  }));
  const sheets: SheetName[] = [];
  const heading = buildRow(1, kinds.map(({ name, letter }) => buildTextCell(`${letter}1`, name)).join(''));
  const parts = workbookParts(kinds.length);
  let rowsWritten = 0;

  function openSheet(): void {
    const number = sheets.length + 1;
    // Excel takes no slash and 31 characters.
    const name = zone.replaceAll('/', '-').slice(0, 25);
    sheets.push({ number, name: number === 1 ? name : `${name} ${number}` });
    zip.open(`xl/worksheets/sheet${number}.xml`);
    zip.write(parts.sheetHead + heading);
    rowsWritten = 1;
  }

  function closeSheet(): void {
    zip.write(parts.sheetTail);
    zip.close();
  }

  function addRow(row: Record<string, unknown>): void {
    if (rowsWritten === rowsMax) {
      closeSheet();
      openSheet();
    }
    rowsWritten += 1;
    const cells = kinds.map(({ name, kind, letter }) => {
      const value = row[name] as string | number | null;
      const at = `${letter}${rowsWritten}`;
      if (value === null) {
        return '';
      }
      if (typeof value === 'number') {
        return `<c r="${at}"><v>${value}</v></c>`;
      }
      return kind === 'time'
        ? `<c r="${at}" s="1"><v>${toExcelSerial(value)}</v></c>`
        : buildTextCell(at, value);
    });
    zip.write(buildRow(rowsWritten, cells.join('')));
  }

  return {
    head() {
      zip.add(parts.first);
      openSheet();
      return zip.take();
    },
    rows(page: readonly ReportRow[]) {
      page.forEach((row) => {
        addRow(row);
      });
      return zip.take();
    },
    tail() {
      closeSheet();
      zip.add(parts.last(sheets));
      zip.end();
      return zip.take();
    },
  };
}

/** A zip whose bytes are taken as they become ready. What is written is gathered, for each push has a cost. */
function openZip() {
  let ready: Uint8Array[] = [];
  let text: string[] = [];
  let entry: ZipDeflate | null = null;
  const zip = new Zip((error, piece) => {
    if (error) {
      throw error;
    }
    ready.push(piece);
  });
  const push = (isLast: boolean) => {
    entry?.push(Buffer.from(text.join('')), isLast);
    text = [];
  };
  const open = (name: string) => {
    entry = new ZipDeflate(name, { level: 1 });
    entry.mtime = now();
    zip.add(entry);
  };
  const close = () => {
    push(true);
    entry = null;
  };
  return {
    open,
    write: (more: string) => text.push(more),
    close,
    add(files: Record<string, string>) {
      for (const [name, content] of Object.entries(files)) {
        open(name);
        text.push(content);
        close();
      }
    },
    end: () => {
      zip.end();
    },
    take(): Buffer {
      if (entry) {
        push(false);
      }
      const taken = Buffer.concat(ready);
      ready = [];
      return taken;
    },
  };
}

function buildRow(number: number, cells: string): string {
  return `<row r="${number}">${cells}</row>`;
}

function buildTextCell(at: string, text: string): string {
  return `<c r="${at}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(toPrintable(text).slice(0, cellLengthMax))}</t></is></c>`;
}

function escapeXml(text: string): string {
  return (
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      // No characters of XML.
      .replace(/[\ufffe\uffff]/g, ' ')
      // Excel reads `_x0041_` as a character.
      .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
  );
}

const dayMs = 86_400_000;
/** Of 1970-01-01: Excel counts days from the end of 1899. */
const serialOfEpoch = 25_569;

/** The time of day that an ISO time tells, wherever that is, as Excel counts it. */
function toExcelSerial(isoTime: string): number {
  return Date.parse(`${isoTime.slice(0, 'YYYY-MM-DDTHH:mm:ss.SSS'.length)}Z`) / dayMs + serialOfEpoch;
}

function getColumnLetter(column: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + column);
}
