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
    expect(await problemOf(forged)).to.include('line 7: the text above may continue here');
    for (const next of [`:62F:C${ymd}IDR10000,`, ':86:X']) {
      expect(await problemOf(mt940(paid, `:86:${'A'.repeat(61)}`, next)), next).to.include('may continue');
    }
    expect(await problemOf(mt940(paid, `:86:${'A'.repeat(65)}`, 'SHORT'))).to.equal('read 1 lines');
  });

  it('headings of a second table are not read with the columns of the first', async () => {
    const first = ['Tanggal,Keterangan,Kredit,Debit,Saldo', `${day},TRSF A,1001,,1`];
    for (const second of [
      'Date,Description,Withdrawal,Deposit,Balance',
      'Tanggal,Keterangan,Keluar,Masuk,Saldo',
      ',Tanggal,Keterangan,Keluar,Masuk',
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
