/** Only visible content of a workbook is imported. An unreadable cell is never treated as empty. */
import { expect } from 'chai';
import { readPriceFile } from '../../../src/providers/imports/read-price-file.js';
import { measureLongestHoldMs } from '../../support/measure-longest-hold.js';
import { bookOf, buildPriceRow, read, refusal, refusalOf, row, sheetOf, text } from './sheet.js';

describe('a workbook of prices', () => {
  it('refuses a line with a formula that has no result', async () => {
    const formulas = [
      '<f>D2*1.1</f>',
      '<f>D2*1.1</f><v></v>',
      '<f>D2*1.1</f><v/>',
      '<f t="shared" si="0"/>',
      '<f>D2*1.1</f><v> </v>',
    ];
    const cost = (line: number) => `<c r="D${line}"><v>9000</v></c>`;
    const lines = formulas.map((each, n) => row(n + 2, `<c r="C${n + 2}">${each}</c>${cost(n + 2)}`));
    lines.push(row(7, `<c r="C7" t="str"><f>""</f><v></v></c>${cost(7)}`));
    lines.push(row(8, `<c r="C8"><f>D8*1.1</f><v>9900</v></c>${cost(8)}`));
    lines.push(`<row r="9"><c r="A9"><f>A8</f></c></row>`);
    const { wanted, refused } = await read(...lines);
    expect(refused).to.deep.equal([2, 3, 4, 5, 6, 7, 9].map((line) => ({ line, why: 'no-result' })));
    expect(wanted).to.deep.equal([{ line: 8, code: 'S8', seller: 'grosir', price: 9_900, cost: 9_000 }]);
  });

  it('reads text in CDATA, in cells and in shared strings', async () => {
    const sheet = sheetOf(
      row(2, '<c r="C2" t="inlineStr"><is><t><![CDATA[10800]]></t></is></c>'),
      row(3, '<c r="C3" t="inlineStr"><is><r><t>1<![CDATA[08]]></t></r><r><t>00</t></r></is></c>'),
      row(4, '<c r="C4" t="s"><v>1</v></c>'),
      row(5, '<c r="C5"><v><![CDATA[10800]]></v></c>'),
    );
    const { wanted, refused } = await readPriceFile(
      bookOf(sheet, {
        'xl/sharedStrings.xml':
          '<sst><si><t>x</t></si><si><t><![CDATA[108]]>00</t><rPh><t>9</t></rPh></si></sst>',
      }),
    );
    expect(refused).to.deep.equal([]);
    expect(wanted.map(({ price }) => price)).to.deep.equal([10_800, 10_800, 10_800, 10_800]);
  });

  it('refuses a missing shared string, an invalid number and a misplaced value', async () => {
    const { wanted, refused } = await read(
      ...['<c r="C2" t="s"><v>7</v></c>', '<c r="C3" t="s"><v></v></c>', '<c r="C4"><v> </v></c>'].map(
        (each, n) => row(n + 2, `${each}<c r="D${n + 2}"><v>9000</v></c>`),
      ),
      row(5, '<c r="C5"><is><t>10800</t></is></c><c r="D5"><v>9000</v></c>'),
      row(6, '<c r="C6" t="x"><v>10800</v></c>'),
      row(7, '<c r="C7" s="1"/><c r="D7"><v>9000</v></c>'),
      row(8, '<c r="C8" t="inlineStr"><is><t></t></is></c><c r="D8"><v>9000</v></c>'),
    );
    expect(refused).to.deep.equal([2, 3, 4, 5, 6].map((line) => ({ line, why: 'unreadable-cell' })));
    expect(wanted.map(({ line, price, cost }) => [line, price, cost])).to.deep.equal([
      [7, undefined, 9_000],
      [8, undefined, 9_000],
    ]);
  });

  it('refuses an unreadable or hidden heading, so that no column is dropped silently', async () => {
    const heads = (price: string, of = '') =>
      bookOf(
        `<worksheet><sheetData><row r="1"${of}>${text('A1', 'code')}${text('B1', 'seller')}${price}${text('D1', 'cost')}</row>` +
          `${row(2, '<c r="C2"><v>1</v></c><c r="D2"><v>1</v></c>')}</sheetData></worksheet>`,
      );
    expect(await refusal(heads('<c r="C1"><f>"price"</f></c>'))).to.match(
      /line 1: its cell C1 holds a formula/,
    );
    expect(await refusal(heads(text('C1', 'price'), ' hidden="1"'))).to.match(
      /line 1: its cell A1 is hidden/,
    );
  });

  it('ignores comments and processing instructions in every part', async () => {
    const comment = '<!-- <sheet name="x" r:id="rId1"/> <v>1</v> -->';
    const sheet = sheetOf(
      `<!-- ${row(2, '<c r="C2"><v>1</v></c>')} -->`,
      row(3, '<c r="C3"><!-- <v>1</v> --><v>06<?x <v>9</v> ?>00<!----></v></c>'),
      row(4, '<c r="C4" t="s"><v>0</v></c>'),
    );
    const { wanted } = await readPriceFile(
      bookOf(`<?xml version='1.0'?>${sheet}<!-- end -->`, {
        'xl/workbook.xml': `${comment}<workbook><sheets>${comment}<sheet name="1" r:id="rId7"/></sheets></workbook>`,
        'xl/sharedStrings.xml':
          '<sst><!-- <si><t>1</t></si> --><si><t>10<!-- 9 -->800</t></si><?x <si><t>5</t></si> ?></sst>',
      }),
    );
    expect(wanted.map(({ line, price }) => [line, price])).to.deep.equal([
      [3, 600],
      [4, 10_800],
    ]);
  });

  it('reads attributes in either quotes, also if they contain markup', async () => {
    const { wanted } = await read(
      `<row x="a>b" y=' r="9"' r='5'><c r='A5' t='str'><v>S5</v></c>${text('B5', 'grosir')}<c  r = 'C5' ><v>7</v></c ></row>`,
    );
    expect(wanted).to.deep.equal([{ line: 5, code: 'S5', seller: 'grosir', price: 7 }]);
  });

  it('refuses duplicate cells and lines', async () => {
    const twice = row(2, '<c r="C2"><v>1</v></c><c r="C2"><v>0600</v></c>');
    expect(await refusalOf(twice)).to.match(/line 2: its cell C2 occurs twice/);
    expect(await refusalOf(row(2, '<c r="C3"><v>1</v></c>'))).to.match(/line 2: .*C3/);
    expect(await refusalOf(buildPriceRow(2, 1), buildPriceRow(3, 1), buildPriceRow(2, 9))).to.match(
      /line 2 occurs twice/,
    );
    expect(await refusalOf(row(2, '<c r="C2"><v>1</v><v>0600</v></c>'))).to.match(
      /line 2: its cell C2 has two values/,
    );
    const other = `${sheetOf(buildPriceRow(2, 1)).replace('</worksheet>', '')}<sheetData>${buildPriceRow(3, 1)}</sheetData></worksheet>`;
    expect(await refusal(bookOf(other))).to.match(/two tables/);
  });

  it('refuses a date as an amount, whatever its format', async () => {
    const formats = [
      [14, null],
      [22, null],
      [46, null],
      [164, 'dd\\-mmm\\-yyyy'],
      [165, '[$-421]d mmmm'],
      [166, '[h]:mm'],
      [167, '"Rp" #,##0;[Red]\\-"Rp" #,##0'],
      [168, '[$Rp-421]#,##0_);\\d#,##0'],
      [3, null],
    ] as const;
    const styles =
      `<styleSheet><numFmts>${formats.map(([id, code]) => (code === null ? '' : `<numFmt numFmtId="${id}" formatCode="${code.replaceAll('"', '&quot;')}"/>`)).join('')}</numFmts>` +
      `<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${formats.map(([id]) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs></styleSheet>`;
    const rows = formats.map((_, n) => row(n + 2, `<c r="C${n + 2}" s="${n}"><v>46154</v></c>`));
    rows.push(row(11, '<c r="C11" t="d"><v>2026-05-11</v></c>'));
    rows.push(row(12, '<c r="C12" s="3"/><c r="D12" s="8"><v>9000</v></c>'));
    const { wanted, refused } = await readPriceFile(bookOf(sheetOf(...rows), { 'xl/styles.xml': styles }));
    expect(refused).to.deep.equal([2, 3, 4, 5, 6, 7, 11].map((line) => ({ line, why: 'is-date' })));
    expect(wanted.map(({ line }) => line)).to.deep.equal([8, 9, 10, 12]);
  });

  it('refuses hidden sheets, rows and columns', async () => {
    const rows = [
      buildPriceRow(2, 1),
      row(3, '<c r="C3"><v>1</v></c>', ' hidden="1"'),
      row(4, '<c r="C4"><v>1</v></c>', ' ht="0" customHeight="1"'),
    ];
    const { wanted, refused } = await read(...rows);
    expect(wanted.map(({ line }) => line)).to.deep.equal([2]);
    expect(refused).to.deep.equal([3, 4].map((line) => ({ line, why: 'is-hidden' })));
    const cols = (hidden: string) =>
      bookOf(sheetOf(buildPriceRow(2, 1)).replace('<sheetData>', `<cols>${hidden}</cols><sheetData>`));
    expect(await refusal(cols('<col min="3" max="9" hidden="true"/>'))).to.match(
      /line 1: its cell C1 is hidden/,
    );
    expect((await readPriceFile(cols('<col min="5" max="9" hidden="1"/>'))).wanted).to.have.length(1);
    for (const state of ['hidden', 'veryHidden']) {
      const tabs = `<workbook><sheets><sheet name="old &amp; gone" state="${state}" r:id="rId7"/><sheet name="new" r:id="rId1"/></sheets></workbook>`;
      expect(await refusal(bookOf(sheetOf(buildPriceRow(2, 1)), { 'xl/workbook.xml': tabs }))).to.match(
        /its first sheet \(old & gone\) is hidden/,
      );
    }
  });

  it('quotes only short, printable parts of the file in a refusal', async () => {
    const name = `a\u202e${'b'.repeat(100_000)}`;
    const tabs = `<workbook><sheets><sheet name="${name}" state="hidden" r:id="rId7"/></sheets></workbook>`;
    for (const message of [
      await refusal(bookOf(sheetOf(buildPriceRow(2, 1)), { 'xl/workbook.xml': tabs })),
      await refusalOf(row(2, `<c r="${name}"><v>1</v></c>`)),
    ]) {
      expect(message.length).to.be.below(250);
      expect(message).to.include('bbb').and.not.include('\u202e');
    }
  });

  it('refuses malformed XML', async () => {
    for (const sheet of [
      '<worksheet><!-- x',
      '<worksheet><![CDATA[ x',
      '<worksheet><?x',
      '<worksheet>',
      '<worksheet></row>',
      '<!DOCTYPE x [<!ENTITY a "1">]><worksheet/>',
      '<worksheet a=b/>',
      '<worksheet',
      sheetOf(row(2, '<c r="C2"><v>1<x/>0</v></c>')),
    ]) {
      expect(await refusal(bookOf(sheet)), sheet).to.match(/is not valid workbook XML/);
    }
  });

  describe('a small file with very many or deeply nested tags costs little', () => {
    const megabytes = (of: string) => of.repeat(Math.floor((7.9 * 1024 * 1024) / of.length));
    const sheets: Record<string, () => string> = {
      deep: () => megabytes('<a>'),
      many: () => `<worksheet>${megabytes('<a/>')}</worksheet>`,
      pairs: () => `<worksheet>${megabytes('<a></a>')}</worksheet>`,
      rows: () => `<worksheet><sheetData>${megabytes('<row/>')}</sheetData></worksheet>`,
      comments: () => `<worksheet>${megabytes('<!---->')}</worksheet>`,
      entities: () => `<worksheet>${megabytes('&amp;')}</worksheet>`,
      name: () => `<${megabytes('a')}`,
      attributes: () => `<worksheet${megabytes(' a=""')}/>`,
      spaces: () => `<worksheet${megabytes(' ')}/>`,
    };
    const expectedRefusals: Record<string, RegExp> = {
      deep: /elements nest more than/,
      many: /more than .* elements/,
    };
    for (const [what, sheet] of Object.entries(sheets)) {
      it(what, async () => {
        const file = bookOf(sheet());
        const before = process.cpuUsage();
        const message = await refusal(file);
        const { user, system } = process.cpuUsage(before);
        expect((user + system) / 1_000, 'ms of CPU').to.be.below(2_000);
        expect(message).to.match(expectedRefusals[what] ?? /./);
        expect(await measureLongestHoldMs(() => refusal(file)), 'ms of blocking').to.be.below(100);
      });
    }
  });
});
