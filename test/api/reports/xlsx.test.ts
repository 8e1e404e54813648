import { expect } from 'chai';
import { unzipSync } from 'fflate';
import readWorkbook from 'read-excel-file/node';
import { saleColumns } from '../../../src/reports/report-columns.js';
import type { ReportRow } from '../../../src/reports/report-rows.js';
import { createXlsxText } from '../../../src/reports/xlsx.js';

const sale = {
  transaction_id: '018df9e4f1b87c3e9d0a5b6c7d8e9f00',
  code: 'PLN20',
  customer_number: '0812',
  product_name: 'Token',
  price: 20_500,
  commission_amount: 410,
  net_amount: 20_090,
  sn: '12345678901234567890',
  status: 'success' as const,
  timestamp: '2026-11-23T19:05:06.500+07:00',
};

function workbook(pages: ReportRow[][], options: Parameters<typeof createXlsxText>[1] = {}): Buffer {
  const text = createXlsxText(saleColumns, options);
  return Buffer.concat(
    [text.head(), ...pages.map((page) => text.rows(page)), text.tail()].map((each) => Buffer.from(each)),
  );
}

const partsOf = (file: Buffer) =>
  Object.fromEntries(
    Object.entries(unzipSync(file)).map(([name, bytes]) => [name, Buffer.from(bytes).toString()]),
  );

const rowsOf = async (file: Buffer) => (await readWorkbook(file)).map(({ sheet, data }) => ({ sheet, data }));

describe('a report as a workbook', () => {
  it('has texts as texts, numbers as numbers and times as dates of the zone', async () => {
    const file = workbook([[sale]], { zone: 'Asia/Jakarta' });
    const [sheet, ...others] = await rowsOf(file);
    expect(others).to.deep.equal([]);
    expect(sheet?.sheet).to.equal('Asia-Jakarta');
    expect(sheet?.data[0]).to.deep.equal(Object.keys(saleColumns));
    const { timestamp, ...rest } = sale;
    expect(sheet?.data[1]?.slice(0, -1)).to.deep.equal(Object.values(rest));
    // The xlsx reader takes the cell's local time for UTC, so compare it without the offset.
    expect(sheet?.data[1]?.at(-1)).to.deep.equal(new Date(`${timestamp.slice(0, 23)}Z`));
  });

  it('omits empty cells, and no text leaves its cell, runs or breaks the file', async () => {
    const hostile = ['=1+1', '<c><v>1</v></c>', '&amp;', ']]>', '_x0041_', 'a\u0000b\u001bc\ufffe', ' x\ny '];
    const rows = hostile.map((text) => ({ ...sale, product_name: text, sn: null, commission_amount: null }));
    const file = workbook([rows]);
    const xml = partsOf(file)['xl/worksheets/sheet1.xml'] ?? '';
    expect(xml).to.not.match(/<f[ >]|[\u0000-\u0009\u000b-\u001f\ufffe]/);
    expect(xml.match(/<c r="D\d+" t="inlineStr">/g)).to.have.length(1 + hostile.length);
    expect(xml).to.not.match(/<c r="[FH][2-9]"/);
    expect(xml).to.include('>_x005F_x0041_<');
    expect(xml).to.include('>&lt;c&gt;&lt;v&gt;1&lt;/v&gt;&lt;/c&gt;<').and.include('>&amp;amp;<');
    const [sheet] = await rowsOf(file);
    expect(sheet?.data.slice(1).map((row) => row[3])).to.deep.equal(
      // The reader decodes `_x005F_x0041_` as Excel does.
      hostile.map((text) => text.replace(/[\u0000\u001b\ufffe\n]/g, ' ').trim()),
    );
    expect(sheet?.data[1]?.[7]).to.equal(null);
  });

  it('cuts a text longer than an Excel cell', () => {
    const xml = partsOf(workbook([[{ ...sale, product_name: 'x'.repeat(40_000) }]]))[
      'xl/worksheets/sheet1.xml'
    ];
    expect(/x{1000,}/.exec(xml ?? '')?.[0]).to.have.length(32_767);
  });

  it('continues on another sheet when full, each with a frozen header', async () => {
    const rows = Array.from({ length: 7 }, (_, n) => ({ ...sale, price: n }));
    const file = workbook([rows.slice(0, 3), rows.slice(3)], { rowsMax: 4 });
    const sheets = await rowsOf(file);
    expect(sheets.map(({ sheet }) => sheet)).to.deep.equal(['UTC', 'UTC 2', 'UTC 3']);
    expect(sheets.map(({ data }) => data.map((row) => row[4]))).to.deep.equal([
      ['price', 0, 1, 2],
      ['price', 3, 4, 5],
      ['price', 6],
    ]);
    const parts = partsOf(file);
    for (const number of [1, 2, 3]) {
      expect(parts[`xl/worksheets/sheet${number}.xml`])
        .to.include('ySplit="1"')
        .and.include('state="frozen"');
    }
  });

  it('a sheet has at most 1,048,576 rows, and an empty one has its header', async () => {
    expect((await rowsOf(workbook([[]])))[0]?.data).to.deep.equal([Object.keys(saleColumns)]);
    const text = createXlsxText({ a: { kind: 'rupiah' } });
    text.head();
    const row = { a: 1 } as unknown as ReportRow;
    expect(text.rows(Array.from({ length: 1_048_575 }, () => row)).includes('sheet2.xml')).to.equal(false);
    text.rows([row]);
    expect(text.tail().includes('sheet2.xml')).to.equal(true);
  });
});
