/** Bank statements in the formats that Indonesian banks export. */
import { expect } from 'chai';
import { DateTime } from 'luxon';
import { limits } from '../../../config/limits.js';
import { parseAmount, parseDay } from '../../../src/deposits/bank/bank-cells.js';
import { buildSearchName, findNames } from '../../../src/deposits/bank/find-named-deposits.js';
import { readBankStatement } from '../../../src/deposits/bank/read-bank-statement.js';
import { ValidationError } from '../../../src/shared/errors.js';
import { measureLongestHoldMs } from '../../support/measure-longest-hold.js';

const today = DateTime.now().setZone('Asia/Jakarta');
const at = (format: string, days = 1) => today.minus({ days }).toFormat(format);
const yesterday = at('yyyy-MM-dd');
const read = (...lines: string[]) => readBankStatement(Buffer.from(lines.join('\r\n')));
const incoming = async (...lines: string[]) =>
  (await read(...lines)).incoming.map(({ day, amount, description }) => ({ day, amount, description }));
const problemOf = async (reading: Promise<unknown>) => {
  const error = await reading.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).to.be.instanceOf(ValidationError);
  return (error as ValidationError).message;
};

describe('bank statement formats', () => {
  it('BCA: a preamble, apostrophes, unnamed CR/DB column, totals below', async () => {
    const statement = await read(
      'Informasi Rekening - Mutasi Rekening',
      ',',
      "No. rekening : ,'1234567890",
      'Nama : ,PT PULSA JAYA',
      `Periode : ,${at('dd/MM/yyyy', 5)} - ${at('dd/MM/yyyy', 0)}`,
      'Tanggal Transaksi,Keterangan,Cabang,Jumlah,,Saldo',
      `'${at('dd/MM/yyyy')},TRSF E-BANKING CR 2311/FTSCY/WS95031      DEP-0001       BUDI,'0000,"1,250,123.00",CR,"9,250,123.00"`,
      `'${at('dd/MM')},BIAYA ADM,'0000,"15,000.00",DB,"9,235,123.00"`,
      `PEND,TRSF E-BANKING CR SITI,'0000,"60,000.00",CR,"9,295,123.00"`,
      'Saldo Awal,:,"8,000,000.00"',
      'Mutasi Kredit,:,"1,310,123.00",2',
    );
    expect(statement.incoming).to.have.length(1);
    expect(statement.incoming[0]).to.include({
      line: 7,
      day: yesterday,
      amount: 1_250_123,
      description: 'TRSF E-BANKING CR 2311/FTSCY/WS95031 DEP-0001 BUDI',
    });
    expect(statement).to.deep.include({ outgoing: 1, others: 2, refused: [{ line: 9, why: 'not-booked' }] });
  });

  it('Mandiri: semicolons, BOM, two descriptions, separate debit and credit', async () => {
    expect(
      await incoming(
        '\uFEFFAccount No;Date;Val. Date;Transaction Code;Description;Description;Reference No.;Debit;Credit;',
        `1230001;${at('dd/MM/yy')};${at('dd/MM/yy')};1234;"TRANSFER DARI ""BUDI""";DEP-0002;99;0,00;250.123,00;`,
        `1230001;${at('dd/MM/yy')};${at('dd/MM/yy')};1234;BIAYA;;98;6.500,00;0,00;`,
      ),
    ).to.deep.equal([{ day: yesterday, amount: 250_123, description: 'TRANSFER DARI "BUDI" DEP-0002 99' }]);
  });

  it('BRI: yyyy-mm-dd with time, decimal points, empty cells', async () => {
    expect(
      await incoming(
        'TGL_TRAN,DESK_TRANSAKSI,MUTASI_DEBET,MUTASI_KREDIT,SALDO',
        `${yesterday} 08:15:00,TRANSFER EDC DEP-0003,,60000.00,160000.00`,
        `${yesterday} 08:16:00,TARIK TUNAI,50000.00,,110000.00`,
      ),
    ).to.deep.equal([{ day: yesterday, amount: 60_000, description: 'TRANSFER EDC DEP-0003' }]);
  });

  it('BNI: an amount with a D/K column, month names, tabs', async () => {
    expect(
      await incoming(
        ['Posting Date', 'Branch', 'Description', 'Amount', 'DB/CR', 'Balance'].join('\t'),
        [at('dd-LLL-yy'), 'JKT', 'TRF DEP-0004', '75,001.00', 'C', '1'].join('\t'),
        [at('dd-LLL-yy'), 'JKT', 'PAJAK', '1,000.00', 'D', '1'].join('\t'),
      ),
    ).to.deep.equal([{ day: yesterday, amount: 75_001, description: 'TRF DEP-0004' }]);
  });

  it('reads a direction in the amount, and refuses a line without one', async () => {
    const statement = await read(
      'Tanggal,Uraian,Nominal',
      `${yesterday},a,"60,000.00 CR"`,
      `${yesterday},b,"60,000.00DB"`,
      `${yesterday},c,+60.001`,
      `${yesterday},d,-60.001`,
      `${yesterday},e,"(60,002)"`,
      `${yesterday},f,60003`,
      `${yesterday},g,60.0000`,
      `31/02/2026,h,+60004`,
      `${at('yyyy-MM-dd', limits.bankLineAgeMaxDays + 1)},i,+60005`,
      `${at('yyyy-MM-dd', -3)},j,+60006`,
      `${yesterday},k,"+60007,50"`,
    );
    expect(statement.incoming.map(({ amount }) => amount)).to.deep.equal([60_000, 60_001]);
    expect(statement.outgoing).to.equal(3);
    expect(statement.refused).to.deep.equal([
      { line: 7, why: 'no-direction', column: 'Nominal' },
      { line: 8, why: 'bad-amount', column: 'Nominal' },
      { line: 9, why: 'bad-date', column: 'Tanggal' },
      { line: 10, why: 'too-old' },
      { line: 11, why: 'bad-date', column: 'Tanggal' },
      { line: 12, why: 'bad-amount', column: 'Nominal' },
    ]);
  });

  it('never reads contradictory directions as incoming', async () => {
    const ownColumn = await read(
      'Tanggal,Keterangan,Jumlah,DB/CR',
      `${yesterday},taken back,"-101.002,00",CR`,
      `${yesterday},taken back,"101.002,00 DB",CR`,
      `${yesterday},taken back,"(101.004,00)",K`,
    );
    expect([ownColumn.incoming, ownColumn.refused.map(({ why }) => why)]).to.deep.equal([
      [],
      ['no-direction', 'no-direction', 'no-direction'],
    ]);
    const within = await read(
      'Tanggal,Keterangan,Kredit',
      `${yesterday},taken back,"-101.003,00 CR"`,
      `${yesterday},taken back,"(101.003,00) CR"`,
      `${yesterday},taken back,"-101.003,00"`,
    );
    expect([within.incoming, within.refused.map(({ why }) => why)]).to.deep.equal([
      [],
      ['bad-amount', 'bad-amount'],
    ]);
  });

  it('refuses a whole file with month-first dates', async () => {
    const year = yesterday.slice(0, 4);
    expect(
      await problemOf(read('Date,Description,Credit', `01/02/${year},a,1000`, `01/23/${year},b,1000`)),
    ).to.include('line 3: its dates have the month first');
    // Any row can reveal the date format: an outgoing payment, an unreadable amount, or a date
    // without a year.
    for (const row of [`01/23/${year},b,,1000`, `01/23/${year},b,x,`, '01/23,b,1000,']) {
      expect(
        await problemOf(read('Date,Description,Credit,Debit', `01/02/${year},a,1000,`, row)),
        row,
      ).to.include('line 3: its dates have the month first');
    }
  });

  it('reports its days, and whether the order of day and month is proven by a row', async () => {
    const head = 'Tanggal,Keterangan,Kredit,Debit';
    const daysOf = async (...rows: string[]) => (await read(head, ...rows)).days;
    const [month, other] = [today.minus({ months: 1 }), today.minus({ months: 2 })];
    const name = (of: DateTime, day: number) => of.set({ day }).toFormat('yyyy-MM-dd');
    const [early, late] = [
      other.set({ day: 9 }).toFormat('dd/MM/yyyy'),
      month.set({ day: 8 }).toFormat('dd/MM/yyyy'),
    ];
    const range = { first: name(other, 9), last: name(month, 8) };
    const unsure = [`${late},a,1000,`, `${early},b,1000,`];
    const differs = month.month !== 8 || other.month !== 9;
    expect(await daysOf(...unsure)).to.deep.equal({ ...range, isOrderTold: !differs });
    const proof = month.set({ day: 28 }).toFormat('dd/MM/yyyy');
    expect(await daysOf(...unsure, `${proof},out,,500`)).to.deep.equal({ ...range, isOrderTold: true });
    expect(await daysOf(`${yesterday},a,1000,`)).to.deep.equal({
      first: yesterday,
      last: yesterday,
      isOrderTold: true,
    });
    expect(await daysOf(`${yesterday},a,,500`)).to.equal(null);
  });

  it('two equal lines are two payments, with the same keys in every export', async () => {
    const one = await read(
      'Tanggal,Keterangan,Kredit,Debit',
      `${yesterday},Transfer  budi,60000,`,
      `${yesterday},TRANSFER BUDI,60000,`,
    );
    const other = await read(
      'Date;Debit;Credit;Description',
      `${at('dd/MM/yyyy', 2)};;"60.000,00";Transfer Budi`,
      `${at('dd/MM/yyyy')};;"60.000,00";Transfer Budi`,
      `${at('dd/MM/yyyy')};;"60.000,00";Transfer Budi`,
      `${at('dd/MM/yyyy')};;"60.000,00";Transfer Budi`,
    );
    const [first, second] = one.incoming.map(({ key }) => key);
    expect(first).to.not.equal(second);
    const keys = other.incoming.map(({ key }) => key);
    expect(new Set(keys).size).to.equal(4);
    expect(keys.slice(1, 3)).to.deep.equal([first, second]);
  });

  it('names missing columns, and reports a file that is not CSV', async () => {
    expect(await problemOf(read('Tanggal,Saldo', '1,2')))
      .to.include('Keterangan')
      .and.to.include('Kredit or Credit')
      .and.to.not.include('Tgl');
    expect(await problemOf(read('Keterangan,Jumlah', '1,2'))).to.include('the date (Tanggal, Tgl, Date)');
    expect(await problemOf(read('')))
      .to.include('the date')
      .and.to.include('the amount');
    expect(await problemOf(read('Tanggal,Keterangan,Kredit,KREDIT', `${yesterday},a,1000,2000`))).to.include(
      'line 1 names the column kredit twice',
    );
    const head = 'Tanggal,Keterangan,Kredit';
    expect(await problemOf(read(head, '"open'))).to.include('line 2: a quote is not closed');
    for (const long of ['x'.repeat(32_768), `"${'x'.repeat(32_766)}"`]) {
      expect(await problemOf(read(head, long))).to.include('line 2: it has a cell of more than 32767');
    }
    expect(await problemOf(readBankStatement(Buffer.from([0xff, 0xfe, 0x41])))).to.include('UTF-8');
    for (const [start, what] of [
      ['PK\u0003\u0004', 'a workbook (.xlsx)'],
      ['PK\u0003\u0004 mimetypeapplication/vnd.oasis.opendocument.spreadsheet', '(.ods)'],
      ['\u00d0\u00cf\u0011\u00e0', '(.xls)'],
      ['%PDF-1.7', 'a PDF'],
      ['<?xml version="1.0"?><Workbook>', 'Excel 2003'],
    ] as const) {
      const problem = await problemOf(readBankStatement(Buffer.from(start, 'latin1')));
      expect(problem).to.include(what).and.to.include('CSV');
    }
    expect(await problemOf(readBankStatement(Buffer.alloc(limits.bankStatementBytesMax + 1)))).to.include(
      'bytes',
    );
    const long = Array.from({ length: limits.bankStatementLinesMax + 1 }, () => `${yesterday},x,60000`);
    expect(await problemOf(read(head, ...long))).to.include('fewer days');
    expect((await read(head, ...long.slice(1))).incoming).to.have.length(limits.bankStatementLinesMax);
  });

  it('10 MB of any content never block the event loop for 100 ms', async () => {
    const size = limits.bankStatementBytesMax;
    const head = 'Tanggal,Keterangan,Kredit\n';
    const line = `${yesterday},${'TRSF E-BANKING CR 2311 BUDI SANTOSO '.repeat(13).slice(0, 470)},60000\n`;
    const files = {
      lines: head + line.repeat(Math.floor((size - head.length) / line.length)),
      'one cell': `${head}"${'""'.repeat(size / 2 - 40)}"`,
      'a quote that is not closed': `${head}"${'x""'.repeat(size / 3 - 40)}`,
      'empty lines': head + '\n'.repeat(size - head.length),
      'empty cells': head + ','.repeat(size - head.length),
      'no heading': 'x;y,'.repeat(size / 4),
      digits: `${head}${yesterday},x,${'1.'.repeat(size / 2 - 40)}`,
      'a long day': `${head}${'1'.repeat(size - 60)},x,1`,
      spaces: `${head}${yesterday},${' '.repeat(size - 60)},1`,
      'long headings': `${'x'.repeat(32_000)},`.repeat(size / 32_001),
      'rows of long headings': `${`${'x'.repeat(90)},`.repeat(900)}\n`.repeat(size / 81_901),
    };
    for (const [what, text] of Object.entries(files)) {
      const bytes = Buffer.from(text);
      expect(bytes.length, what).to.be.at.most(size);
      const heldMs = await measureLongestHoldMs(() =>
        readBankStatement(bytes).catch((error: unknown) => {
          expect(error, what).to.be.instanceOf(ValidationError);
        }),
      );
      expect(heldMs, what).to.be.lessThan(100);
    }
  });
});

