/** Manual corrections of wallets. */
import { expect } from 'chai';
import { env } from '../../config/env.js';
import { createAccount } from '../../src/accounts/create-account.js';
import type { Account } from '../../src/accounts/account.model.js';
import { AdjustmentModel, adjustments, type Adjustment } from '../../src/adjustments/adjustment.model.js';
import { approveAdjustment, rejectAdjustment } from '../../src/adjustments/decide-adjustment.js';
import { requestAdjustment } from '../../src/adjustments/request-adjustment.js';
import { AuditModel } from '../../src/audit/audit.model.js';
import { countAttention } from '../../src/doctor/attention.js';
import { JournalModel } from '../../src/money/journals/journal.model.js';
import { getWallet } from '../../src/money/wallets/wallet-balance.js';
import { createOperator } from '../../src/operators/manage-operators.js';
import { verifyLedger } from '../../src/reconciliation/ledger/verify-ledger.js';
import { newId } from '../../src/shared/ids.js';
import { change, remove, type Restore } from '../reconciliation/ledger/plant.js';
import { withFault } from '../support/mongo-faults.js';
import { topup } from '../support/topup.js';
import { useDatabase } from '../webhooks/support/database.js';

const budi = { actor: 'operator:budi', from: null, reason: 'ticket 90' };
const dewi = { actor: 'operator:dewi', from: null, reason: 'seen on the statement' };
const large = env.ADJUSTMENT_APPROVAL_FROM;
/** Returns an operator without earlier adjustments. */
const createOtherOperator = () => ({ ...dewi, actor: `operator:${newId()}` });

