/** Payments that the bank takes back: corrections, reversals and returns. */
import { expect } from 'chai';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { BankLineModel, type BankLine } from '../../../src/deposits/bank/bank-line.model.js';
import { confirmStatement } from '../../../src/deposits/bank/confirm-statement.js';
import { creditWithLine, reopenLine } from '../../../src/deposits/bank/decide-line.js';
import { planStatement } from '../../../src/deposits/bank/plan-statement.js';
import { readBankStatement } from '../../../src/deposits/bank/read-bank-statement.js';
import { deposits, toStored, type Deposit } from '../../../src/deposits/deposit.model.js';
import { CaseModel } from '../../../src/purchases/case.model.js';
import { addDays, formatBusinessDay } from '../../../src/shared/business-time.js';
import { newId } from '../../../src/shared/ids.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { createUniqueAmount } from './statement.js';

const by = { actor: 'cli:test', from: null, reason: 'ticket 812' };
const today = formatBusinessDay(new Date());

interface Line {
  text: string;
  out?: boolean;
  days?: number;
  amount: number;
}

const statementOf = (...lines: Line[]) =>
  Buffer.from(
    [
      'Tanggal,Keterangan,Debit,Kredit,Saldo',
      ...lines.map(({ text, out, days = 0, amount }) => {
        const day = addDays(today, -days).split('-').reverse().join('/');
        return `${day},${text},${out ? `${amount},` : `,${amount}`},1`;
      }),
    ].join('\n'),
  );

