/** Bank statements with many pending deposits in one process: event loop, indexes and retention. */
import { expect } from 'chai';
import { limits } from '../../../config/limits.js';
import {
  BankLineModel,
  type BankLine,
  type BankLineStatus,
} from '../../../src/deposits/bank/bank-line.model.js';
import { findCandidates } from '../../../src/deposits/bank/find-candidates.js';
import { findNamedDeposits } from '../../../src/deposits/bank/find-named-deposits.js';
import { planStatement } from '../../../src/deposits/bank/plan-statement.js';
import { readBankStatement } from '../../../src/deposits/bank/read-bank-statement.js';
import { DepositModel, deposits, toStored, type Deposit } from '../../../src/deposits/deposit.model.js';
import { applyRetention } from '../../../src/privacy/apply-retention.js';
import { formatBusinessDay, addDays } from '../../../src/shared/business-time.js';
import { splitIntoChunks } from '../../../src/shared/collections.js';
import { newId } from '../../../src/shared/ids.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { measureLongestHoldMs } from '../../support/measure-longest-hold.js';
import { createUniqueAmount, statementOf } from './statement.js';

const planOf = async (statement: string) => planStatement(await readBankStatement(Buffer.from(statement)));

describe('bank statements in one process', function () {
  this.timeout(120_000);
  useDatabase();

  const asked = (amount: number, refId: string = newId()): Deposit => ({
    _id: newId(),
    accountId: newId(),
    refId,
    amount,
    status: 'pending',
    balanceBefore: 0,
    balanceAfter: 0,
    createdAt: new Date(),
    completedAt: null,
  });

  it('10,000 lines against 20,000 deposits never block the event loop for 100 ms', async () => {
    const same = createUniqueAmount();
    const all = Array.from({ length: 20_000 }, (_, n) => asked(n % 2 ? same : createUniqueAmount()));
    await deposits.insertMany(all.map(toStored));
    const lines = all.slice(0, 10_000).map(({ amount, refId }, n) => ({
      amount,
      days: n % 20,
      text:
        n % 3 === 0
          ? `SETORAN TUNAI ${n} ${'KE REKENING '.repeat(20)}`
          : `TRSF E-BANKING CR 2311 ${refId} BUDI`,
    }));
    const text = Buffer.from(statementOf(...lines));
    const plan = await planStatement(await readBankStatement(text));
    expect(plan.lines).to.have.length(lines.length);
    expect(plan.lines.filter(({ match }) => match === 'referenced').length).to.be.above(300);
    const heldMs = await measureLongestHoldMs(async () => planStatement(await readBankStatement(text)));
    expect(heldMs).to.be.lessThan(100);
  });

  it('50,000 lines are each matched with their deposit, and one more line is refused', async () => {
    const all = Array.from({ length: limits.bankStatementLinesMax }, (_, n) =>
      asked(createUniqueAmount(), `TOPUP-${n}-${newId().slice(-6)}`),
    );
    // Accounts request few deposits each, and other tests leave pending ones.
    await deposits.deleteMany({ status: 'pending' });
    for (const some of splitIntoChunks(all, 5_000)) {
      await deposits.insertMany(some.map(toStored));
    }
    const paid = all.map(({ amount, refId }) => ({ amount, text: `TRSF E-BANKING CR ${refId} BUDI` }));
    const { lines } = await planOf(statementOf(...paid));
    expect(lines.every(({ match }) => match === 'referenced')).to.equal(true);
    expect(lines.map(({ deposits: [one] }) => one?._id)).to.deep.equal(all.map(({ _id }) => _id));
    const problem = await planOf(statementOf(...paid, { amount: 1, text: 'X' })).catch(String);
    expect(problem).to.include('it has more than 50000 lines');
    await deposits.deleteMany({ _id: { $in: all.map(({ _id }) => _id) } });
  });

  it('references that differ only in dashes match two deposits per line, however many', async () => {
    const [amount, accountId] = [createUniqueAmount(), newId()];
    const name = `WS${String(amount).padStart(10, '0')}`;
    const dashed = (n: number) =>
      Array.from(name, (each, at) => (n & (1 << at) ? `${each}-` : each)).join('');
    const all = Array.from({ length: 2_000 }, (_, n) => ({
      ...asked(n % 2 ? amount : amount + 1, dashed(n)),
      accountId,
    }));
    await deposits.insertMany(all.map(toStored));
    const { incoming } = await readBankStatement(
      Buffer.from(statementOf(...['A', 'B'].map((text) => ({ amount, text: `${text} ${name}` })))),
    );
    const { byLine, isNamed } = await findNamedDeposits(incoming, await findCandidates(incoming));
    expect(byLine.size).to.equal(2);
    for (const { byId, fitting, waiting } of byLine.values()) {
      expect([byId, fitting, waiting].map(({ length }) => length)).to.deep.equal([0, 2, 2]);
    }
    expect(all.every(isNamed), 'named deposits').to.equal(true);
    const plan = await planStatement({
      incoming,
      days: null,
      outgoing: 0,
      outgoingLines: [],
      corrections: [],
      others: 0,
      otherLines: [],
      refused: [],
    });
    expect(plan.lines.map(({ match }) => match)).to.deep.equal(['several', 'several']);
  });

  it('every query uses an index', async () => {
    const [day, amounts] = ['2026-01-01', [createUniqueAmount(), createUniqueAmount()]];
    const planOfQuery = async (query: { explain(): PromiseLike<unknown> }) =>
      JSON.stringify(await query.explain());
    for (const [what, plan] of Object.entries({
      candidates: await planOfQuery(
        deposits.find({ amount: { $in: amounts }, createdAt: { $gte: new Date(0), $lte: new Date() } }),
      ),
      kept: await planOfQuery(BankLineModel.find({ key: { $in: ['a', 'b'] } })),
      paid: await planOfQuery(BankLineModel.find({ depositId: { $in: ['a', 'b'], $type: 'string' } })),
      decided: await planOfQuery(
        BankLineModel.collection.find({
          status: { $in: ['used', 'set-aside'] },
          amount: { $in: amounts },
          day: { $gte: day },
        }),
      ),
      open: await planOfQuery(BankLineModel.collection.find({ status: 'open', amount: { $in: amounts } })),
      list: await planOfQuery(BankLineModel.find({ status: 'open' }).sort({ day: -1, _id: -1 }).limit(5)),
      old: await planOfQuery(
        BankLineModel.find({ status: { $in: ['used', 'set-aside'] }, day: { $lt: day } }).limit(5),
      ),
    })) {
      expect(plan, what).to.include('IXSCAN').and.to.not.include('COLLSCAN');
    }
  });

  it('removes decided lines after 400 days, and keeps open ones', async () => {
    const today = formatBusinessDay(new Date());
    const line = (status: BankLineStatus, ago: number): BankLine => ({
      _id: newId(),
      key: newId(),
      day: addDays(today, -ago),
      amount: createUniqueAmount(),
      status,
      description: 'BUDI',
      depositId: status === 'used' ? newId() : null,
      file: 'x',
      createdAt: new Date(),
      decided: null,
    });
    const [kept, ended] = [limits.bankLineKeptDays - 1, limits.bankLineKeptDays + 1];
    const staying = [line('used', kept), line('set-aside', kept), line('open', ended)];
    const going = [line('used', ended), line('set-aside', ended)];
    await BankLineModel.insertMany([...staying, ...going]);
    expect((await applyRetention()).bankLines).to.be.at.least(2);
    const ids = [...staying, ...going].map(({ _id }) => _id);
    const left = await BankLineModel.find({ _id: { $in: ids } }).lean<BankLine[]>();
    expect(left.map(({ _id }) => _id)).to.have.members(staying.map(({ _id }) => _id));
    expect(limits.bankLineAgeMaxDays, 'age of the oldest line that is read').to.be.below(kept);
  });

  it('does not confirm a deposit requested more than 31 days before the line', async () => {
    const dayMs = 86_400_000;
    const [old, young] = [asked(createUniqueAmount()), asked(createUniqueAmount())];
    await DepositModel.create({ ...old, createdAt: new Date(Date.now() - 32 * dayMs) });
    await DepositModel.create({ ...young, createdAt: new Date(Date.now() - 31 * dayMs) });
    const { lines } = await planOf(
      statementOf(...[old, young].map(({ amount, refId }) => ({ amount, text: `TRSF ${refId}` })), {
        amount: young.amount + 1,
        text: 'SETORAN',
        days: 5,
      }),
    );
    expect(lines.map(({ match }) => match)).to.deep.equal(['none', 'referenced', 'none']);
  });

  it('a deposit paid by a line is no candidate, but one confirmed by hand is', async () => {
    const amount = createUniqueAmount();
    const [byLine, byHand] = [asked(amount), asked(createUniqueAmount())];
    for (const each of [byLine, byHand]) {
      await DepositModel.create({ ...each, status: 'completed', completedAt: new Date() });
    }
    await BankLineModel.create({
      _id: newId(),
      key: newId(),
      day: formatBusinessDay(new Date()),
      amount,
      status: 'used',
      depositId: byLine._id,
      file: 'x',
      createdAt: new Date(),
    });
    const { lines } = await planOf(
      statementOf({ amount, text: 'SETORAN' }, { amount: byHand.amount, text: 'SETORAN' }),
    );
    expect(lines.map(({ match }) => match)).to.deep.equal(['none', 'decided']);
  });
});
