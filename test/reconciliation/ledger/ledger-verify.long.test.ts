import { expect } from 'chai';
import type { LedgerCheck, LedgerReport } from '../../../src/reconciliation/ledger/ledger-report.js';
import { withFault } from '../../support/mongo-faults.js';
import { topup, topupProcess } from '../../support/topup.js';
import { one, type Expected } from './corruption.js';
import { addFailures, removeFailures } from './add-failures.js';
import { createEdit, type Edit } from './edit.js';
import { buy, makeHistory, type History } from './history.js';
import { otherCorruptions } from './other-corruptions.js';
import { purchaseCorruptions } from './purchase-corruptions.js';
import { walletCorruptions } from './wallet-corruptions.js';

const corruptions = [...walletCorruptions, ...purchaseCorruptions, ...otherCorruptions];

describe('topup ledger verify', function () {
  this.timeout(120_000);
  let history: History;
  let planted: Edit;

  before(async () => {
    history = await makeHistory();
    planted = createEdit(history.stack.db);
  });
  afterEach(() => planted.undo());
  after(() => history.stack.stop());

  async function verify(env = history.stack.env): Promise<{ code: number | null; report: LedgerReport }> {
    const result = await topup(['ledger', 'verify', '--full', '--json'], env);
    expect(result.stdout, result.stderr).to.match(/^\{/);
    return { code: result.code, report: result.json<LedgerReport>() };
  }

  it('is green on everything that the service itself wrote, in every state', async () => {
    const { code, report } = await verify();
    expect(report.findings).to.deep.equal([]);
    expect(code).to.equal(0);
    expect(report.ok).to.equal(true);
    expect(report.examined.transactions).to.equal(8);
    expect(report.totals?.suspense).to.equal(report.totals?.openTransactions).and.to.be.greaterThan(0);
  });

  for (const { what, plant, finds } of corruptions.filter((each) => !each.byClose)) {
    it(`reports ${what}`, async () => {
      await plant(planted, history.ids);
      const { code, report } = await verify();
      const findingsJson = JSON.stringify(report.findings, null, 1);
      for (const [check, about, says] of finds.map(fillInIds)) {
        const found = report.findings.some(
          (each) => each.check === check && each.subject === about && each.message.includes(says),
        );
        expect(found, `no finding ${check} | ${about} | ${says} in ${findingsJson}`).to.equal(true);
      }
      expect(code).to.equal(1);
    });
  }

  for (const { what, plant } of corruptions.filter((each) => each.byClose)) {
    it(`continues after ${what}, which only a close can reveal`, async () => {
      await plant(planted, history.ids);
      await verify();
    });
  }

  function fillInIds([check, ...texts]: Expected): [LedgerCheck, string, string] {
    const ids = history.ids as unknown as Record<string, string>;
    const [about, says] = texts.map((text) =>
      text.replace(/\{(\w+)\}/g, (all, name: string) => ids[name] ?? all),
    );
    return [check, about ?? '', says ?? ''];
  }

  it('reads many batches once and finds corruptions at their ends and in the middle', async () => {
    const { stack, ids } = history;
    const copies = await addFailures(stack.db, ids);
    await topup(['totals', 'rebuild'], stack.env);
    const { report } = await verify();
    expect(report.findings).to.deep.equal([]);
    expect(report.examined.transactions).to.equal(8 + copies.length);
    const corrupted = [0, 499, 500, 1_000, copies.length - 1].map((index) => copies[index] ?? '');
    for (const id of corrupted) {
      await planted.change(
        'journals',
        { subjectId: id, kind: 'refund' },
        { $inc: { 'lines.0.amount': one } },
      );
      await planted.change('transactions', { _id: id }, { $inc: { version: 1 } });
    }
    const red = await verify();
    const named = red.report.findings.filter((each) => each.check === 'attempts').map((each) => each.subject);
    expect(named).to.deep.equal(corrupted.map((id) => `transaction ${id}`));
    expect(red.report.checks.find((each) => each.check === 'journal-balances')?.failures).to.equal(5);
    await planted.undo();
    await removeFailures(stack.db, ids, copies);
    await topup(['totals', 'rebuild'], stack.env);
    expect((await verify()).report.findings).to.deep.equal([]);
  });

  it('reports the sum of instant deposits that no person confirmed', async () => {
    const { stack, ids } = history;
    const instant = { ...stack.env, DEPOSIT_MODE: 'instant' };
    const well = await verify(instant);
    expect(well.report.findings).to.deep.equal([]);
    expect(well.report.totals?.unvouchedDeposits).to.equal(0);
    await planted.remove('audit', { 'subject.id': ids.idleDeposit, action: 'deposit.confirm' });
    const at = new Date();
    await planted.change('deposits', { _id: ids.idleDeposit }, { $set: { createdAt: at, completedAt: at } });
    const ownCall = await verify(instant);
    expect(ownCall.report.findings).to.deep.equal([]);
    expect(ownCall.report.totals?.unvouchedDeposits).to.equal(50_000);
    // A deposit that was pending needs a confirmation in every deposit mode.
    const earlier = new Date(at.getTime() - 3_600_000);
    await planted.change('deposits', { _id: ids.idleDeposit }, { $set: { createdAt: earlier } });
    const waited = await verify(instant);
    expect(waited.report.findings.map((each) => [each.check, each.subject])).to.deep.equal([
      ['vouched', `deposit ${ids.idleDeposit}`],
    ]);
  });

  it('survives a short outage of the database', async () => {
    const uri = String(history.stack.env['MONGODB_URI']);
    const { report } = await withFault({ commands: ['find'], kind: 'refused', times: 4, uri }, () =>
      verify(),
    );
    expect(report.findings).to.deep.equal([]);
  });

  it('shows an operator where to look, and is green again after the repair', async () => {
    const { stack, ids } = history;
    await planted.change('wallets', { _id: ids.buyerId }, { $inc: { balance: one } });
    const red = await topup(['ledger', 'verify'], stack.env);
    await planted.undo();
    expect(red.code).to.equal(1);
    expect(red.stdout).to.include('NOT consistent').and.to.include(`wallet ${ids.buyerId}`);
    const green = await topupProcess(['ledger', 'verify'], stack.env);
    // If the workers close a day during the verification, some rules are skipped.
    expect(green.stdout).to.match(/Every rule (that was checked )?holds/);
    expect(green.code).to.equal(0);
  });

  it('causes no findings while work is running', async () => {
    await history.stack.startWorker('all');
    let done = false;
    const load = Promise.all(Array.from({ length: 60 }, () => buy(history.buyer, 'S10', '7890'))).then(
      () => (done = true),
    );
    do {
      const { report } = await verify();
      expect(report.findings).to.deep.equal([]);
    } while (!done);
    await load;
    const { report } = await verify();
    expect(report.findings).to.deep.equal([]);
  });
});
