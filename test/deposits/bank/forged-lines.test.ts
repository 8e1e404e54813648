/**
 * Lines that an attacker forged, or that are equal by coincidence. A line credits only the deposit
 * that its own text names.
 */
import { expect } from 'chai';
import { planStatement } from '../../../src/deposits/bank/plan-statement.js';
import { readBankStatement } from '../../../src/deposits/bank/read-bank-statement.js';
import { deposits, toStored, type Deposit } from '../../../src/deposits/deposit.model.js';
import { newId } from '../../../src/shared/ids.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { createUniqueAmount, statementOf, type StatementLine } from './statement.js';

describe('the owner of a bank line', () => {
  useDatabase();

  async function insertDeposit(amount: number, refId: string = newId(), more: Partial<Deposit> = {}) {
    const deposit: Deposit = {
      _id: newId(),
      accountId: newId(),
      refId,
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
  let count = 0;
  /** Returns a reference that no other test uses. */
  const ownRef = (start: string) => `${start}${10_000 + (count += 1)}`;
  const planned = async (...lines: StatementLine[]) =>
    (await planStatement(await readBankStatement(Buffer.from(statementOf(...lines))))).lines;
  const matches = async (...lines: StatementLine[]) => (await planned(...lines)).map(({ match }) => match);
  /** Returns, for each line, the deposit that it credits if all kinds of matches are allowed. */
  const credited = async (...lines: StatementLine[]) =>
    (await planned(...lines)).map(({ match, deposits: [one] }) =>
      ['named', 'referenced', 'amount'].includes(match) ? [match, one?._id] : match,
    );

  it("a line with the wrong amount does not validate another account's reference", async () => {
    const amount = createUniqueAmount();
    const victim = await insertDeposit(amount, ownRef('VICTIM-'));
    const word = ownRef('WS');
    await insertDeposit(amount, word);
    const paying = { amount, text: `TRSF E-BANKING ${word} BUDI` };
    expect(await matches(paying)).to.deep.equal(['several']);
    for (const name of [victim.refId, victim._id]) {
      for (const cheap of [1, amount + 1]) {
        const lines = [{ amount: cheap, text: `HI ${name}` }, paying];
        expect(await matches(...lines)).to.deep.equal(['other-amount', 'several']);
      }
    }
    const tooEarly = { amount, text: `HI ${victim._id}`, days: 5 };
    expect(await matches(tooEarly, paying), 'a line before the request').to.deep.equal(['none', 'several']);
    const own = { amount, text: `HI ${victim.refId}` };
    expect(await matches(own, paying), 'a fitting line').to.deep.equal(['referenced', 'referenced']);
  });

  it('a line that names a deposit of another amount may pay one of its own amount', async () => {
    const amount = createUniqueAmount();
    await insertDeposit(amount);
    const other = await insertDeposit(amount + 3, ownRef('WT'));
    const plain = { amount, text: 'SETORAN TUNAI' };
    expect(await matches(plain)).to.deep.equal(['amount']);
    for (const name of [other.refId, other._id]) {
      const naming = { amount, text: `TRSF ${name}` };
      expect(await matches(naming, plain)).to.deep.equal(['other-amount', 'several']);
      expect(await matches(plain, naming)).to.deep.equal(['several', 'other-amount']);
    }
  });

  it("a deposit named by one line is not credited by another line's amount", async () => {
    const amount = createUniqueAmount();
    const deposit = await insertDeposit(amount, ownRef('DEP-'));
    const plain = { amount, text: 'SETORAN TUNAI' };
    for (const name of [deposit.refId, deposit._id]) {
      const naming = { amount: amount + 1, text: `TRSF ${name}` };
      expect(await matches(naming, plain)).to.deep.equal(['other-amount', 'several']);
      expect(await matches(plain, naming)).to.deep.equal(['several', 'other-amount']);
    }
  });

  it('our id wins over any reference in the text', async () => {
    const amount = createUniqueAmount();
    const deposit = await insertDeposit(amount);
    const [waits, decided] = [ownRef('WU'), ownRef('WV')];
    await insertDeposit(amount, waits);
    await insertDeposit(amount, decided, { status: 'completed', completedAt: new Date() });
    for (const word of [waits, decided, `${waits} ${decided}`]) {
      expect(await credited({ amount, text: `TRSF ${word} ${deposit._id}` })).to.deep.equal([
        ['named', deposit._id],
      ]);
    }
  });

  it('of two lines for one deposit, the line with our id pays it', async () => {
    const amount = createUniqueAmount();
    const deposit = await insertDeposit(amount, ownRef('DEP-'));
    const referring = { amount, text: `first ${deposit.refId}` };
    const naming = { amount, text: `second ${deposit._id}` };
    expect(await matches(referring, naming)).to.deep.equal(['repeated', 'named']);
    expect(await matches(naming, referring)).to.deep.equal(['named', 'repeated']);
  });

  it('a truncated text never yields an id or reference from half a word', async () => {
    const amount = createUniqueAmount();
    const ref = ownRef('INW-');
    await insertDeposit(amount, ref);
    const cutAfter = (name: string) => `${'X'.repeat(500 - 1 - name.length)} ${name}`;
    expect(await matches({ amount, text: `${cutAfter(ref)}2` })).to.deep.equal(['several']);
    const deposit = await insertDeposit(createUniqueAmount());
    const line = { amount: deposit.amount, text: `${cutAfter(deposit._id)}BUDI` };
    expect(await matches(line)).to.deep.equal(['several']);
  });

  it('a truncated text counts only for our id, because it may name another deposit', async () => {
    const amount = createUniqueAmount();
    const deposit = await insertDeposit(amount, ownRef('DEP-'));
    const other = await insertDeposit(amount + 9, ownRef('DEP-'));
    const long = 'XXXX '.repeat(100);
    for (const text of [`${long}${other._id}`, `${deposit.refId} ${long}${other._id}`]) {
      expect(await matches({ amount, text })).to.deep.equal(['several']);
    }
    expect(await credited({ amount, text: `${deposit._id} ${long}BUDI` })).to.deep.equal([
      ['named', deposit._id],
    ]);
    expect(await matches({ amount: createUniqueAmount(), text: `${long}BUDI` })).to.deep.equal(['none']);
  });

  it('is found by an id or reference at the end of a long text of short words', async () => {
    const amount = createUniqueAmount();
    const deposit = await insertDeposit(amount);
    const other = await insertDeposit(amount + 9, ownRef('DEP-'));
    const long = 'a '.repeat(150);
    expect(await matches({ amount, text: `${long}${other.refId}` })).to.deep.equal(['other-amount']);
    expect(await credited({ amount, text: `${long}${deposit._id}` })).to.deep.equal([['named', deposit._id]]);
  });

  describe('that names a deposit of another amount', () => {
    /**
     * Stores two pending deposits of one client. The matching deposit is one rupiah smaller than
     * the other.
     */
    async function insertTwoDeposits() {
      const [amount, accountId] = [createUniqueAmount(), newId()];
      const named = await insertDeposit(amount + 1, ownRef('NAMED-'), { accountId });
      const fitting = await insertDeposit(amount, ownRef('FITTING-'), { accountId });
      return { named, fitting, amount };
    }
    const meant = async (line: StatementLine) => {
      const [only] = await planned(line);
      return [only?.match, only?.deposits.map(({ _id }) => _id)];
    };

    it('is reported if it has our id or the reference of the client', async () => {
      const { named, amount } = await insertTwoDeposits();
      for (const name of [named._id.toUpperCase(), named.refId]) {
        const found = await meant({ amount, text: `TRSF BUYER ${name}` });
        expect(found, name).to.deep.equal(['other-amount', [named._id]]);
      }
    });

    it('is matched by our id rather than by the reference of another deposit', async () => {
      const { named, fitting, amount } = await insertTwoDeposits();
      for (const [text, match, { _id }] of [
        [`TRSF ${named._id} ${fitting.refId}`, 'other-amount', named],
        [`TRSF ${fitting.refId}`, 'referenced', fitting],
        [`${fitting._id} ${named._id}`, 'named', fitting],
      ] as const) {
        expect(await meant({ amount, text }), text).to.deep.equal([match, [_id]]);
      }
    });

    it('is reported if our deposit is decided or too old', async () => {
      const { named, amount } = await insertTwoDeposits();
      const line = { amount, text: `TRSF ${named._id}` };
      const old = new Date(Date.now() - 60 * 86_400_000);
      await deposits.updateOne({ _id: named._id }, { $set: { createdAt: old } });
      expect(await meant(line)).to.deep.equal(['other-amount', [named._id]]);
      expect((await meant({ ...line, amount: amount + 1 }))[0]).to.equal('none');
      await deposits.updateOne({ _id: named._id }, { $set: { status: 'rejected' } });
      expect(await meant(line)).to.deep.equal(['decided', [named._id]]);
    });
  });
});
