/** The XML around the rows of a workbook (ECMA-376), as little of it as Excel needs. */
export interface SheetName {
  /** From 1. */
  number: number;
  name: string;
}

const header = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packaged = 'http://schemas.openxmlformats.org/package/2006';
const kind = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Everything that is no sheet is named, so that nobody has to know at the beginning how many sheets there will be. */
const contentTypes =
  `${header}<Types xmlns="${packaged}/content-types">` +
  '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
  `<Default Extension="xml" ContentType="${kind}.worksheet+xml"/>` +
  `<Override PartName="/xl/workbook.xml" ContentType="${kind}.sheet.main+xml"/>` +
  `<Override PartName="/xl/styles.xml" ContentType="${kind}.styles+xml"/>` +
  '</Types>';

const packageRelations =
  `${header}<Relationships xmlns="${packaged}/relationships">` +
  `<Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;

/** The second of its `cellXfs` is a time: `s="1"` of a cell. */
const styles =
  `${header}<styleSheet xmlns="${main}">` +
  '<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>' +
  '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  '<cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>' +
  '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>' +
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>';

/** @param columns How many a sheet has. */
export function workbookParts(columns: number) {
  return {
    first: { '[Content_Types].xml': contentTypes, '_rels/.rels': packageRelations, 'xl/styles.xml': styles },
    /** The header row stays in sight. */
    sheetHead:
      `${header}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0">` +
      '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
      `<cols><col min="1" max="${columns}" width="22" customWidth="1"/></cols><sheetData>`,
    sheetTail: '</sheetData></worksheet>',
    last: (sheets: SheetName[]) => ({
      'xl/workbook.xml':
        `${header}<workbook xmlns="${main}" xmlns:r="${relations}"><sheets>` +
        sheets
          .map((each) => `<sheet name="${each.name}" sheetId="${each.number}" r:id="rId${each.number}"/>`)
          .join('') +
        '</sheets></workbook>',
      'xl/_rels/workbook.xml.rels':
        `${header}<Relationships xmlns="${packaged}/relationships">` +
        sheets
          .map(
            ({ number }) =>
              `<Relationship Id="rId${number}" Type="${relations}/worksheet" Target="worksheets/sheet${number}.xml"/>`,
          )
          .join('') +
        `<Relationship Id="rId${sheets.length + 1}" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
    }),
  };
}
