/**
 * A cell is refused if its number format shows digits that differ from the stored value, because
 * people see only the formatted number.
 */
import { expect } from 'chai';
import { readPriceFile } from '../../../src/providers/imports/read-price-file.js';
import { bookOf, row, sheetOf, text } from './sheet.js';

const escapeXml = (code: string) =>
  code.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
const formatsOf = (codes: readonly string[]) =>
  `<numFmts>${codes.map((code, n) => `<numFmt numFmtId="${164 + n}" formatCode="${escapeXml(code)}"/>`).join('')}</numFmts>`;
const stylesOf = (ids: readonly number[]) =>
  `<cellXfs>${ids.map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs>`;
const readStyled = (rows: string[], styles: string) =>
  readPriceFile(bookOf(sheetOf(...rows), { 'xl/styles.xml': `<styleSheet>${styles}</styleSheet>` }));

/**
 * Returns, for each number format, the price that is read or the reason why the line is refused.
 */
async function readPrices(codes: readonly string[], value = 10_500): Promise<Record<string, unknown>> {
  const rows = codes.map((_, n) => row(n + 2, `<c r="C${n + 2}" s="${n}"><v>${value}</v></c>`));
  const { wanted, refused } = await readStyled(
    rows,
    formatsOf(codes) + stylesOf(codes.map((_, n) => 164 + n)),
  );
  const found = new Map<number, unknown>([
    ...wanted.map(({ line, price }): [number, unknown] => [line, price]),
    ...refused.map(({ line, why }): [number, unknown] => [line, why]),
  ]);
  return Object.fromEntries(codes.map((code, n) => [code, found.get(n + 2)]));
}
const buildForAll = (codes: readonly string[], what: unknown) =>
  Object.fromEntries(codes.map((code) => [code, what]));

describe('number formats in a workbook of prices', () => {
  it('refuses a cell whose format shows other digits than the stored value', async () => {
    const codes = [
      '#,##0,',
      '#,##0.0,',
      '0,,"jt"',
      '0"000"',
      '"Rp"0".000"',
      '0\\0\\0\\0',
      '[$10-421]#,##0',
      '"1"#,##0',
      '0%',
      '#,##0\\%',
      '#,##0"%"',
      '0.00E+00',
      '# ?/?',
      '# ??/??',
      '0/10',
      '##0.0E+0',
      ';;;',
      ';-0',
      '""',
      '"gratis"',
      '[<1000]0;[>=1000]0,',
      '[>1]0',
      '[DBNum1]0',
      '0.0.0',
      '0"."0',
      '0-0',
      '#,##0"k"',
      '#,##0 "ribu"',
      '#,##0\\r\\b',
      '#,##0"Jt"',
      '000000',
      '000,000',
      '@0',
      '*0',
      '0x0',
    ];
    expect(await readPrices(codes)).to.deep.equal(buildForAll(codes, 'unreadable-cell'));
  });

  it('reads accounting formats: currencies, grouping, decimals, colours, padding', async () => {
    const codes = [
      'General',
      '@',
      '0',
      '0.00',
      '#,##0',
      '#,##0.00',
      '#,###',
      '#',
      '00000',
      '0,000',
      '?0',
      'GENERAL',
      '"Rp"#,##0',
      '"Rp" #,##0;[Red]\\-"Rp" #,##0',
      '[$Rp-421]#,##0',
      '[$Rp-421]\\ #,##0.00',
      '[$-421]#,##0',
      '_-"Rp"* #,##0_-;\\-"Rp"* #,##0_-;_-"Rp"* "-"_-;_-@_-',
      '_-[$Rp-421]* #,##0.00_ ;_-[$Rp-421]* \\-#,##0.00\\ ;_-@_ ',
      '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)',
      '_("Rp"* #,##0.00_);_("Rp"* \\(#,##0.00\\);_("Rp"* "-"??_);_(@_)',
      '#,##0 \\I\\D\\R',
      '"IDR "#,##0',
      '#,##0\\ ;[Red]-#,##0',
      '[Blue]#,##0_);[Color10](#,##0)',
      'Rp#,##0',
      '"Rp. "#,##0",-"',
      '$#,##0',
      '+#,##0',
      '#,##0" /pcs"',
      '[$\u20ac-2] #,##0',
      '#,##0;-#,##0;;@',
    ];
    expect(await readPrices(codes)).to.deep.equal(buildForAll(codes, 10_500));
  });

  it('reads built-in formats by number, and refuses unknown ones', async () => {
    const fine = [0, 1, 2, 3, 4, 5, 8, 37, 40, 41, 44, 49];
    const others = [9, 10, 11, 12, 13, 48, 23, 170];
    const ids = [...fine, ...others];
    const rows = ids.map((_, n) => row(n + 2, `<c r="C${n + 2}" s="${n}"><v>10500</v></c>`));
    const { wanted, refused } = await readStyled(rows, stylesOf(ids));
    expect(wanted).to.have.length(fine.length);
    expect(refused).to.deep.equal(
      others.map((_, n) => ({ line: fine.length + n + 2, why: 'unreadable-cell' })),
    );
  });

  it('refuses a code shown as 00123 and a cost whose zero is hidden', async () => {
    const codes = [
      'General',
      '00000',
      '0',
      '#,###',
      '0;-0;',
      '0;-0;;@',
      '_(* #,##0_);_(* (#,##0);_(* "-"??_);_(@_)',
      '0;0;"5"',
      '#',
    ];
    const coded = (line: number, style: number) =>
      `<row r="${line}"><c r="A${line}" s="${style}"><v>${line + 121}</v></c>${text(`B${line}`, 'grosir')}<c r="C${line}"><v>1</v></c></row>`;
    const free = (line: number, style: number) =>
      row(line, `<c r="C${line}"><v>1</v></c><c r="D${line}" s="${style}"><v>0</v></c>`);
    const { wanted, refused } = await readStyled(
      [coded(2, 1), coded(3, 2), ...[2, 3, 4, 5, 6, 7, 8].map((style) => free(style + 2, style))],
      formatsOf(codes) + stylesOf(codes.map((_, n) => 164 + n)),
    );
    expect(refused).to.deep.equal([2, 5, 6, 7, 9, 10].map((line) => ({ line, why: 'unreadable-cell' })));
    expect(wanted.map(({ line, code, cost }) => [line, code, cost])).to.deep.equal([
      [3, '124', undefined],
      [4, 'S4', 0],
      [8, 'S8', 0],
    ]);
  });

  it("finds formats anywhere in the part, and follows a style's base style", async () => {
    const rows = [0, 1, 2].map((style) =>
      row(style + 2, `<c r="C${style + 2}" s="${style}"><v>45000</v></c>`),
    );
    const { wanted, refused } = await readStyled(
      rows,
      `<cellXfs><xf numFmtId="164"/><xf xfId="1"/><xf numFmtId="0" xfId="1"/></cellXfs>` +
        `<cellStyleXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellStyleXfs>${formatsOf(['dd/mm/yyyy'])}`,
    );
    expect(refused).to.deep.equal([2, 3].map((line) => ({ line, why: 'is-date' })));
    expect(wanted.map(({ line }) => line)).to.deep.equal([4]);
  });
});
