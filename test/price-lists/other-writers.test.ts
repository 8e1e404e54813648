/** Workbooks as other programs write them, and such as came to harm on the way. */
import { expect } from 'chai';
import { strToU8, zipSync } from 'fflate';
import { readPriceFile } from '../../src/providers/imports/read-price-file.js';
import { bookOf, priced, read, refusal, row, sheetOf } from './sheet.js';
import { workbookWith } from './workbook.js';

describe('a workbook of prices of another program', () => {
  it('a column of no width is hidden however its nought is written, and so are rows where all are', async () => {
    const sheet = (before: string, ...rows: string[]) =>
      bookOf(sheetOf(...rows).replace('<sheetData>', `${before}<sheetData>`));
    for (const width of ['0', '0.0', '0.00']) {
      expect(
        await refusal(sheet(`<cols><col min="3" max="3" width="${width}"/></cols>`, priced(2, 1))),
        width,
      ).to.match(/line 1: its cell C1 is hidden. Show it/);
    }
    for (const all of ['zeroHeight="1"', 'zeroHeight="true"', 'defaultRowHeight="0"']) {
      expect(await refusal(sheet(`<sheetFormatPr ${all}/>`, priced(2, 1))), all).to.match(
        /line 1: its cell A1 is hidden. Show it/,
      );
    }
    const shown = sheetOf(
      priced(2, 1),
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

  it('a byte that has changed on the way is noticed, packed or not: 90500 is not 10500', async () => {
    const stored = Buffer.from(
      zipSync({
        'xl/workbook.xml': strToU8('<workbook><sheets><sheet name="1" r:id="a"/></sheets></workbook>'),
        'xl/_rels/workbook.xml.rels': strToU8(
          '<Relationships><Relationship Id="a" Target="s.xml"/></Relationships>',
        ),
        'xl/s.xml': [strToU8(sheetOf(priced(2, 10_500))), { level: 0 }],
      }),
    );
    expect((await readPriceFile(stored)).wanted[0]?.price).to.equal(10_500);
    stored[stored.indexOf('10500')] = '9'.charCodeAt(0);
    expect(await refusal(stored)).to.match(/is damaged.*[Ss]ave it again/);

    const packed = workbookWith(strToU8(sheetOf(priced(2, 10_500))));
    // What the list at the end says of it.
    const entry = packed.lastIndexOf('xl/worksheets/sheet2.xml') - 46;
    packed.writeUInt32LE((packed.readUInt32LE(entry + 16) ^ 1) >>> 0, entry + 16);
    expect(await refusal(packed)).to.match(/is damaged/);
  });

  it('a tag as large as its part is refused as what it is; one with a long attribute is read', async () => {
    const attributes = (of: number, length: number) =>
      Array.from({ length: of }, (_, n) => ` a${n}="${'x'.repeat(length)}"`).join('');
    const sheet = (of: string) => bookOf(sheetOf(priced(2, 1)).replace('<worksheet>', `<worksheet${of}>`));
    for (const large of [attributes(16, 490_000), attributes(190, 40_000), attributes(1, 7_000_000)]) {
      expect(await refusal(sheet(large))).to.match(/is no XML/);
    }
    expect((await readPriceFile(sheet(attributes(1, 400_000)))).wanted).to.have.length(1);
    expect((await readPriceFile(sheet(attributes(150, 1_000)))).wanted).to.have.length(1);
  });
});
