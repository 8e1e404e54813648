/** Workbooks written by other programs, and damaged workbooks. */
import { expect } from 'chai';
import { strToU8, zipSync } from 'fflate';
import { readPriceFile } from '../../../src/providers/imports/read-price-file.js';
import { bookOf, buildPriceRow, read, refusal, row, sheetOf, text } from './sheet.js';
import { workbookWith } from './workbook.js';

describe('a workbook written by another program', () => {
  it('finds its sheet by the relationships, wherever it is in the zip', async () => {
    const at = (target: string) =>
      bookOf('<worksheet/>', {
        'xl/sheets/a.xml': sheetOf(buildPriceRow(2, 10)),
        'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="rId7" Target="${target}"/></Relationships>`,
      });
    for (const target of [
      'sheets/a.xml',
      '/xl/sheets/a.xml',
      './sheets/a.xml',
      '../xl/sheets/a.xml',
      '../../xl//sheets/a.xml',
    ]) {
      expect((await readPriceFile(at(target))).wanted, target).to.have.length(1);
    }
    for (const target of ['', '.', '../sheets/a.xml', 'file:///etc/passwd', '../../../etc/passwd']) {
      expect(await refusal(at(target)), target).to.match(/no sheet/);
    }
  });

  it('decodes escaped characters (_x0031_) once', async () => {
    const { wanted } = await readPriceFile(
      bookOf(
        sheetOf(
          row(2, '<c r="C2" t="s"><v>0</v></c>'),
          row(3, '<c r="C3" t="inlineStr"><is><t>105_x0030_0</t></is></c>'),
          `<row r="4">${text('A4', 'A_x005F_x0031__x004a_')}${text('B4', '_x0_grosir')}<c r="C4"><v>1</v></c></row>`,
        ),
        { 'xl/sharedStrings.xml': '<sst><si><r><t>1_x0030_</t></r><r><t>500_x000D_</t></r></si></sst>' },
      ),
    );
    expect(wanted).to.deep.equal([
      { line: 2, code: 'S2', seller: 'grosir', price: 10_500 },
      { line: 3, code: 'S3', seller: 'grosir', price: 10_500 },
      { line: 4, code: 'A_x0031_J', seller: '_x0_grosir', price: 1 },
    ]);
  });

  it('treats a formula with result 0 as not calculated, in price, cost and code', async () => {
    const { wanted, refused } = await read(
      row(2, '<c r="C2"><v>10</v></c><c r="D2"><f>C2*0.9</f><v>0</v></c>'),
      row(3, '<c r="C3"><f>D3*1.1</f><v>0.0</v></c><c r="D3"><v>9</v></c>'),
      `<row r="4"><c r="A4"><f>"S"&amp;4</f><v>0</v></c>${text('B4', 'grosir')}<c r="C4"><v>1</v></c></row>`,
      row(5, '<c r="C5"><v>10</v></c><c r="D5"><v>0</v></c>'),
    );
    expect(refused).to.deep.equal([2, 3, 4].map((line) => ({ line, why: 'no-result' })));
    expect(wanted.map(({ line, cost }) => [line, cost])).to.deep.equal([[5, 0]]);
  });

  it('treats columns of zero width and rows of zero height as hidden', async () => {
    const sheet = (before: string, ...rows: string[]) =>
      bookOf(sheetOf(...rows).replace('<sheetData>', `${before}<sheetData>`));
    for (const width of ['0', '0.0', '0.00']) {
      expect(
        await refusal(sheet(`<cols><col min="3" max="3" width="${width}"/></cols>`, buildPriceRow(2, 1))),
        width,
      ).to.match(/line 1: its cell C1 is hidden. Show it/);
    }
    for (const all of ['zeroHeight="1"', 'zeroHeight="true"', 'defaultRowHeight="0"']) {
      expect(await refusal(sheet(`<sheetFormatPr ${all}/>`, buildPriceRow(2, 1))), all).to.match(
        /line 1: its cell A1 is hidden. Show it/,
      );
    }
    const shown = sheetOf(
      buildPriceRow(2, 1),
      row(3, '<c r="C3"><v>1</v></c>', ' ht="15"'),
      row(4, '<c r="C4"><v>1</v></c>', ' hidden="0"'),
      row(5, '<c r="C5"><v>1</v></c>', ' hidden="1" ht="15"'),
    ).replace('<row r="1">', '<row r="1" hidden="false">');
    const { wanted, refused } = await readPriceFile(
      bookOf(
        shown.replace('<sheetData>', '<sheetFormatPr defaultRowHeight="15" zeroHeight="1"/><sheetData>'),
      ),
    );
    expect(wanted.map(({ line }) => line)).to.deep.equal([3, 4]);
    expect(refused).to.deep.equal([2, 5].map((line) => ({ line, why: 'is-hidden' })));
  });

  it('detects a changed byte, compressed or not: 90500 is not 10500', async () => {
    const stored = Buffer.from(
      zipSync({
        'xl/workbook.xml': strToU8('<workbook><sheets><sheet name="1" r:id="a"/></sheets></workbook>'),
        'xl/_rels/workbook.xml.rels': strToU8(
          '<Relationships><Relationship Id="a" Target="s.xml"/></Relationships>',
        ),
        'xl/s.xml': [strToU8(sheetOf(buildPriceRow(2, 10_500))), { level: 0 }],
      }),
    );
    expect((await readPriceFile(stored)).wanted[0]?.price).to.equal(10_500);
    stored[stored.indexOf('10500')] = '9'.charCodeAt(0);
    expect(await refusal(stored)).to.match(/is damaged.*[Ss]ave it again/);

    const packed = workbookWith(strToU8(sheetOf(buildPriceRow(2, 10_500))));
    // Change the checksum in the central directory of the zip file.
    const entry = packed.lastIndexOf('xl/worksheets/sheet2.xml') - 46;
    packed.writeUInt32LE((packed.readUInt32LE(entry + 16) ^ 1) >>> 0, entry + 16);
    expect(await refusal(packed)).to.match(/is damaged/);
  });

  it('refuses a tag as large as its part, and reads one with a long attribute', async () => {
    const attributes = (of: number, length: number) =>
      Array.from({ length: of }, (_, n) => ` a${n}="${'x'.repeat(length)}"`).join('');
    const sheet = (of: string) =>
      bookOf(sheetOf(buildPriceRow(2, 1)).replace('<worksheet>', `<worksheet${of}>`));
    for (const large of [attributes(16, 490_000), attributes(190, 40_000), attributes(1, 7_000_000)]) {
      expect(await refusal(sheet(large))).to.match(/is not valid workbook XML/);
    }
    expect((await readPriceFile(sheet(attributes(1, 400_000)))).wanted).to.have.length(1);
    expect((await readPriceFile(sheet(attributes(150, 1_000)))).wanted).to.have.length(1);
  });
});
