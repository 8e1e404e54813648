/** A line is refused if its cells cannot be assigned to columns. */
import { expect } from 'chai';
import { readPriceFile } from '../../../src/providers/imports/read-price-file.js';
import { bookOf, buildPriceRow, read as readRows, refusal, row, sheetOf, text } from './sheet.js';

const read = (csv: string) => readPriceFile(Buffer.from(csv));

describe('columns of a price list', () => {
  it('refuses a line that an unquoted separator lengthened: 10,500 is not 10', async () => {
    const { wanted, refused } = await read(
      [
        'code,seller,price,cost',
        'S2,grosir,10,500,9000',
        'S3,grosir,10,500,9,000',
        // The price is 10,500 and the cost is empty. The parser must not read 10 as the price and
        // 500 as the cost.
        'S4,grosir,10,500,',
        'S5,"grosir, Jakarta",10500',
        'S6,grosir,10500,9000',
        'grosir, Jakarta,S7,10500,9000',
      ].join('\n'),
    );
    expect(refused).to.deep.equal([2, 3, 4, 7].map((line) => ({ line, why: 'no-heading' })));
    expect(wanted.map(({ line, price, cost }) => [line, price, cost])).to.deep.equal([
      [5, 10_500, undefined],
      [6, 10_500, 9_000],
    ]);
  });

  it('ignores unnamed columns before the named ones and refuses values in later ones', async () => {
    const { wanted, refused } = await read(
      ',code,seller,price,,note,\n0,S2,grosir,10,500,x,\n1,S3,grosir,10,,,x\n2,S4,grosir,10500,,x,\n',
    );
    expect(refused).to.deep.equal([2, 3].map((line) => ({ line, why: 'no-heading' })));
    expect(wanted.map(({ line, price }) => [line, price])).to.deep.equal([[4, 10_500]]);
  });

  it('in a workbook, refuses a cell beyond the headings unless it is empty', async () => {
    const cell = (place: string, of: string) => `<c r="${place}"${of}`;
    const { wanted, refused } = await readRows(
      row(2, `${cell('C2', '><v>10</v></c>')}${cell('F2', '><v>500</v></c>')}`),
      row(3, `${cell('C3', '><v>10</v></c>')}${cell('E3', '><f>C3*2</f></c>')}`),
      row(
        4,
        `${cell('C4', '><v>10</v></c>')}${cell('E4', ' s="1"/>')}${cell('F4', ' t="str"><v> </v></c>')}`,
      ),
    );
    expect(refused).to.deep.equal([2, 3].map((line) => ({ line, why: 'no-heading' })));
    expect(wanted.map(({ line }) => line)).to.deep.equal([4]);
  });

  it('refuses a sheet with merged cells in columns that are read, and names them', async () => {
    const merged = (...ranges: string[]) =>
      bookOf(
        sheetOf(buildPriceRow(2, 10), buildPriceRow(3, 11)).replace(
          '</worksheet>',
          `<mergeCells>${ranges.map((each) => `<mergeCell ref="${each}"/>`).join('')}</mergeCells></worksheet>`,
        ),
      );
    for (const range of ['D2:D3', 'C1:D1', 'A3:C3', 'D3:F9', 'A1:A2']) {
      expect(await refusal(merged('F1:F3', range)), range).to.match(
        new RegExp(`the cells ${range} are merged. .*Unmerge them`),
      );
    }
    expect(await refusal(merged('C2:'))).to.match(/merged range .* C2:/);
    // A merged range in a column that is not read, and a merged range with a single cell.
    expect((await readPriceFile(merged('F1:F3', 'E2:G2', 'C2'))).wanted).to.have.length(2);
    const titled = sheetOf().replace(/<row.*<\/row>/, () =>
      [
        `<row r="3">${text('A3', 'code')}${text('B3', 'seller')}${text('C3', 'price')}</row>`,
        row(4, '<c r="C4"><v>10</v></c>'),
      ].join(''),
    );
    const above = titled.replace(
      '</worksheet>',
      '<mergeCells><mergeCell ref="A1:C2"/></mergeCells></worksheet>',
    );
    expect((await readPriceFile(bookOf(above))).wanted).to.have.length(1);
  });

  it('reads a sep= line and tab-separated columns as spreadsheets do', async () => {
    for (const csv of [
      'sep=;\r\ncode;seller;price;note\r\nS2;grosir;10500;a,b',
      '\uFEFFsep=;\ncode;seller;price;note\nS2;grosir;10500;a,b',
      '"sep=,"\ncode,seller,price,note;x\nS2,grosir,10500,',
      'sep=\t\ncode\tseller\tprice\tnote, x\nS2\tgrosir\t10500\ta;b',
      'code\tseller\tprice\tnote\nS2\tgrosir\t10500\t"a\tb, c"',
    ]) {
      const { wanted, refused } = await read(csv);
      expect(refused, csv).to.deep.equal([]);
      // Spreadsheet programs hide the separator line and count from the line after it.
      expect(wanted, csv).to.deep.equal([{ line: 2, code: 'S2', seller: 'grosir', price: 10_500 }]);
    }
    const { refused } = await read('code\tseller\tprice\nS2\tgrosir\t10,500\nS3\tgrosir\t10\t500\n');
    expect(refused.map(({ why }) => why)).to.deep.equal(['bad-price', 'no-heading']);
    expect(await refusal('sep=|\ncode|seller|price\nS2|grosir|1')).to.match(/first line must name/);
  });
});