describe('payments that the bank takes back', () => {
  useDatabase();

  let count = 0;
  async function requestDeposit(amount: number, more: Partial<Deposit> = {}): Promise<Deposit> {
    count += 1;
    const deposit: Deposit = {
      _id: newId(),
      accountId: newId(),
      refId: `TOPUP-REV-${Date.now()}${count}`,
      amount,
      status: 'pending',
      balanceBefore: 0,
      balanceAfter: 0,
      createdAt: new Date(),
      completedAt: null,
      ...more,
    };
    await deposits.insertOne(toStored(deposit));
    return deposit;
  }
  const plan = async (...lines: Line[]) => planStatement(await readBankStatement(statementOf(...lines)));
  const matches = async (...lines: Line[]) => (await plan(...lines)).lines.map(({ match }) => match);
  async function confirm(...lines: Line[]) {
    const bytes = statementOf(...lines);
    const { fingerprint } = await planStatement(await readBankStatement(bytes));
    return confirmStatement({ bytes, file: 'x.csv', fingerprint, byReference: true, byAmount: true }, by);
  }
  const problemOf = (work: Promise<unknown>) =>
    work.then(
      () => '',
      (error: unknown) => (error as Error).message,
    );
  const storedLines = (amount: number) => BankLineModel.find({ amount }).sort({ _id: 1 }).lean<BankLine[]>();
  const statusesOf = async (amount: number) => (await storedLines(amount)).map(({ status }) => status).sort();
  const casesOf = async (amount: number) =>
    CaseModel.find({ kind: 'payment-taken-back', detail: new RegExp(`of ${amount} `) }).lean();

  /** A pending deposit, the payment that names it, and the bank's correction of the payment. */
  async function takenBack(word = 'KOREKSI') {
    const amount = createUniqueAmount();
    const deposit = await requestDeposit(amount);
    const paid = { amount, text: `TRSF ${deposit.refId} BUDI` };
    return { amount, deposit, paid, back: { amount, text: `${word} ${paid.text}`, out: true } };
  }

  for (const word of ['KOREKSI', 'Reversal', 'RETUR', 'PEMBATALAN', 'BATAL', 'REV', 'DIBATALKAN', 'RETURN']) {
    it(`${word} in either order credits nothing`, async () => {
      const { paid, back, deposit } = await takenBack(word);
      expect(await matches(paid), 'without the correction').to.deep.equal(['referenced']);
      expect(await matches(paid, back)).to.deep.equal(['taken-back']);
      expect(await matches(back, paid)).to.deep.equal(['taken-back']);
      expect(
        await matches({ ...paid, text: `TRF ${deposit._id}` }, { ...back, text: `${word} ${deposit._id}` }),
      ).to.deep.equal(['taken-back']);
    });
  }

  it('stores the pair once, and a repeat changes nothing', async () => {
    const { amount, deposit, paid, back } = await takenBack();
    expect(await confirm(paid, back)).to.include({ confirmed: 0, kept: 1, corrected: 1 });
    const [payment, correction] = await storedLines(amount).then((found) =>
      found.sort((a, b) => b.status.localeCompare(a.status)),
    );
    expect(payment).to.include({ status: 'taken-back', counterpartId: correction?._id, depositId: null });
    expect(correction).to.include({ status: 'correction', counterpartId: payment?._id });
    expect(await matches(paid, back)).to.deep.equal(['taken-back']);
    expect(await matches(paid), 'without its correction').to.deep.equal(['taken-back']);
    expect(await problemOf(confirm(paid, back))).to.include('no line that is new');
    const used = creditWithLine({ lineId: payment?._id ?? '', depositId: deposit._id }, by);
    expect(await problemOf(used)).to.include('taken back by the bank');
    expect(await casesOf(amount)).to.deep.equal([]);
  });

  it('finds its payment in another file, whichever comes first', async () => {
    const later = await takenBack();
    await confirm(later.back);
    expect(await statusesOf(later.amount)).to.deep.equal(['correction']);
    expect(await matches({ ...later.paid, days: 1 })).to.deep.equal(['taken-back']);
    await confirm({ ...later.paid, days: 1 });
    expect(await statusesOf(later.amount)).to.deep.equal(['correction', 'taken-back']);
    const open = createUniqueAmount();
    const paid = { amount: open, text: 'TRSF TOPUP-NONE-991 BUDI', days: 2 };
    await confirm(paid);
    const back = { amount: open, text: 'KOREKSI TRSF TOPUP-NONE-991 BUDI', out: true };
    expect((await plan(back)).taken.pairs).to.have.length(1);
    await confirm(back);
    expect(await statusesOf(open)).to.deep.equal(['correction', 'taken-back']);
    const deposit = await requestDeposit(open, { refId: 'TOPUP-NONE-991' });
    expect(await confirm(paid, { amount: createUniqueAmount(), text: 'BUNGA' })).to.include({ confirmed: 0 });
    expect((await deposits.findOne({ _id: deposit._id }))?.status).to.equal('pending');
  });

  it('after the payment was credited opens one case and moves no money', async () => {
    const { amount, deposit, paid, back } = await takenBack();
    await confirm({ ...paid, days: 5 });
    await BankLineModel.updateOne({ amount }, { $set: { status: 'used', depositId: deposit._id } });
    const shown = await plan(back);
    expect(shown.taken.pairs.map(({ payment }) => payment.depositId)).to.deep.equal([deposit._id]);
    const answers = await Promise.allSettled([confirm(back), confirm(back)]);
    expect(answers.some(({ status }) => status === 'fulfilled')).to.equal(true);
    const [found, ...more] = await casesOf(amount);
    expect(more).to.deep.equal([]);
    expect(found?.detail).to.include(`credited deposit ${deposit._id}`);
    const [line] = await storedLines(amount);
    expect([found?.bankLineId, line?.status, line?.depositId]).to.deep.equal([
      line?._id,
      'used',
      deposit._id,
    ]);
    expect(await statusesOf(amount)).to.deep.equal(['correction', 'used']);
  });

  it('of a payment whose deposit was credited by hand opens a case', async () => {
    const { amount, deposit, paid, back } = await takenBack();
    await deposits.updateOne({ _id: deposit._id }, { $set: { status: 'completed' } });
    await confirm(paid, back);
    expect((await casesOf(amount)).map(({ detail }) => detail.includes(deposit._id))).to.deep.equal([true]);
  });

  it('a payment made again after the correction is credited', async () => {
    const { paid, back } = await takenBack();
    expect((await matches(paid, back, paid)).sort()).to.deep.equal(['referenced', 'taken-back']);
  });

  it('of equal amounts only the payment with the same reference is taken back', async () => {
    const one = await takenBack();
    const { accountId } = one.deposit;
    const other = await requestDeposit(one.amount, { accountId });
    const second = { amount: one.amount, text: `TRSF ${other.refId} SITI` };
    expect(await matches(second, one.paid, one.back)).to.deep.equal(['referenced', 'taken-back']);
    const otherAmount = { ...one.back, amount: one.amount + 1 };
    // The bank may take a part back, or add a fee: another amount is not proof, but doubt.
    expect(await matches(one.paid, second, otherAmount)).to.deep.equal(['several', 'referenced']);
    const incoming = { ...one.back, out: false };
    expect((await matches(one.paid, incoming))[0], 'same direction').to.not.equal('taken-back');
  });

  it('a correction that names nothing leaves all lines of its amount to the operator', async () => {
    const { amount, paid } = await takenBack();
    expect(await matches(paid, { amount, text: 'REVERSAL', out: true })).to.deep.equal(['several']);
    expect(await confirm(paid, { amount, text: 'REVERSAL', out: true })).to.include({ confirmed: 0 });
  });

  it('the return of an outgoing payment is credited to nobody', async () => {
    const { amount, paid } = await takenBack();
    const gone = { amount, text: `TRF KE ${paid.text}`, out: true };
    expect(await matches(gone, { amount, text: `RETUR ${paid.text}` })).to.deep.equal(['taken-back']);
    expect(await matches({ amount, text: `RETUR ${paid.text}` })).to.deep.equal(['several']);
  });

  it('another export of a payment that was taken back is left to the operator', async () => {
    const { paid, back } = await takenBack();
    await confirm(paid, back);
    expect(await matches({ ...paid, text: `BI-FAST CR ${paid.text.slice(5)}` })).to.deep.equal(['several']);
  });

  it('a line that an operator reopened is not taken back again, nor credited by itself', async () => {
    const { amount, deposit, paid, back } = await takenBack();
    await confirm(paid, back);
    const line = (await storedLines(amount)).find(({ status }) => status === 'taken-back');
    expect(await reopenLine(line?._id ?? '', by)).to.deep.equal({ changed: true });
    expect(await matches(paid, back)).to.deep.equal(['several']);
    expect((await deposits.findOne({ _id: deposit._id }))?.status).to.equal('pending');
    expect(await AccountModel.countDocuments({ _id: deposit.accountId })).to.equal(0);
  });

  it('an outgoing line with the reference of a payment leaves it to the operator', async () => {
    const amount = createUniqueAmount();
    const deposit = await requestDeposit(amount, { refId: `PAY-${Date.now()}` });
    const paid = { amount, text: `TRSF ${deposit.refId} BUDI` };
    const gone = (words: string) => ({ amount, text: `${words} ${paid.text}`, out: true });
    for (const words of ['KEMBALI', 'PENARIKAN', 'RETURSKN', 'X Y Z A B C D E F G']) {
      expect(await matches(paid, gone(words)), words).to.deep.equal(['several']);
      expect(await matches(gone(words), paid), words).to.deep.equal(['several']);
    }
    const cut = { amount, text: `OUT ${deposit.refId.slice(0, -2)}`, out: true };
    expect(await matches(paid, cut), 'cut').to.deep.equal(['several']);
    const other = { amount, text: 'TRF KE SUPPLIER 99887766', out: true };
    expect(await matches(paid, other)).to.deep.equal(['referenced']);
  });

  it('a correction without a payment leaves all near lines of its amount to the operator', async () => {
    for (const text of [
      'KOREKSI KESALAHAN SISTEM',
      'REVERSAL AUTO POSTING 88123',
      'PEMBATALAN ATAS PERMINTAAN NASABAH',
      'RETUR TRANSAKSI GANDA',
    ]) {
      const { amount, paid, deposit } = await takenBack();
      expect(await matches(paid, { amount, text, out: true }), text).to.deep.equal(['several']);
      const named = { amount, text: `TRF ${deposit._id}` };
      expect(await matches(named, { amount, text, out: true }), text).to.deep.equal(['several']);
      expect(await matches(paid, { amount: amount + 1, text, out: true }), text).to.deep.equal([
        'referenced',
      ]);
    }
    const { amount, paid } = await takenBack();
    await confirm({ amount, text: 'KOREKSI KESALAHAN SISTEM', out: true });
    expect(await matches({ ...paid, days: 1 }), 'of an earlier file').to.deep.equal(['several']);
  });

  it('an MT940 reversal that names nothing leaves its amount to the operator', async () => {
    const { amount, paid } = await takenBack();
    const ymd = today.slice(2).replaceAll('-', '');
    const entries = [`:61:${ymd}C${amount},NTRFX`, `:86:${paid.text}`, `:61:${ymd}RC${amount},NTRFX`];
    const file = [':20:X', `:60F:C${ymd}IDR0,`, ...entries, ':86:SYSTEM ENTRY 778899', `:62F:C${ymd}IDR0,`];
    const { lines } = await planStatement(await readBankStatement(Buffer.from(file.join('\n'))));
    expect(lines.map(({ match }) => match)).to.deep.equal(['several']);
  });

  it('finds the word of a correction in any cell and any form', async () => {
    const words = 'TOLAKAN,REJECT,RJCT,DITOLAK,RTN,RALAT,PEMBETULAN,STORNO,RVS,GAGAL,JURNAL BALIK,CHARGEBACK';
    const forms = ['(REV)', 'REV-TRSF', 'BATAL;', 'KORE\u200bKSI', 'KOREK\u00adSI', 'ＫＯＲＥＫＳＩ'];
    for (const word of [...words.split(','), ...forms]) {
      const { paid, back } = await takenBack(word);
      expect(await matches(paid, back), word).to.deep.equal(['taken-back']);
    }
    const { amount, paid } = await takenBack();
    const late = { amount, text: `${'x '.repeat(300)} KOREKSI`, out: true };
    expect(await matches(paid, late), 'after 500 characters').to.deep.equal(['several']);
    const day = today.split('-').reverse().join('/');
    const row = (text: string, code: string, money: string) => `${day},${text},${code},${money}`;
    const planned = async (...rows: string[]) => {
      const text = ['Tanggal,Keterangan,Kode Transaksi,Debit,Kredit', ...rows].join('\n');
      const { lines } = await planStatement(await readBankStatement(Buffer.from(text)));
      return lines.map(({ match }) => match);
    };
    const came = row(paid.text, 'TRF', `,${amount}`);
    expect(await planned(came, row('SYSTEM', 'REVERSAL', `${amount},`))).to.deep.equal(['several']);
    expect(await planned(row(paid.text, 'RETUR', `,${amount}`))).to.deep.equal(['several']);
    expect(await planned(came)).to.deep.equal(['referenced']);
  });

  it('a balance, a sum or the return of an own payment is not matched by amount', async () => {
    for (const text of [
      'SALDO AWAL',
      'Saldo Akhir',
      'TOTAL MUTASI KREDIT',
      'SUBTOTAL',
      'OPENING BALANCE',
      'Closing Balance',
      'REV TRF KE SUPPLIER',
      'GAGAL TRF KE SUPPLIER',
      'TOLAKAN TRF SUPPLIER',
    ]) {
      const { amount } = await takenBack();
      expect(await matches({ amount, text }), text).to.deep.equal(['several']);
    }
    const { amount } = await takenBack();
    expect(await matches({ amount, text: 'SETORAN TUNAI' })).to.deep.equal(['amount']);
  });
});
