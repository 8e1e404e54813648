/** Lines that a naive reader reads wrongly. A value is understood, or its line is refused. */
import { expect } from 'chai';
import { DateTime } from 'luxon';
import { readBankStatement } from '../../../src/deposits/bank/read-bank-statement.js';
import { ValidationError } from '../../../src/shared/errors.js';

const today = DateTime.now().setZone('Asia/Jakarta');
const at = (format: string, days = 1) => today.minus({ days }).toFormat(format);
const day = at('dd/MM/yyyy');
const read = (...lines: string[]) => readBankStatement(Buffer.from(lines.join('\n')));
const problemOf = async (...lines: string[]) => {
  const error = await read(...lines).catch((thrown: unknown) => thrown);
  expect(error).to.be.instanceOf(ValidationError);
  return (error as ValidationError).message;
};
const head = 'Tanggal,Keterangan,Debit,Kredit,Saldo';

describe('lines of bank statements that could be misread', () => {
  it('a line with more or fewer cells than headings is refused, the others are read', async () => {
    const statement = await read(
      head,
      `${day},PEMBAYARAN PT MITRA,,777001,,1000000`,
      `${day},BAYAR INV 10,500,,500071,1`,
      `${day},BAYAR INV 10,500071,1`,
      `${day},TRSF,,500002,1`,
      'Saldo Akhir,1000000',
    );
    expect(statement.refused).to.deep.equal([
      { line: 2, why: 'bad-cells' },
      { line: 3, why: 'bad-cells' },
      { line: 4, why: 'bad-cells' },
    ]);
    expect(statement.incoming.map(({ line, amount }) => [line, amount])).to.deep.equal([[5, 500_002]]);
    expect([statement.outgoing, statement.others]).to.deep.equal([0, 1]);
  });

  it('cells after the headings count only if every line ends like the headings', async () => {
    const semicolons = await read(
      'Tanggal;Keterangan;Debit;Kredit;',
      `${day};A;;1001;`,
      `${day};B;;1002`,
      `${day};C, D;1003;;x`,
      `${day};E;;1004;;`,
    );
    expect(semicolons.incoming.map(({ amount }) => amount)).to.deep.equal([1_001]);
    expect(semicolons.refused.map(({ line }) => line)).to.deep.equal([3, 4, 5]);
  });

  it('KlikBCA leaves texts unquoted: cells are counted from the right, or refused', async () => {
    for (const headings of [
      'Date,Description,Branch,Amount,,Balance',
      'Tanggal Transaksi,Keterangan,Cabang,Jumlah,,Saldo',
    ]) {
      const statement = await read(
        headings,
        `'${day},TRSF E-BANKING CR TOPUP9 TOKO DUA, CV,'0000,250123.00,CR,1042939.96`,
        `'${day},TRSF E-BANKING CR TOPUP8,'0000,250,124.00,CR,1042939.96`,
        `'${day},TRSF E-BANKING CR TOPUP7, A, B,'0000,250125.00,DB,1042939.96`,
        `'${day},TRSF E-BANKING CR TOPUP6,250126.00,CR,1042939.96`,
      );
      expect(statement.incoming.map(({ amount, description }) => [amount, description])).to.deep.equal([
        [250_123, 'TRSF E-BANKING CR TOPUP9 TOKO DUA, CV'],
      ]);
      expect(statement.outgoing).to.equal(1);
      expect(statement.refused).to.deep.equal([
        { line: 3, why: 'bad-cells' },
        { line: 5, why: 'bad-cells' },
      ]);
    }
  });

  it('Mandiri MCM: .00 is no amount, and both descriptions are read', async () => {
    const { incoming, outgoing } = await read(
      'Account No,Date,Val. Date,Transaction Code,Description,Description,Reference No.,Debit,Credit',
      `1370000123456,${at('dd/MM/yy')},${at('dd/MM/yy')},7820,"TRSF","TOPUP1",,".00","141,300.00"`,
      `1370000123456,${at('dd/MM/yy')},${at('dd/MM/yy')},7820,"FEE","X",,"6,500.00",".00"`,
    );
    expect(incoming).to.have.length(1);
    expect(incoming[0]).to.include({ amount: 141_300, description: 'TRSF TOPUP1', day: at('yyyy-MM-dd') });
    expect(outgoing).to.equal(1);
  });

  it('BRI: the reference may stand in any remark column', async () => {
    const { incoming, refused } = await read(
      'ID,NOREK,TGL_TRAN,TGL_EFEKTIF,JAM_TRAN,SEQ,DESK_TRAN,SALDO_AWAL_MUTASI,MUTASI_DEBET,MUTASI_KREDIT,SALDO_AKHIR_MUTASI,GLSIGN,TRUSER,KODE_TRAN,KODE_TRAN_TELLER,TRREMK,TLBDS1,TLBDS2,REMARK_CUSTOM',
      `1,000001,${at('yyyy-MM-dd')} 08:15:00,,081500,1,NBMB,1.00,0.00,60001.00,1.00,Cr,U,1,1,REF-A1,,,`,
      `2,000001,${at('yyyy-MM-dd')} 08:16:00,,081600,2,NBMB,1.00,0.00,60002.00,1.00,Cr,U,1,1,,REF-B2,REF-C3,REF-D4`,
      `3,000001,${at('yyyy-MM-dd')} 08:17:00,,081700,3,NBMB,1.00,0.00,60003.00,1.00,Db,U,1,1,,,,`,
    );
    expect(incoming.map(({ amount, description }) => [amount, description])).to.deep.equal([
      [60_001, 'NBMB REF-A1'],
      [60_002, 'NBMB REF-B2 REF-C3 REF-D4'],
    ]);
    expect(refused.map(({ line, why }) => [line, why])).to.deep.equal([[4, 'no-direction']]);
  });

  it('Mandiri Kopra: months by name, both texts, a column of currencies', async () => {
    const { incoming, refused } = await read(
      'AccountNo;Ccy;PostDate;Remarks;AdditionalDesc;Credit Amount;Debit Amount;Close Balance',
      `137;IDR;${at('dd')} ${today.minus({ days: 1 }).toFormat('LLLL')} ${at('yyyy')} 09:34:53;TRSF;TOPUP2;141300.00;0.00;1.00`,
      `137;USD;${day};TRSF;TOPUP3;60000.00;0.00;1.00`,
      `137;;${day};TRSF;TOPUP4;60000.00;0.00;1.00`,
    );
    expect(incoming.map(({ amount, description }) => [amount, description])).to.deep.equal([
      [141_300, 'TRSF TOPUP2'],
    ]);
    expect(refused).to.deep.equal([
      { line: 3, why: 'not-idr', column: 'Ccy' },
      { line: 4, why: 'not-idr', column: 'Ccy' },
    ]);
  });

  it('refuses a statement whose preamble or headings name another currency', async () => {
    for (const above of [
      'Currency : USD',
      'Currency,:,USD',
      'Kode Mata Uang : US Dollar',
      'No. Rekening : 123 (SGD)',
      'Mata Uang,Saldo\nUSD,1000',
    ]) {
      expect(await problemOf(above, head, `${day},a,,60000,1`), above).to.include('not IDR');
    }
    expect(await problemOf('Date,Description,Debit (USD),Credit (USD)', `${day},a,,1`)).to.include('not IDR');
    expect(await problemOf(head, `${day},a,,1,1`, 'Currency: USD', `${day},b,,2,1`)).to.include('not IDR');
    for (const above of [
      'Kode Mata Uang : Rp',
      'Currency,:,IDR',
      'Nama Rekening : PT USD JAYA',
      'Mata Uang : Rupiah (IDR)',
    ]) {
      expect((await read(above, head, `${day},a,,60000,1`)).incoming, above).to.have.length(1);
    }
    const { refused } = await read(head, `${day},a,,"USD 60,000.00",1`);
    expect(refused).to.deep.equal([{ line: 2, why: 'not-idr', column: 'Kredit' }]);
  });

  it('a line with a stray quote is read or refused alone', async () => {
    const statement = await read(
      head,
      `${day},TRSF DARI TOKO "MAJU" TOPUP1,,500001,1`,
      `${day},"TRSF DARI TOKO "MAJU" TOPUP2",,500002,1`,
      `${day},"TRSF DARI TOKO MAJU,,500003,1`,
      `${day},TRSF DARI TOKO",,500004,1`,
      `${day},"TRSF, ""MAJU""",,500005,1`,
      `${day},"dua\nbaris",,500006,1`,
    );
    expect(statement.incoming.map(({ amount }) => amount)).to.deep.equal([
      500_001, 500_004, 500_005, 500_006,
    ]);
    expect(statement.incoming[0]?.description).to.equal('TRSF DARI TOKO "MAJU" TOPUP1');
    expect(statement.refused).to.deep.equal([
      { line: 3, why: 'bad-quote' },
      { line: 4, why: 'bad-quote' },
    ]);
  });

  it('lists outgoing lines and lines without an amount', async () => {
    const { outgoingLines, otherLines } = await read(
      head,
      `${day},KOREKSI TRSF TOPUP-REV-1,500011,,1`,
      `${day},CATATAN,,,1`,
      'Saldo Akhir,1000000',
      '',
    );
    expect(outgoingLines).to.deep.equal([
      { line: 2, day: at('yyyy-MM-dd'), amount: 500_011, description: 'KOREKSI TRSF TOPUP-REV-1' },
    ]);
    expect(otherLines).to.deep.equal([
      { line: 3, text: `${day} CATATAN 1` },
      { line: 4, text: 'Saldo Akhir 1000000' },
    ]);
  });

  it('a refused value names its column', async () => {
    const { refused } = await read(head, `${day},a,,6O000,1`, `31/02/2026,b,,60000,1`, `${day},c,500,500,1`);
    expect(refused).to.deep.equal([
      { line: 2, why: 'bad-amount', column: 'Kredit' },
      { line: 3, why: 'bad-date', column: 'Tanggal' },
      { line: 4, why: 'bad-amount', column: 'Kredit' },
    ]);
  });

  it('refuses lines whose status is not final, and columns that repeat', async () => {
    const { incoming, refused } = await read(
      'Tanggal,Keterangan,Kredit,Status',
      `${day},a,1001,Berhasil`,
      `${day},b,1002,Gagal`,
      `${day},c,1003,Pending`,
      `${day},d,1004,`,
    );
    expect(incoming.map(({ amount }) => amount)).to.deep.equal([1_001]);
    expect(refused.map(({ line, why }) => [line, why])).to.deep.equal([
      [3, 'not-booked'],
      [4, 'not-booked'],
      [5, 'not-booked'],
    ]);
    expect(await problemOf('Tanggal,Keterangan,Kredit,Credit', `${day},a,1,2`)).to.include('twice');
  });

  it('payments below the title of held ones are not booked, with the same headings', async () => {
    const held = ['Transaksi Tertunda', head, `${day},A,,1001,1`];
    const booked = ['Transaksi Dibukukan', head, `${day},B,,1002,1`, ',PENDING,,,', `${day},C,,1003,1`];
    for (const rows of [
      [...held, ...booked],
      [...booked, ...held],
    ]) {
      const { incoming, refused } = await read(...rows);
      expect(incoming.map(({ amount }) => amount)).to.deep.equal([1_002, 1_003]);
      expect(refused.map(({ why }) => why)).to.deep.equal(['not-booked']);
    }
    for (const title of ['Pending Transactions', 'DANA DITAHAN', 'Belum dibukukan', 'Hold']) {
      const { incoming } = await read(head, `${day},B,,1002,1`, title, `${day},A,,1001,1`);
      expect(
        incoming.map(({ amount }) => amount),
        title,
      ).to.deep.equal([1_002]);
    }
    const footer = await read('Saldo Ditahan', head, `${day},B,,1002,1`);
    expect(footer.incoming).to.have.length(1);
  });

  it('a phrase says the direction, and contradicts a sign or a column', async () => {
    const one = await read(
      'Date,Description,Amount,Type',
      `${day},A,1001,Transfer Masuk`,
      `${day},B,1002,Transfer Keluar`,
      `${day},C,+1003,Transfer Keluar`,
      `${day},D,1004,Pembayaran Kartu Kredit`,
    );
    expect(one.incoming.map(({ amount }) => amount)).to.deep.equal([1_001]);
    expect(one.outgoing).to.equal(1);
    expect(one.refused.map(({ line, why }) => [line, why])).to.deep.equal([
      [4, 'no-direction'],
      [5, 'no-direction'],
    ]);
    const two = await read('Date,Description,Credit,Type', `${day},A,1001,Outgoing`);
    expect(two.refused.map(({ why }) => why)).to.deep.equal(['no-direction']);
  });

  it('reads headings of BNI, Mandiri, MUFG and wallets that differ from the usual ones', async () => {
    for (const [names, line] of [
      ['Tgl Trans,Uraian,Debet,Kredit,Saldo', `${day},T,"0,00","1.001,00","9.001,00"`],
      ['Nama,Tanggal Transaksi,Jenis Trans,Remark,Amount,Saldo', `X,${day},Kredit,T,1001,9001`],
      ['Booking Date,Debit,Credit,Detail Information', `${day},,1001.00,T`],
      ['Tanggal,Keterangan,Penarikan,Setoran,Saldo', `${day},T,,1001,9001`],
      ['Tanggal,Keterangan,Pemasukan,Pengeluaran', `${day},T,1001,`],
      ['Date,Description,Money In,Money Out,Balance', `${day},T,1001,,9001`],
      ['Date,Description,Withdrawal,Deposit,Balance', `${day},T,,1001,9001`],
    ] as const) {
      const { incoming } = await read(names, line);
      expect(
        incoming.map(({ amount, description }) => [amount, description]),
        names,
      ).to.deep.equal([[1_001, 'T']]);
    }
  });

  it('follows headings that are repeated in another order', async () => {
    const { incoming, outgoing } = await read(
      'Tanggal,Keterangan,Debit,Kredit',
      `${day},a,,1001`,
      'Tanggal,Keterangan,Kredit,Debit',
      `${day},b,,1002`,
      `${day},c,1003,`,
    );
    expect(incoming.map(({ amount }) => amount)).to.deep.equal([1_001, 1_003]);
    expect(outgoing).to.equal(1);
  });

  it('a day without a year is in the period of the statement', async () => {
    const old = today.minus({ years: 1 });
    const period = `Periode : ${old.minus({ days: 5 }).toFormat('dd/MM/yyyy')} - ${old.toFormat('dd/MM/yyyy')}`;
    const lines = [`${old.minus({ days: 2 }).toFormat('dd/MM')},a,,1001,1`];
    expect((await read(period, head, ...lines)).refused.map(({ why }) => why)).to.deep.equal(['too-old']);
    expect((await read(head, ...lines)).incoming).to.have.length(1);
  });

  it('reads the month first only if the heading says so', async () => {
    const headings = (date: string) => `${date},Description,Credit/Debit,Amount`;
    const line = `${at('MM/dd/yyyy')},a,Credit,"60,000.00"`;
    const { incoming, days } = await read(headings('Posted Date (mm/dd/yyyy)'), line);
    expect(incoming.map((each) => each.day)).to.deep.equal([at('yyyy-MM-dd')]);
    expect(days?.isOrderTold).to.equal(true);
    const year = at('yyyy');
    expect(await problemOf(headings('Date'), `01/23/${year},a,Credit,"60,000.00"`)).to.include(
      'Date (mm/dd/yyyy)',
    );
  });
});
