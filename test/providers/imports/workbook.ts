import { strToU8, zipSync } from 'fflate';

/** Workbook parts that put the tab of sheet2.xml first, as after a user has moved the tabs. */
const tabs = {
  'xl/workbook.xml': strToU8(
    '<workbook><sheets><sheet name="November" sheetId="2" r:id="rId7"/><sheet name="old" sheetId="1" r:id="rId1"/></sheets></workbook>',
  ),
  'xl/_rels/workbook.xml.rels': strToU8(
    '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/><Relationship Id="rId7" Target="worksheets/sheet2.xml"/></Relationships>',
  ),
};

/**
 * Builds a workbook with this first sheet.
 * @param more Additional parts by path.
 */
export function workbookWith(sheet: Uint8Array, more: Record<string, Uint8Array> = {}): Buffer {
  return Buffer.from(zipSync({ ...tabs, 'xl/worksheets/sheet2.xml': sheet, ...more }));
}

/** Builds a workbook as Excel writes it: shared strings, plain numbers, empty cells left out. */
export function workbookOf(rows: (string | number | null)[][]): Buffer {
  const texts: string[] = [];
  const cellOf = (value: string | number | null, place: string) => {
    if (value === null) {
      return '';
    }
    if (typeof value === 'number') {
      return `<c r="${place}"><v>${value.toExponential()}</v></c>`;
    }
    texts.push(value);
    return `<c r="${place}" s="1" t="s"><v>${texts.length - 1}</v></c>`;
  };
  const sheet = rows
    .map((row, n) => {
      const cells = row.map((value, at) => cellOf(value, `${'ABCDEFGH'[at] ?? 'Z'}${n + 1}`)).join('');
      return cells === '' ? '' : `<row r="${n + 1}" spans="1:5">${cells}</row>`;
    })
    .join('');
  const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return workbookWith(
    strToU8(`${head}<worksheet><sheetData>${sheet}</sheetData><pageMargins left="0.7"/></worksheet>`),
    {
      '[Content_Types].xml': strToU8(`${head}<Types/>`),
      'xl/worksheets/sheet1.xml': strToU8(
        `${head}<worksheet><sheetData><row r="1"><c t="n"><v>9</v></c></row></sheetData></worksheet>`,
      ),
      'xl/sharedStrings.xml': strToU8(
        `${head}<sst>${texts.map((each) => `<si><r><t xml:space="preserve">${escaped(each)}</t></r><rPh><t>x</t></rPh></si>`).join('')}</sst>`,
      ),
    },
  );
}

/** Returns the offsets of a part's entry in the central directory of a zip file. */
function entryOf(zip: Buffer, name: string): { start: number; end: number } {
  const place = zip.lastIndexOf(name);
  return { start: place - 46, end: place + name.length };
}

/** Returns the zip file with `times` additional entries for the part in its central directory. */
export function repeatEntry(zip: Buffer, name: string, times: number): Buffer {
  const { start, end } = entryOf(zip, name);
  const tail = Buffer.from(zip.subarray(end));
  const footer = tail.length - 22;
  const count = tail.readUInt16LE(footer + 10) + times;
  tail.writeUInt16LE(count, footer + 8);
  tail.writeUInt16LE(count, footer + 10);
  const entry = zip.subarray(start, end);
  tail.writeUInt32LE(tail.readUInt32LE(footer + 12) + times * entry.length, footer + 12);
  return Buffer.concat([zip.subarray(0, end), ...Array.from({ length: times }, () => entry), tail]);
}

/** Returns the zip file with a wrong uncompressed size for the part. */
export function setStatedSize(zip: Buffer, name: string, size: number): Buffer {
  const { start } = entryOf(zip, name);
  const changed = Buffer.from(zip);
  changed.writeUInt32LE(size, start + 24);
  return changed;
}
