/** The running balance proves amounts and directions. It never makes a line read that is refused. */
import { expect } from 'chai';
import { DateTime } from 'luxon';
import { readBankStatement } from '../../../src/deposits/bank/read-bank-statement.js';

const now = DateTime.now().setZone('Asia/Jakarta');
const dayOf = (days: number) => now.minus({ days }).toFormat('dd/MM/yyyy');
const head = 'Tanggal,Keterangan,Debit,Kredit,Saldo';
const read = (...lines: string[]) => readBankStatement(Buffer.from([head, ...lines].join('\n')));

/** Writes lines with the balances that follow from signed amounts. The oldest line comes first. */
function rowsOf(amounts: readonly number[], { opening = 1_000_000, days = 1 } = {}): string[] {
  let balance = opening;
  return amounts.map((amount, n) => {
    balance += amount;
    const money = amount < 0 ? `${-amount},` : `,${amount}`;
    return `${dayOf(days)},LINE ${n},${money},"${balance.toLocaleString('en-US')}.35"`;
  });
}
const swap = (row: string) => row.replace(/,(\d*),(\d*),"/, ',$2,$1,"');
const at = (rows: readonly string[], place: number, change: (row: string) => string) =>
  rows.map((row, n) => (n === place ? change(row) : row));
const usual = [1_000, 2_000, -500, 4_000, 50_000, -7_000, 50_000, 50_000, 9_000, -3_000, 11_000, 12_000];

describe('the balances of a bank statement', () => {
  it('a line whose direction they contradict is refused, in either order', async () => {
    const rows = at(at(rowsOf(usual), 3, swap), 5, swap);
    for (const each of [rows, [...rows].reverse()]) {
      const { incoming, outgoing, refused } = await read(...each);
      const lines = [3, 5].map((n) => each.findIndex((row) => row.includes(`LINE ${n},`)) + 2).sort();
      expect(refused.map(({ line, why }) => [line, why])).to.deep.equal(
        lines.sort((a, b) => a - b).map((line) => [line, 'bad-balance']),
      );
      expect([incoming.length, outgoing]).to.deep.equal([8, 2]);
    }
  });

  it('a line to whose amount they do not lead is left to the operator', async () => {
    const rows = at(rowsOf(usual), 4, (row) => row.replace(',50000,', ',90000,'));
    for (const each of [rows, [...rows].reverse()]) {
      const { incoming, refused } = await read(...each);
      expect(refused).to.deep.equal([]);
      expect(incoming.filter(({ isUnproven }) => isUnproven).map(({ amount }) => amount)).to.deep.equal([
        90_000,
      ]);
    }
  });

  it('prove nothing in another order, with gaps, or if they do not change', async () => {
    const rows = rowsOf(usual);
    const shuffled = [7, 2, 9, 0, 4, 11, 1, 10, 3, 8, 5, 6].map((n) => rows[n] ?? '');
    const gaps = rows.filter((_, n) => n % 3 !== 1);
    const constant = rows.map((row) => row.replace(/".*"/, '1'));
    const blank = rows.map((row) => row.replace(/".*"/, ''));
    for (const each of [shuffled, gaps, constant, blank]) {
      const { incoming, refused } = await read(...each);
      expect(refused).to.deep.equal([]);
      expect(incoming.filter(({ isUnproven }) => isUnproven)).to.deep.equal([]);
    }
  });

  it('equal amounts listed newest first are not taken for swapped columns', async () => {
    const rows = rowsOf([50_000, 50_000, 50_000, 50_000]);
    for (const each of [rows, [...rows].reverse(), rows.slice(0, 2), rows.slice(0, 2).reverse()]) {
      expect((await read(...each)).incoming).to.have.length(each.length);
    }
  });

  it('a refused line and repeated headings interrupt them', async () => {
    const rows = rowsOf(usual);
    const unread = at(rows, 4, (row) => row.replace(',50000,', ',5O000,'));
    expect((await read(...unread)).refused.map(({ why }) => why)).to.deep.equal(['bad-amount']);
    const second = rowsOf(usual, { opening: 77 });
    const both = await read(...rows, 'No. Rekening : 2', head, ...second);
    expect(both.refused).to.deep.equal([]);
    expect(both.incoming.filter(({ isUnproven }) => isUnproven)).to.deep.equal([]);
  });

  it('may be overdrawn, with a sign, brackets or DB', async () => {
    for (const [one, two] of [
      ['-9,000.00', '-10,500.00'],
      ['(9.000,00)', '(10.500,00)'],
      ['9,000.00 DB', '10,500.00 DB'],
    ]) {
      const { incoming, outgoing } = await read(
        `${dayOf(1)},A,,1000,"${one}"`,
        `${dayOf(1)},B,1500,,"${two}"`,
        `${dayOf(1)},C,,11500,"1,000.00"`,
      );
      expect([incoming.length, outgoing], one).to.deep.equal([2, 1]);
    }
  });
});
