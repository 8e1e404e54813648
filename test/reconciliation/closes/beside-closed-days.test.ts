/**
 * Data without a hash in a closed day is checked daily: adjustments, and the recent totals, quotes
 * and audit entries.
 */
import { expect } from 'chai';
import { Long, type Document } from 'mongodb';
import { createAccount } from '../../../src/accounts/create-account.js';
import type { Account } from '../../../src/accounts/account.model.js';
import { requestAdjustment } from '../../../src/adjustments/request-adjustment.js';
import { recordAudit } from '../../../src/audit/record-audit.js';
import { setTotalsComplete, areTotalsComplete } from '../../../src/money/totals/totals-state.model.js';
import { closeLedger } from '../../../src/reconciliation/closes/close-ledger.js';
import { verifyLedger } from '../../../src/reconciliation/ledger/verify-ledger.js';
import { setClock } from '../../../src/shared/clock.js';
import { newId } from '../../../src/shared/ids.js';
import { eventually } from '../../support/eventually.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { add, change, copy, db } from '../ledger/plant.js';
import { dayAgo, setTime } from './ledger-play.js';

const by = { actor: 'operator:budi', from: null, reason: 'ticket 90' };

describe('daily verification outside closed days', () => {
  useDatabase();
  let account: Account;
  let adjustmentId: string;

  before(async () => {
    setTime(dayAgo(3), 9);
    ({ account } = await createAccount({ username: `b${newId()}`, role: 'buyer' }));
    adjustmentId = (await requestAdjustment({ account, amount: 70_000 }, by))._id;
    setTime(dayAgo(1), 1);
    await closeLedger();
    setClock(null);
    await setTotalsComplete();
  });
  after(() => setClock(null));

  const findings = async (full: boolean) =>
    (await verifyLedger(undefined, { full })).findings.map(({ check, subject }) => `${check}: ${subject}`);

  it('is green, and marks each skipped rule as not checked', async () => {
    const daily = await verifyLedger();
    expect(daily.findings).to.deep.equal([]);
    const open = daily.checks.filter(({ failures }) => failures !== 0);
    expect(open.map(({ check, failures }) => [check, failures])).to.deep.equal([
      ['suspense-total', null],
      ['payable-total', null],
    ]);
    expect(daily.ok).to.equal(true);
    const full = await verifyLedger(undefined, { full: true });
    expect(full.findings).to.deep.equal([]);
    expect(full.checks.filter(({ failures }) => failures !== 0)).to.deep.equal([]);
  });

  it('is green after an export of purchases, also with every rule', async () => {
    await recordAudit(null, {
      ...by,
      action: 'purchase.export',
      subject: { kind: 'transaction', id: 'all' },
    });
    expect(await findings(false)).to.deep.equal([]);
    expect(await findings(true)).to.deep.equal([]);
  });

  it('does not report totals as correct if they were never built', async () => {
    await db().collection('totalsState').deleteMany({});
    // The process caches for a moment whether the totals are complete.
    await eventually('the cached state expires', async () => !(await areTotalsComplete()));
    const checks = (await verifyLedger()).checks.concat(
      (await verifyLedger(undefined, { full: true })).checks,
    );
    await setTotalsComplete();
    const totals = checks.filter(({ check }) => check === 'totals');
    expect(totals.map(({ failures }) => failures)).to.deep.equal([null, null]);
  });

  /**
   * Each row: the corruption, a function that plants it, and the expected findings. The daily and
   * the full verification report the same findings.
   */
  const corruptions: [string, () => Promise<() => Promise<unknown>>, () => string[]][] = [
    [
      'a forged adjustment journal with a matching wallet',
      () => forgeJournal(strange),
      () => [`adjustments: adjustment ${strange}`],
    ],
    [
      'a consistent adjustment without an audit entry',
      async () => {
        const restore = await forgeJournal(strange);
        const amounts = { amount: rupiah(9_000_000), balanceAfter: rupiah(9_070_000) };
        const forged = await copy('adjustments', { _id: adjustmentId }, { _id: strange, ...amounts });
        return () => Promise.all([restore(), forged()]);
      },
      () => [`vouched: adjustment ${strange}`],
    ],
    [
      'a changed amount in an adjustment of a closed day',
      () => change('adjustments', { _id: adjustmentId }, { $set: { amount: rupiah(1) } }),
      () => [`adjustments: adjustment ${adjustmentId}`],
    ],
    [
      'a changed requester of an adjustment',
      () => change('adjustments', { _id: adjustmentId }, { $set: { requestedBy: 'operator:dewi' } }),
      () => [`vouched: adjustment ${adjustmentId}`],
    ],
    [
      'wrong totals of today',
      () => add('dailyTotals', buildDriftedTotals(dayAgo(0))),
      () => [`totals: account ${account._id} on ${dayAgo(0)}`],
    ],
    [
      'wrong totals of the last closed day',
      () => add('dailyTotals', buildDriftedTotals(dayAgo(2))),
      () => [`totals: account ${account._id} on ${dayAgo(2)}`],
    ],
    [
      'a quote claimed by a nonexistent payment',
      () => add('quotes', { _id: newId(), accountId: account._id, usedBy: strange }),
      () => ['quotes: quote'],
    ],
    [
      'a deposit that is only in the audit log',
      () => trace('deposit'),
      () => [`vouched: deposit ${strange}`],
    ],
    [
      'an adjustment that is only in the audit log',
      () => trace('adjustment'),
      () => [`vouched: adjustment ${strange}`],
    ],
  ];
  for (const [what, plant, expected] of corruptions) {
    it(`reports ${what}`, async () => {
      const restore = await plant();
      const [daily, full] = await Promise.all([false, true].map(findings)).finally(restore);
      const named = expected();
      expect(daily, 'daily verification').to.have.length(named.length);
      named.forEach((each, index) => expect(daily?.[index]).to.include(each));
      expect(full, 'full verification').to.deep.equal(daily);
    });
  }

  const strange = 'f'.repeat(32);

  /** Forges a journal, and changes the wallet to match it. */
  async function forgeJournal(subjectId: string): Promise<() => Promise<unknown>> {
    const amount = rupiah(9_000_000);
    const [journal, wallet] = await Promise.all([
      add('journals', {
        _id: newId(),
        accountId: account._id,
        kind: 'adjustment',
        subjectId,
        walletId: account._id,
        walletSeq: rupiah(2),
        balanceAfter: rupiah(9_070_000),
        createdAt: new Date(),
        lines: [
          { account: 'platform:adjustments', amount: amount.neg() },
          { account: `wallet:${account._id}`, amount },
        ],
      }),
      change('wallets', { _id: account._id }, { $set: { balance: rupiah(9_070_000), seq: rupiah(2) } }),
    ]);
    return () => Promise.all([journal(), wallet()]);
  }

  function buildDriftedTotals(day: string): Document {
    const counters = { bought: { count: { SUCCESS: rupiah(7) } } };
    return { _id: `${account._id}|${day}|base`, accountId: account._id, day, slot: null, counters };
  }

  async function trace(kind: 'deposit' | 'adjustment'): Promise<() => Promise<unknown>> {
    await recordAudit(null, { ...by, action: `${kind}.confirm`, subject: { kind, id: strange } });
    return () => db().collection('audit').deleteMany({ 'subject.id': strange });
  }
});

const rupiah = (amount: number) => Long.fromNumber(amount);
