import { Zip, ZipDeflate } from 'fflate';
import { now } from '../shared/clock.js';
import { toPrintable } from '../shared/printable.js';
import type { Columns } from './report-columns.js';
import type { ReportRow } from './report-rows.js';

/** Number and name of a worksheet. */
export interface SheetName {
  /** Starts at 1. */
  number: number;
  name: string;
}

const header = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const mainNamespace = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relationshipsNamespace = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageNamespace = 'http://schemas.openxmlformats.org/package/2006';
const contentTypePrefix = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/**
 * Worksheets use the default content type, so the number of sheets need not be known at the start.
 */
const contentTypes =
  `${header}<Types xmlns="${packageNamespace}/content-types">` +
  '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
  `<Default Extension="xml" ContentType="${contentTypePrefix}.worksheet+xml"/>` +
  `<Override PartName="/xl/workbook.xml" ContentType="${contentTypePrefix}.sheet.main+xml"/>` +
  `<Override PartName="/xl/styles.xml" ContentType="${contentTypePrefix}.styles+xml"/>` +
  '</Types>';

const packageRelations =
  `${header}<Relationships xmlns="${packageNamespace}/relationships">` +
  `<Relationship Id="rId1" Type="${relationshipsNamespace}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;

/** Cell style `s="1"` is a time: the second entry of `cellXfs`. */
const styles =
  `${header}<styleSheet xmlns="${mainNamespace}">` +
  '<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>' +
  '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  '<cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>' +
  '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>' +
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>';

/**
 * Returns the XML around the rows of a workbook (ECMA-376), as little as Excel accepts.
 * @param columns Columns of a sheet.
 */
export function buildWorkbookParts(columns: number) {
  return {
    first: { '[Content_Types].xml': contentTypes, '_rels/.rels': packageRelations, 'xl/styles.xml': styles },
    /** The header row is frozen. */
    sheetHead:
      `${header}<worksheet xmlns="${mainNamespace}"><sheetViews><sheetView workbookViewId="0">` +
      '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
      `<cols><col min="1" max="${columns}" width="22" customWidth="1"/></cols><sheetData>`,
    sheetTail: '</sheetData></worksheet>',
    last: (sheets: SheetName[]) => ({
      'xl/workbook.xml':
        `${header}<workbook xmlns="${mainNamespace}" xmlns:r="${relationshipsNamespace}"><sheets>` +
        sheets
          .map((each) => `<sheet name="${each.name}" sheetId="${each.number}" r:id="rId${each.number}"/>`)
          .join('') +
        '</sheets></workbook>',
      'xl/_rels/workbook.xml.rels':
        `${header}<Relationships xmlns="${packageNamespace}/relationships">` +
        sheets
          .map(
            ({ number }) =>
              `<Relationship Id="rId${number}" Type="${relationshipsNamespace}/worksheet" Target="worksheets/sheet${number}.xml"/>`,
          )
          .join('') +
        `<Relationship Id="rId${sheets.length + 1}" Type="${relationshipsNamespace}/styles" Target="styles.xml"/></Relationships>`,
    }),
  };
}

/** Maximum number of rows in an Excel sheet, including the header. */
const rowsPerSheet = 1_048_576;
/** Maximum length of an Excel cell in characters. */
const cellLengthMax = 32_767;

/**
 * Formats rows as an Excel workbook (decision 039), page by page, and returns the bytes that are
 * ready. A sheet is named after the time zone. Rows beyond the limit of a sheet are written to
 * another sheet. Text is never a formula, numbers are stored as numbers, and times as dates in that
 * zone.
 */
export function createXlsxText(
  columns: Columns,
  { zone = 'UTC', rowsMax = rowsPerSheet }: { zone?: string | undefined; rowsMax?: number } = {},
) {
  const zip = openZip();
  const kinds = Object.entries(columns).map(([name, { kind }], index) => ({
    name,
    kind,
    letter: getColumnLetter(index),
  }));
  const sheets: SheetName[] = [];
  const heading = buildRow(1, kinds.map(({ name, letter }) => buildTextCell(`${letter}1`, name)).join(''));
  const parts = buildWorkbookParts(kinds.length);
  let rowsWritten = 0;

  function openSheet(): void {
    const number = sheets.length + 1;
    // Excel allows neither slashes nor more than 31 characters.
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

/**
 * A zip archive whose bytes can be taken as soon as they are ready. Text is buffered, because each
 * write to the archive is expensive.
 */
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
      // These characters are not valid in XML.
      .replace(/[\ufffe\uffff]/g, ' ')
      // Excel decodes `_x0041_` as a character.
      .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
  );
}

const dayMs = 86_400_000;
/** Excel's serial number of 1970-01-01. Excel counts days from the end of 1899. */
const epochSerial = 25_569;

/** Returns the local time of an ISO time, without its offset, as an Excel serial. */
function toExcelSerial(isoTime: string): number {
  return Date.parse(`${isoTime.slice(0, 'YYYY-MM-DDTHH:mm:ss.SSS'.length)}Z`) / dayMs + epochSerial;
}

function getColumnLetter(column: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + column);
}