describe('adjustments', () => {
  useDatabase();

  async function newBuyer(balance = 0): Promise<Account> {
    const { account } = await createAccount({ username: `b${newId()}`, role: 'buyer' });
    if (balance > 0) {
      await requestAdjustment({ account, amount: balance }, createOtherOperator());
    }
    return account;
  }
  const balance = async ({ _id }: Account) => (await getWallet(_id)).balance;
  const read = (id: string) => AdjustmentModel.findById(id).orFail().lean<Adjustment>();
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: unknown) => (error as Error).message,
    );

  it('post at once below the limit, with a journal and an audit entry', async () => {
    const account = await newBuyer();
    await requestAdjustment({ account, amount: 70_000 }, budi);
    const made = await requestAdjustment({ account, amount: -30_000 }, budi);
    expect(made).to.include({ status: 'completed', balanceAfter: 40_000, decidedBy: null });
    expect(await balance(account)).to.equal(40_000);
    const journal = await JournalModel.findOne({ subjectId: made._id }).lean();
    expect(journal).to.include({ kind: 'adjustment', balanceAfter: 40_000 });
    expect(journal?.lines).to.deep.equal([
      { account: 'platform:adjustments', amount: 30_000 },
      { account: `wallet:${account._id}`, amount: -30_000 },
    ]);
    expect(await AuditModel.findOne({ 'subject.id': made._id }).lean()).to.include({
      action: 'adjustment.post',
      actor: budi.actor,
      reason: budi.reason,
    });
  });

  it('never take a wallet below zero in 20 concurrent debits', async () => {
    const account = await newBuyer(100_000);
    const refusals = await Promise.all(
      Array.from({ length: 20 }, () => refusal(requestAdjustment({ account, amount: -30_000 }, budi))),
    );
    expect(refusals.filter((each) => each === null)).to.have.length(3);
    expect(refusals.find((each) => each !== null)).to.equal(
      'The wallet holds 10000: a debit of 30000 would take it below zero.',
    );
    expect(await balance(account)).to.equal(10_000);
    expect(await AdjustmentModel.countDocuments({ accountId: account._id })).to.equal(4);
  });

  for (const amount of [large, -large, large + 1]) {
    it(`of ${amount} need one approval by another operator`, async () => {
      const account = await newBuyer();
      for (let made = 0; made < large; made += large - 1) {
        await requestAdjustment({ account, amount: large - 1 }, createOtherOperator());
      }
      const before = await balance(account);
      const { adjustments: waiting } = await countAttention();
      const { _id, status } = await requestAdjustment({ account, amount }, budi);
      expect(status).to.equal('pending');
      expect(await balance(account)).to.equal(before);
      expect((await countAttention()).adjustments).to.equal(waiting + 1);
      expect(await refusal(approveAdjustment(_id, budi))).to.match(/another operator must approve/);
      expect(await balance(account)).to.equal(before);
      const approvals = await Promise.all(
        Array.from({ length: 5 }, () => refusal(approveAdjustment(_id, dewi))),
      );
      expect(approvals).to.include(null);
      expect(await balance(account)).to.equal(before + amount);
      expect((await approveAdjustment(_id, dewi)).changed).to.equal(false);
      expect(await read(_id)).to.include({
        status: 'completed',
        requestedBy: budi.actor,
        decidedBy: dewi.actor,
        balanceAfter: before + amount,
      });
      const actions = await AuditModel.find({ 'subject.id': _id }).sort({ at: 1 }).lean();
      expect(actions.map(({ action, actor }) => `${action} ${actor}`)).to.deep.equal([
        `adjustment.request ${budi.actor}`,
        `adjustment.approve ${dewi.actor}`,
      ]);
      expect(await refusal(rejectAdjustment(_id, dewi))).to.match(/is completed/);
    });
  }

  it('need no approval just below the limit; with limit 0 all need one', async () => {
    const account = await newBuyer();
    expect(await requestAdjustment({ account, amount: large - 1 }, budi)).to.include({ status: 'completed' });
    env.ADJUSTMENT_APPROVAL_FROM = 0;
    const waiting = await requestAdjustment({ account, amount: 1 }, budi).finally(() => {
      env.ADJUSTMENT_APPROVAL_FROM = large;
    });
    expect(waiting.status).to.equal('pending');
    await rejectAdjustment(waiting._id, budi);
  });

  it('add up per operator and account within 24 hours by absolute amount', async () => {
    const account = await newBuyer();
    const ask = (amount: number, by = budi) => requestAdjustment({ account, amount }, by);
    const step = large / 4;
    for (const amount of [step, -step, step]) {
      expect((await ask(amount)).status).to.equal('completed');
    }
    const [waiting, small] = [await ask(-step), await ask(step - 1)];
    expect([waiting.status, small.status]).to.deep.equal(['pending', 'completed']);
    const next = await ask(1);
    expect(next.status, 'next adjustment at the limit').to.equal('pending');
    expect(await balance(account)).to.equal(2 * step - 1);
    expect((await ask(step, dewi)).status, 'adjustment of another operator').to.equal('completed');
    const other = await newBuyer();
    expect((await requestAdjustment({ account: other, amount: step }, budi)).status).to.equal('completed');
    // Neither approved nor rejected adjustments count towards the limit.
    await approveAdjustment(next._id, dewi);
    await rejectAdjustment(waiting._id, dewi);
    const past = new Date(Date.now() - 86_401_000);
    await adjustments.updateOne({ _id: small._id }, { $set: { createdAt: past } });
    expect((await ask(step - 1)).status, 'after 24 hours').to.equal('completed');
    expect((await ask(1)).status).to.equal('pending');
  });

  it('of one operator stay below the limit in 20 concurrent calls', async () => {
    const account = await newBuyer();
    const amount = large / 10;
    const made = await Promise.all(
      Array.from({ length: 20 }, () => requestAdjustment({ account, amount }, budi)),
    );
    expect(made.filter(({ status }) => status === 'completed')).to.have.length(9);
    expect(await balance(account)).to.equal(9 * amount);
  });

  it('stay pending if the balance no longer covers them at approval', async () => {
    const account = await newBuyer(10_000);
    const { _id } = await requestAdjustment({ account, amount: -large }, budi);
    expect(await refusal(approveAdjustment(_id, dewi))).to.match(/below zero/);
    expect(await read(_id)).to.include({ status: 'pending', decidedBy: null });
    expect(await balance(account)).to.equal(10_000);
  });

  it('are either approved or rejected when both happen at once', async () => {
    for (let round = 0; round < 5; round++) {
      const account = await newBuyer();
      const { _id } = await requestAdjustment({ account, amount: large }, budi);
      const [approved, rejected] = await Promise.all([
        refusal(approveAdjustment(_id, dewi)),
        refusal(rejectAdjustment(_id, budi)),
      ]);
      expect([approved, rejected].filter((each) => each === null)).to.have.length(1);
      expect(await balance(account)).to.equal(approved === null ? large : 0);
      if (rejected === null) {
        expect((await rejectAdjustment(_id, dewi)).changed).to.equal(false);
        expect(await refusal(approveAdjustment(_id, dewi))).to.match(/is rejected/);
      }
    }
  });

  it('refuse an invalid amount or reason with the name of the field', async () => {
    const account = await newBuyer();
    for (const amount of [0, 1.5, 1e13, -1e13, Number.NaN]) {
      expect(await refusal(requestAdjustment({ account, amount }, budi))).to.match(/^amount must be/);
    }
    expect(await refusal(requestAdjustment({ account, amount: 1 }, { ...budi, reason: ' ' }))).to.match(
      /reason/,
    );
    expect(await AdjustmentModel.countDocuments({ accountId: account._id })).to.equal(0);
  });

  it('return the outcome after a lost commit reply, or the command that shows it', async () => {
    const account = await newBuyer();
    const commit = { commands: ['commitTransaction'], kind: 'reply-lost' as const };
    const made = await withFault(commit, () => requestAdjustment({ account, amount: 5_000 }, budi));
    expect(made).to.include({ status: 'completed', balanceAfter: 5_000 });
    const why = await withFault({ ...commit, probability: 1 }, () =>
      refusal(requestAdjustment({ account, amount: 5_000 }, budi)),
    );
    expect(why).to.include(`topup adjust list --account ${account.username}`);
    expect(await balance(account)).to.equal(10_000);
  });

  it('are made, listed, approved and rejected on the command line', async () => {
    await createOperator({ username: 'dewi', role: 'admin', password: 'a password of dewi' }, budi);
    const account = await newBuyer();
    const run = (...args: string[]) => topup(['adjust', ...args, '--json'], process.env);
    const why = ['--reason', 'ticket 91'];
    expect((await run(account.username, '50000', ...why)).json()).to.include({ balance_after: 50_000 });
    expect((await run(account.username, '-20000', ...why)).json()).to.include({ balance_after: 30_000 });
    for (const amount of ['-20001.5', '1e3', 'much']) {
      expect((await run(account.username, amount, ...why)).code, amount).to.equal(2);
    }
    expect((await run(account.username, '-30001', ...why)).code).to.equal(1);
    expect((await run(account.username, '5000')).code, 'without a reason').to.equal(2);
    const waiting = (await run(account.username, String(large), ...why)).json<{
      id: string;
      status: string;
    }>();
    expect(waiting.status).to.equal('pending');
    const listed = (await run('list')).json<{ id: string; username: string }[]>();
    expect(listed.find(({ id }) => id === waiting.id)?.username).to.equal(account.username);
    expect((await run('approve', waiting.id, ...why)).code, 'approval by its own requester').to.equal(1);
    expect((await run('approve', waiting.id, '--as', 'nobody', ...why)).code).to.equal(1);
    expect((await run('approve', waiting.id, '--as', 'dewi', ...why)).json()).to.include({
      changed: true,
      decided_by: 'operator:dewi',
      balance_after: 30_000 + large,
    });
    const other = (await run(account.username, String(-large), ...why)).json<{ id: string }>();
    expect((await run('reject', other.id, ...why)).json()).to.include({ status: 'rejected', changed: true });
    const all = (await run('list', '--account', account.username)).json<unknown[]>();
    expect(all).to.have.length(4);
  });

  const corruptions: [string, (done: Adjustment, waiting: Adjustment) => Promise<Restore>, RegExp][] = [
    ['a missing journal', ({ _id }) => remove('journals', { subjectId: _id }), /has no journal/],
    [
      'a journal of a pending adjustment',
      ({ _id }) => change('adjustments', { _id }, { $set: { status: 'pending' } }),
      /it is pending and has a journal/,
    ],
    ['a changed amount', ({ _id }) => change('adjustments', { _id }, { $set: { amount: 1 } }), /moves|int64/],
    [
      'a changed balance',
      ({ _id }) => change('adjustments', { _id }, { $set: { balanceAfter: 1 } }),
      /its balanceAfter is/,
    ],
    [
      'approval by its own requester',
      ({ _id }) => change('adjustments', { _id }, { $set: { decidedBy: budi.actor } }),
      /requested it and approved/,
    ],
    [
      'a missing audit entry',
      ({ _id }) => remove('audit', { 'subject.id': _id }),
      /no audit entry adjustment\.post/,
    ],
    [
      'an amount that differs from its audit entry',
      ({ _id }) => change('audit', { 'subject.id': _id }, { $set: { 'after.amount': 1 } }),
      /its amount is 1000, its audit entry has 1/,
    ],
    [
      'a requester that differs from its audit entry',
      ({ _id }) => change('audit', { 'subject.id': _id }, { $set: { actor: dewi.actor } }),
      /its requestedBy is operator:budi, its audit entry has operator:dewi/,
    ],
    [
      'an approval without an audit entry',
      ({ _id }) => change('adjustments', { _id }, { $set: { decidedBy: dewi.actor } }),
      /no audit entry adjustment\.approve/,
    ],
    ['a missing adjustment', ({ _id }) => remove('adjustments', { _id }), /does not exist/],
    [
      'a completed adjustment without a journal',
      (_, { _id }) => change('adjustments', { _id }, { $set: { status: 'completed' } }),
      /has no journal/,
    ],
  ];
  for (const [what, corrupt, message] of corruptions) {
    it(`fail the verification: ${what}`, async () => {
      const account = await newBuyer();
      const done = await requestAdjustment({ account, amount: 1_000 }, budi);
      const waiting = await requestAdjustment({ account, amount: large }, budi);
      const restore = await corrupt(done, waiting);
      const { findings } = await verifyLedger().finally(restore);
      const own = findings.filter((each) => each.check === 'adjustments' || each.check === 'vouched');
      expect(own.map((each) => each.message).join()).to.match(message);
    });
  }

  it('leave a valid ledger', async () => {
    expect((await verifyLedger()).findings).to.deep.equal([]);
  });
});