describe('cells of bank statements', () => {
  it('reads a date as Indonesian banks write it, or not at all', () => {
    for (const [text, day] of [
      ['2026-11-23', '2026-11-23'],
      ['2026/11/23 10:15', '2026-11-23'],
      ['20261123', '2026-11-23'],
      ['23/11/2026', '2026-11-23'],
      ["'3-1-26", '2026-01-03'],
      ['23.11.2026 10:15:00', '2026-11-23'],
      ['23 Agu 2026', '2026-08-23'],
      ['1 Oktober 2026', '2026-10-01'],
      ['05-Des-25', '2025-12-05'],
      ['22/11', '2026-11-22'],
      ['25/11', '2025-11-25'],
      ['29/02', null],
      ['11/23/2026', null],
      ['31/02/2026', null],
      ['23 Foo 2026', null],
      ['202611231', null],
      ['1/2/3/4', null],
      ['Saldo Awal', null],
      ['', null],
      ['27 Agt 2026', '2026-08-27'],
      ['27-Ags-26', '2026-08-27'],
      ['27 Nop 2025', '2025-11-27'],
      ['1 Pebruari 2026', '2026-02-01'],
      ['1 Mart 2026', '2026-03-01'],
      ['27 Sept. 2026 10.15', '2026-09-27'],
      ['27 Okt 10:15', '2026-10-27'],
      ['27Nov2025', '2025-11-27'],
      ['Nov 27, 2025', '2025-11-27'],
      ["Jum'at, 20/11/2026", '2026-11-20'],
      ['Jum 20 Nov 2026', '2026-11-20'],
      ['Kam, 20/11/2026', null],
      ['2026-11-22T17:30:00Z', '2026-11-23'],
      ['2026-11-22 23:30 WIB', '2026-11-22'],
      ['2026-11-23 00:30 WITA', '2026-11-22'],
      ['2026-11-22T23:30:00+0700', '2026-11-22'],
      ['23/11/2026 25:00', null],
      ['23/11/2026 TRSF', null],
      ['23/11/20261', null],
      ['23/11-2026', null],
      ['27/11/2026,TOKO,,500001', null],
    ] as const) {
      expect(parseDay(text, '2026-11-23'), text).to.equal(day);
    }
  });

  it('reads an amount in either notation, and refuses an ambiguous one', () => {
    for (const [text, amount, direction] of [
      ['1.250.123,00', 1_250_123, null],
      ['1,250,123.00', 1_250_123, null],
      ['1250123', 1_250_123, null],
      ['1250123.0', 1_250_123, null],
      ['1.250', 1_250, null],
      ['Rp 1.250.123,-', 1_250_123, null],
      ['Rp1.250.123', 1_250_123, null],
      ['IDR 60,000.00 CR', 60_000, 'in'],
      ['60.000,00 K', 60_000, 'in'],
      ['60.000 DB', 60_000, 'out'],
      ['-60000', 60_000, 'out'],
      ['60000-', 60_000, 'out'],
      ['(60,000.00)', 60_000, 'out'],
      ['+60000', 60_000, 'in'],
    ] as const) {
      expect(parseAmount(text), text).to.deep.equal({ amount, direction });
    }
    for (const text of ['1.250', '1.250,00', '60000,00']) {
      expect(parseAmount(text, '.'), text).to.equal(null);
    }
    for (const text of [
      '1.250.00',
      '12,34,567',
      '1,25',
      '60000,50',
      '1.250,123',
      '250000.000',
      '6O000',
      '',
      '.',
      '.00',
      '150K',
      '-60000 CR',
      '(60000) CR',
      '+60000 DB',
      '0.100',
      '60000 XX',
      '(60000',
      '1e5',
      '99999999999999999999',
    ]) {
      expect(parseAmount(text), text).to.equal(null);
    }
  });

  it('finds a reference in any notation, as whole words only', () => {
    const has = (description: string, reference: string, isWhole = true) =>
      findNames({ description, isWhole }).has(buildSearchName(reference) ?? '');
    expect(has('TRSF CR 2311 DEP-0001 BUDI', 'dep-0001')).to.equal(true);
    expect(has('TRSF CR 2311/DEP0001/BUDI', 'dep-0001')).to.equal(true);
    expect(has('trsf dep 0001 budi', 'DEP_0001')).to.equal(true);
    expect(has('TRSF DEP-00012', 'DEP-0001')).to.equal(false);
    expect(has('TRSF XDEP-0001', 'DEP-0001')).to.equal(false);
    expect(has('TRSF DEP-0001 BUDI DEP-0002', 'DEP-0001', false)).to.equal(true);
    expect(has('TRSF DEP-0001 BUDI DEP-0002', 'DEP-0002', false), 'a word that may continue').to.equal(false);
    expect(buildSearchName('dep-1')).to.equal(null);
    expect(buildSearchName('23112026')).to.equal(null);
    expect(buildSearchName('2311202600')).to.equal('2311202600');
  });
});
