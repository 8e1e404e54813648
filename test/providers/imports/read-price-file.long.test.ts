import { expect } from 'chai';
import { strToU8, zipSync } from 'fflate';
import { limits } from '../../../config/limits.js';
import { readPriceFile } from '../../../src/providers/imports/read-price-file.js';
import { readCsvLines } from '../../../src/workbook/csv-lines.js';
import { ValidationError } from '../../../src/shared/errors.js';
import { refusal } from './sheet.js';
import { repeatEntry, setStatedSize, workbookOf, workbookWith } from './workbook.js';

const read = (text: string) => readPriceFile(Buffer.from(text));

describe('the file of a price list', () => {
  it('finds columns by name, in any order and case; an empty cell changes nothing', async () => {
    const { wanted, refused, lines } = await read(
      'Note, PRICE ,code,seller,status,cost\r\nx,10500,S10,grosir,,\r\n,,S20,grosir,Maintenance,9000\r\n',
    );
    expect(refused).to.deep.equal([]);
    expect(lines).to.equal(2);
    expect(wanted).to.deep.equal([
      { line: 2, code: 'S10', seller: 'grosir', price: 10_500 },
      { line: 3, code: 'S20', seller: 'grosir', cost: 9_000, status: 'maintenance' },
    ]);
  });

  it('reads CSV as Excel writes it, and reports line numbers of the file', async () => {
    const { wanted, refused } = await read(
      '\uFEFFcode;seller;price;note\r\n"S;1";"gro""sir";1;"two\r\nlines"\r\n\r\n;;;\r\nS2;grosir;0;\r\nS3;grosir;3',
    );
    expect(wanted).to.deep.equal([
      { line: 2, code: 'S;1', seller: 'gro"sir', price: 1 },
      { line: 7, code: 'S3', seller: 'grosir', price: 3 },
    ]);
    // A price of 0 is invalid.
    expect(refused).to.deep.equal([{ line: 6, why: 'bad-price' }]);
  });

  it('reads CSV with carriage returns as line ends', async () => {
    const { wanted, refused } = await read('code,seller,price\rS1,grosir,1\r\rS2,grosir,2\r');
    expect(refused).to.deep.equal([]);
    expect(wanted.map(({ line, code }) => [line, code])).to.deep.equal([
      [2, 'S1'],
      [4, 'S2'],
    ]);
  });

  it('reads shared strings, numbers, gaps and line numbers of the first sheet', async () => {
    const { wanted, refused } = await readPriceFile(
      workbookOf([
        ['code', 'seller', 'price', 'cost', 'status'],
        ['A<&B', 'grosir', 10_500, null, 'active'],
        [],
        ['S10', 'grosir', null, 9_000, null],
        [20, 'grosir', 10.5, null, null],
      ]),
    );
    expect(wanted).to.deep.equal([
      { line: 2, code: 'A<&B', seller: 'grosir', price: 10_500, status: 'active' },
      { line: 4, code: 'S10', seller: 'grosir', cost: 9_000 },
    ]);
    expect(refused).to.deep.equal([{ line: 5, why: 'bad-price' }]);
  });

  it('refuses each bad line with its reason and reads on', async () => {
    const { wanted, refused } = await read(
      [
        'code,seller,price,cost,status',
        ',grosir,1,,',
        'S1,,1,,',
        'S1,grosir,10.500,,',
        'S1,grosir,-1,,',
        'S1,grosir,9007199254740993,,',
        'S1,grosir,1e4,,',
        'S1,grosir,1,x,',
        'S1,grosir,1,,sold',
        'S1,grosir,,,',
        'S1,grosir,1,,',
        'S1,grosir,2,,',
      ].join('\n'),
    );
    expect(refused).to.deep.equal(
      [
        'no-code',
        'no-seller',
        'bad-price',
        'bad-price',
        'price-too-high',
        'bad-price',
        'bad-cost',
        'bad-status',
        'nothing-said',
      ]
        .map((why, n) => ({ line: n + 2, why }))
        .concat({ line: 12, why: 'repeated' }),
    );
    expect(wanted.map(({ line }) => line)).to.deep.equal([11]);
  });

  it('refuses a price or cost above the maximum and names the field', async () => {
    const max = limits.offerPriceMax;
    const { wanted, refused } = await read(
      `code,seller,price,cost\nS1,grosir,${max},${max}\nS2,grosir,${max + 1},1\nS3,grosir,1,${max + 1}\nS4,grosir,9007199254740991,\nS5,grosir,${'9'.repeat(400)},`,
    );
    expect(wanted).to.deep.equal([{ line: 2, code: 'S1', seller: 'grosir', price: max, cost: max }]);
    expect(refused).to.deep.equal([
      { line: 3, why: 'price-too-high' },
      { line: 4, why: 'cost-too-high' },
      { line: 5, why: 'price-too-high' },
      { line: 6, why: 'price-too-high' },
    ]);
  });

  it('refuses files that are not price lists, with the reason', async () => {
    for (const [file, words] of [
      ['', /first line must name/],
      ['code,price\nS1,1', /first line must name/],
      ['code,seller\nS1,grosir', /first line must name/],
      ['code,seller,price,Price\nS1,grosir,1,2', /names the column price twice/],
      ['code,seller,price\nS1,"grosir,1\nS2,grosir,2', /line 2: a quote/],
      ['code,seller,price\nS1,gro"sir,1', /line 2: a quote/],
      [Buffer.from([0x63, 0xff, 0xfe]), /UTF-8/],
      [Buffer.from('PK\u0003\u0004 no zip'), /cannot be unpacked/],
      [Buffer.from(zipSync({ 'other.txt': strToU8('x') })), /no sheet/],
    ] as const) {
      expect(await refusal(file)).to.match(words);
    }
  });

  it('accepts 10,000 lines and 5 MB at most, and does not unpack a zip bomb', async () => {
    const row = (n: number) => `S${n},grosir,1`;
    const rows = (of: number) =>
      ['code,seller,price', ...Array.from({ length: of }, (_, n) => row(n))].join('\n');
    expect((await read(rows(limits.priceFileLinesMax))).wanted).to.have.length(limits.priceFileLinesMax);
    expect(await refusal(rows(limits.priceFileLinesMax + 1))).to.match(/more than 10000 lines/);
    expect(await refusal(Buffer.alloc(limits.priceFileBytesMax + 1, 'x'))).to.match(/5000001 bytes/);
    const bomb = workbookWith(new Uint8Array(21 * 1024 * 1024));
    expect(bomb.length).to.be.below(100_000);
    expect(await refusal(bomb)).to.match(/too large/);
  });

  it('unpacks only the first sheet, however many there are', async () => {
    const sheet = strToU8('<sheetData><row r="1"><c t="str"><v>code</v></c></row></sheetData>');
    const large = new Uint8Array(7 * 1024 * 1024);
    const others = Array.from({ length: 40 }, (_, n): [string, Uint8Array] => [
      `xl/worksheets/sheet${n + 3}.xml`,
      large,
    ]);
    const file = workbookWith(sheet, Object.fromEntries(others));
    const before = process.memoryUsage().arrayBuffers;
    expect(await refusal(file)).to.match(/first line must name/);
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(20 * 1024 * 1024);
  });

  it('refuses at once a part that is listed twice or larger than stated', async () => {
    const part = 'xl/worksheets/sheet2.xml';
    const again = repeatEntry(workbookWith(strToU8(' '.repeat(8 * 1024 * 1024))), part, 2_000);
    const larger = setStatedSize(workbookWith(new Uint8Array(100 * 1024 * 1024)), part, 1_000);
    const began = performance.now();
    expect(await refusal(again)).to.match(/twice/);
    expect(await refusal(larger)).to.match(/too large/);
    expect(performance.now() - began).to.be.below(2_000);
  });

  it('yields while it reads a workbook, and stops at the maximum number of lines', async () => {
    const row = `<row><c t="inlineStr"><is><t>S1</t></is></c><c t="str"><v>grosir</v></c><c><v>1</v></c></row>`;
    const head = `<row>${['code', 'seller', 'price'].map((name) => `<c t="str"><v>${name}</v></c>`).join('')}</row>`;
    const long = workbookWith(strToU8(`<sheetData>${head}${row.repeat(70_000)}</sheetData>`));
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    expect(await refusal(long)).to.match(/more than 10000 lines/);
    expect(turns, 'pauses').to.be.at.least(2);
    clearInterval(timer);
    const cells = workbookWith(
      strToU8(`<sheetData><row>${'<c><v>1</v></c>'.repeat(100_000)}</row></sheetData>`),
    );
    expect(await refusal(cells)).to.match(/more than 1000 cells/);
  });

  it('truncates long texts, also when many cells share one string', async () => {
    const large = 'x'.repeat(1024 * 1024);
    const head = ['code', 'seller', 'price'].map((name) => `<c t="str"><v>${name}</v></c>`).join('');
    const row = '<row><c t="s"><v>0</v></c><c t="s"><v>0</v></c><c><v>1</v></c></row>';
    const file = workbookWith(strToU8(`<sheetData><row>${head}</row>${row.repeat(50)}</sheetData>`), {
      'xl/sharedStrings.xml': strToU8(`<sst><si><t>${large}</t></si></sst>`),
    });
    const { wanted, refused } = await readPriceFile(file);
    expect(wanted.map(({ code, seller }) => [code.length, seller.length])).to.deep.equal([[1_000, 1_000]]);
    expect(refused).to.have.length(49);
  });

  it('refuses a boolean as price, and numbers a line without a number as the next one', async () => {
    const cells = (...values: string[]) => values.map((value) => `<c t="str"><v>${value}</v></c>`).join('');
    const rows = [
      `<row r="1">${cells('code', 'seller', 'price')}</row>`,
      `<row r="x">${cells('S1', 'grosir')}<c t="b"><v>1</v></c></row>`,
      `<row r="7">${cells('S2', 'grosir')}<c><v>1000</v></c></row>`,
    ];
    const { wanted, refused } = await readPriceFile(
      workbookWith(strToU8(`<sheetData>${rows.join('')}</sheetData>`)),
    );
    expect(refused).to.deep.equal([{ line: 2, why: 'bad-price' }]);
    expect(wanted).to.deep.equal([{ line: 7, code: 'S2', seller: 'grosir', price: 1_000 }]);
  });

  it('yields to the event loop while it reads, whatever the content', async () => {
    for (const filler of ['\n', `${','.repeat(900)}\n`]) {
      let turns = 0;
      const timer = setInterval(() => (turns += 1), 1);
      const text = `code,seller,price\n${filler.repeat(limits.priceFileBytesMax / filler.length - 20)}`;
      await read(text).catch((error: unknown) => expect(error).to.be.instanceOf(ValidationError));
      clearInterval(timer);
      expect(turns, JSON.stringify(filler.slice(0, 9))).to.be.at.least(2);
    }
  });

  it('takes time linear in the file size, whatever the content', async () => {
    for (const nasty of ['<row', '<row><c', '<c r="', '&#', '<t ']) {
      const sheet = strToU8(nasty.repeat(400_000));
      const began = performance.now();
      await refusal(workbookWith(sheet));
      expect(performance.now() - began, nasty).to.be.below(10_000);
    }
    const began = performance.now();
    await refusal(`code,seller,price\n${'"'.repeat(1_000_001)}`);
    await refusal(`code,seller,price\n${'"a'.repeat(500_000)}`);
    expect(performance.now() - began).to.be.below(10_000);
  });

  it('detects the separator from the first line, even with an unclosed quote later', () => {
    const text = `code;seller;price\n${'S1;grosir;1\n'.repeat(400_000)}"`;
    const tookMs = [1, 2, 3].map(() => {
      const began = performance.now();
      expect(readCsvLines(text).next().value).to.deep.equal({ line: 1, cells: ['code', 'seller', 'price'] });
      return performance.now() - began;
    });
    expect(Math.min(...tookMs)).to.be.below(20);
    for (const [head, cells] of [
      ['"a,b";c\nd,e', ['a,b', 'c']],
      ['"a;""b";c', ['a;"b', 'c']],
      ['a;"b\nc,d";e\nf,g', ['a', 'b\nc,d', 'e']],
      ['a;b,c', ['a;b', 'c']],
    ] as const) {
      expect(readCsvLines(head).next().value?.cells).to.deep.equal(cells);
    }
  });
});
