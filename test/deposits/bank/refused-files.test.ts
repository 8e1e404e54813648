/** Files that contradict themselves, or that a reader could take for another kind of statement. */
import { expect } from 'chai';
import { DateTime } from 'luxon';
import { readBankStatement } from '../../../src/deposits/bank/read-bank-statement.js';

const yesterday = DateTime.now().setZone('Asia/Jakarta').minus({ days: 1 });
const day = yesterday.toFormat('dd/MM/yyyy');
const ymd = yesterday.toFormat('yyMMdd');
const read = (...lines: string[]) => readBankStatement(Buffer.from(lines.join('\n')));
const problemOf = (...lines: string[]) =>
  read(...lines).then(
    ({ incoming }) => `read ${incoming.length} lines`,
    (error: unknown) => (error as Error).message,
  );
const mt940 = (...entries: string[]) =>
  [':20:X', ':25:1', ':28C:1', `:60F:C${ymd}IDR0,`, ...entries, `:62F:C${ymd}IDR10000,`, '-'].join('\n');
const paid = `:61:${ymd}C10000,NTRFNONREF`;

function camt(...amounts: [amount: string, direction?: string][]): string {
  const money = (amount: string, direction: string) =>
    `<Amt Ccy="IDR">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>`;
  const balance = (code: string) =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp>${money('0', 'CRDT')}</Bal>`;
  const entries = amounts.map(
    ([amount, direction = 'CRDT']) =>
      `<Ntry>${money(amount, direction)}<Sts>BOOK</Sts><BookgDt><Dt>${yesterday.toISODate()}</Dt></BookgDt></Ntry>`,
  );
  return `<?xml version="1.0"?><Document><BkToCstmrStmt><Stmt>${balance('OPBD')}${balance('CLBD')}${entries.join('')}</Stmt></BkToCstmrStmt></Document>`;
}

describe('bank statements that are refused as a whole', () => {
  it('an unreadable entry does not switch the check of balances off', async () => {
    expect(await problemOf(mt940(paid, ':86:A'))).to.equal('read 1 lines');
    const forged = mt940(paid, ':86:A', `:61:${ymd}C9000000,NTRFX`, ':61:?');
    expect(await problemOf(forged)).to.include('line 8: its entry (:61:) cannot be read');
    expect(await problemOf(camt(['9000000'], ['1.000,00']))).to.include('entry 2: its amount or direction');
    expect(await problemOf(camt(['9000000'], ['1000', '']))).to.include('entry 2: its amount or direction');
  });

  it('a wrapped note of a payer is not read as an entry', async () => {
    const note = `:61:${ymd}C9000000,NTRFTOPUP1//`.padEnd(65, 'X');
    const forged = mt940(paid, `:86:${'TRF DARI BUDI'.padEnd(65, '.')}`, note, `:61:${ymd}D9000000,NTRFX`);
    const { incoming, outgoing, refused } = await read(forged);
    expect([incoming.map(({ line }) => line), outgoing]).to.deep.equal([[5], 0]);
    expect(refused).to.deep.equal([
      { line: 7, why: 'maybe-text', column: ':61:' },
      { line: 8, why: 'maybe-text', column: ':61:' },
    ]);
    const full = `:86:${'A'.repeat(61)}`;
    expect(await problemOf(mt940(paid, full, `:62F:C${ymd}IDR10000,`, `:60F:C${ymd}IDR0,`, paid))).to.equal(
      'read 2 lines',
    );
    const reopened = mt940(paid, full, `:62F:C${ymd}IDR10000,`.padEnd(65), `:60F:C${ymd}IDR0,`, paid);
    expect(await problemOf(reopened)).to.include('not certain that this is a balance');
    expect(await problemOf(mt940(paid, `:86:${'A'.repeat(65)}`, 'SHORT'))).to.equal('read 1 lines');
  });

  it('an entry after a full line of text is read if the balances prove it', async () => {
    const full = `:86:${'A'.repeat(65)}`;
    const half = (mark: string, amount: number) => `:61:${ymd}${mark}${amount},NTRFNONREF`;
    for (const entries of [
      [paid, full],
      [half('C', 4_000), full, half('C', 6_000), full],
      [half('C', 15_000), full, half('D', 4_000), full, half('D', 1_000), ':86:B'],
      [half('D', 5_000), full, half('C', 8_000), full, half('D', 3_001), full, half('C', 10_001), full],
      [half('C', 12_000), `:86:${'A'.repeat(90)}`, half('D', 2_000), ':86:B'],
      [half('C', 12_000), `:86:${'A'.repeat(70)}`, half('D', 2_000), `:86:${'B'.repeat(90)}`],
    ]) {
      const { incoming, outgoing, refused } = await read(mt940(...entries));
      const count = entries.filter((each) => each.startsWith(':61:')).length;
      expect([incoming.length + outgoing, refused], entries.join('\n')).to.deep.equal([count, []]);
    }
    const equal = [half('C', 10_000), full, half('D', 5_000), full, half('C', 5_000), ':86:C'];
    expect((await read(mt940(...equal))).refused.map(({ line, why }) => [line, why])).to.deep.equal([
      [7, 'maybe-text'],
      [9, 'maybe-text'],
    ]);
  });

  it('says what a report is that is not a statement', async () => {
    const interim = [':20:X', ':25:1', ':34F:IDRC0,', paid, ':86:A', `:90C:1IDR10000,`];
    expect(await problemOf(...interim)).to.include('MT942');
    for (const name of ['BkToCstmrAcctRpt', 'BkToCstmrDbtCdtNtfctn']) {
      const other = camt(['1000']).replaceAll('BkToCstmrStmt', name);
      expect(await problemOf(other)).to.include('CAMT.053');
    }
  });

  it('balances that contradict every line show that columns are swapped', async () => {
    const rows = [`${day},A,,1000,9000`, `${day},B,2500,,11500`, `${day},C,,3000,8500`];
    for (const each of [rows, [...rows].reverse()]) {
      expect(await problemOf('Tanggal,Keterangan,Debit,Kredit,Saldo', ...each)).to.include('swapped');
      expect(await problemOf('Tanggal,Keterangan,Kredit,Debit,Saldo', ...each)).to.equal('read 1 lines');
    }
  });

  it('amounts in thousands are refused if only a row above the headings says so', async () => {
    const table = ['Tanggal,Keterangan,Debit,Kredit,Saldo', `${day},A,,1001,1`];
    for (const row of [
      'Dalam ribuan rupiah',
      '(in thousands of Rupiah)',
      'Satuan : Rp 000',
      'Nominal dalam Rp juta',
      'Unit,Amounts in IDR million',
    ]) {
      expect(await problemOf(row, ...table), row).to.include('not in whole rupiah');
    }
    for (const row of ['Nama : PT RIBUAN JUTA', 'Satuan : Rupiah', 'Cabang dalam kota 000']) {
      expect(await problemOf(row, ...table), row).to.equal('read 1 lines');
    }
  });

  it('headings of a second table are not read with the columns of the first', async () => {
    const first = ['Tanggal,Keterangan,Kredit,Debit,Saldo', `${day},TRSF A,1001,,1`];
    for (const second of [
      'Date,Description,Paid to others,Paid to us,Balance',
      'Tanggal,Keterangan,Arus A,Arus B,Saldo',
      ',Tanggal,Keterangan,Arus A,Arus B',
    ]) {
      expect(await problemOf(...first, second, `${day},OUT,2002,,1`), second).to.include(
        'line 3: unknown headings',
      );
    }
  });

  it('a direction with a mark is no direction', async () => {
    for (const mark of ['K-', '-CR', 'CR-', '(CR)', 'CR*', 'Kredit?']) {
      const one = await read('Tanggal,Keterangan,Jumlah,D/K', `${day},A,1001,${mark}`, `${day},B,1002,'C R.`);
      expect(one.refused, mark).to.deep.equal([{ line: 2, why: 'no-direction', column: 'D/K' }]);
      expect(one.incoming.map(({ amount }) => amount)).to.deep.equal([1_002]);
      const two = await read('Tanggal,Keterangan,Debit,Kredit,Jenis', `${day},A,,1001,${mark}`);
      expect(two.refused, mark).to.deep.equal([{ line: 2, why: 'no-direction', column: 'Jenis' }]);
    }
  });

  it('amounts in thousands or in another currency are not read', async () => {
    for (const names of [
      'Debit (000),Kredit (000),Saldo',
      "Debit,Credit ('000),Saldo",
      'Debit,Kredit,Saldo (ribuan)',
      'Debit,Kredit,Balance in million',
    ]) {
      const problem = await problemOf(`Tanggal,Keterangan,${names}`, `${day},A,,1001,1`);
      expect(problem, names).to.include('not in whole rupiah');
    }
    for (const names of [
      'Debit ($),Kredit ($),Saldo',
      'Debit,Kredit,Saldo (USD)',
      'Debit,Kredit,Balance USD',
      'Debit,Kredit,Ekuivalen IDR',
      'Jumlah,Kredit USD/Debit,D/K',
    ]) {
      const headings = `Tanggal,Keterangan,${names}`;
      expect(await problemOf(headings, `${day},A,,1001,1`), names).to.include('not IDR');
      const later = await problemOf('Tanggal,Keterangan,Debit,Kredit,Saldo', `${day},A,,1,1`, headings);
      expect(later, `later: ${names}`).to.include('not IDR');
    }
  });

  it('a row about the account may say its currency in many ways', async () => {
    const table = ['Tanggal,Keterangan,Debit,Kredit,Saldo', `${day},A,,1001,1`];
    for (const row of [
      'Jenis Mata Uang : USD',
      'Jenis Mata Uang : usd',
      'Statement Currency,USD',
      'Transaction Currency: USD',
      'Account Currency,AED',
      'Produk : GIRO VALAS USD',
      'Produk : Giro Valas',
      'Account No / Name : 123456 (USD) / PT PULSA',
      'Nama / No. Rekening : PT PULSA / 123456 USD',
    ]) {
      expect(await problemOf(row, ...table), row).to.include('not IDR');
    }
    for (const row of ['No. Rekening : 222 (USD)', ',Mata Uang,USD,,']) {
      expect(await problemOf(...table, row, ...table), row).to.include('not IDR');
    }
    for (const row of ['Nama Rekening : PT USD JAYA', 'Jenis Mata Uang : IDR', 'Produk : GIRO RUPIAH']) {
      expect(await problemOf(row, ...table), row).to.equal('read 1 lines');
    }
  });

  it('every column of currencies counts', async () => {
    for (const name of ['Account Currency', 'Trx Ccy', 'Mata Uang Rekening', 'Kode Valuta']) {
      for (const code of ['usd', 'US Dollar', 'AED', '']) {
        const { refused } = await read(`Tanggal,Keterangan,${name},Debit,Kredit`, `${day},A,${code},,1001`);
        expect(refused, `${name} ${code}`).to.deep.equal([{ line: 2, why: 'not-idr', column: name }]);
      }
    }
    const valued = await problemOf('Tanggal,Tanggal Valuta,Keterangan,Debit,Kredit', `${day},,A,,1001`);
    expect(valued).to.equal('read 1 lines');
  });

  it('a payment that failed is refused, whatever the heading of its status', async () => {
    for (const [name, said] of [
      ['Status Trx', 'diproses'],
      ['Status Pembayaran', 'Pending'],
      ['Sts', 'R'],
      ['State', 'unknown'],
      ['Hasil', 'GAGAL'],
      ['', 'reversed'],
      ['Info', 'Refunded'],
    ]) {
      const rows = [`Tanggal,Keterangan,Debit,Kredit,${name},Saldo`, `${day},A,,1001,${said},1`];
      const { incoming, refused } = await read(...rows);
      expect([incoming.length, refused[0]?.why], `${name} ${said}`).to.deep.equal([0, 'not-booked']);
    }
    const { incoming } = await read('Tanggal,Keterangan,Debit,Kredit', `${day},PENDING,,1001`);
    expect(incoming, 'a text of a payer').to.have.length(1);
  });
});
