import { OfferModel } from '../../../src/products/offer.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { expect } from 'chai';
import { Double, Long, type Document } from 'mongodb';
import { findLastClosedDay } from '../../../src/money/closes/day-closes.js';
import { walletCloses } from '../../../src/money/closes/wallet-close.model.js';
import type { Purchase } from '../../../src/purchases/purchase.model.js';
import { closeLedger } from '../../../src/reconciliation/closes/close-ledger.js';
import type { LedgerReport } from '../../../src/reconciliation/ledger/ledger-report.js';
import { verifyLedger } from '../../../src/reconciliation/ledger/verify-ledger.js';
import type { Settlement } from '../../../src/settlements/settlement.model.js';
import { setClock } from '../../../src/shared/clock.js';
import { newId } from '../../../src/shared/ids.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { add, change, db, remove, type Restore } from '../ledger/plant.js';
import { dayAgo, openPlay, setTime, type Play } from './ledger-play.js';

const [first, second, third] = [dayAgo(4), dayAgo(3), dayAgo(2)];

describe('closed days of the ledger', function () {
  this.timeout(120_000);
  useDatabase();
  let play: Play;
  let sold: Purchase;
  let failed: Purchase;
  let overMidnight: Purchase;
  let reversedLater: Purchase;
  let open: Purchase;
  let depositId: string;
  let settlement: Settlement;

  before(async () => {
    setTime(first, 9);
    play = await openPlay();
    depositId = (await play.deposit())._id;
    sold = await play.buy();
    failed = await play.buy();
    reversedLater = await play.buy();
    await play.succeed(sold);
    await play.succeed(reversedLater);
    await play.fail(failed);
    await play.post();
    setTime(first, 23, 59);
    overMidnight = await play.buy();
    setTime(second, 0, 1);
    await play.succeed(overMidnight);
    await play.reverse(reversedLater);
    await play.post();
    setTime(second, 1);
    expect((await closeLedger()).map(({ _id }) => _id)).to.deep.equal([first]);
    setTime(second, 10);
    await creditSeller(100_000);
    settlement = await play.withdraw();
    setTime(third, 10);
    await play.pay(settlement);
    open = await play.buy();
    setTime(dayAgo(1), 1);
    expect((await closeLedger()).map(({ _id }) => _id)).to.deep.equal([second, third]);
    setClock(null);
    // These purchases belong to a day that is still open.
    await play.succeed(await play.buy());
    await play.fail(await play.buy());
  });
  after(() => setClock(null));

  /** Sells one purchase at this price, so that the seller's credit covers a withdrawal. */
  async function creditSeller(amount: number): Promise<void> {
    const setPrice = (price: number) =>
      writeAndInvalidate([OfferModel], null, (offers) =>
        offers.updateOne({ sellerId: play.seller._id }, { $set: { price } }),
      );
    await setPrice(amount);
    await play.succeed(await play.buy());
    await setPrice(1_000);
    await play.post();
  }

  const found = ({ findings }: LedgerReport) => findings.map(({ check, subject }) => `${check}: ${subject}`);
  const on = (account: { _id: string }, day: string) => `closed-days: wallet ${account._id} on ${day}`;

  it('pass verification by hashes and by all rules, even if a purchase spans days', async () => {
    const fast = await verifyLedger();
    expect(fast.findings).to.deep.equal([]);
    expect(fast.closes.days).to.equal(3);
    expect(fast.totals).to.equal(null);
    const full = await verifyLedger(undefined, { full: true });
    expect(full.findings).to.deep.equal([]);
    expect(full.totals?.suspense).to.equal(2_000 - 1_000);
    expect(full.closes.journals).to.equal(fast.closes.journals);
  });

  const corruptions: [string, () => Promise<Restore>, () => string[]][] = [
    [
      'a changed journal amount',
      () => change('journals', journal(sold._id, 'purchase'), { $inc: { 'lines.0.amount': Long.ONE } }),
      () => [on(play.buyer, first)],
    ],
    [
      'a journal amount stored as a double',
      async () => {
        const found = await db().collection('journals').findOne(journal(sold._id, 'purchase'));
        const amount = new Double(Number(found?.['balanceAfter']));
        return change('journals', journal(sold._id, 'purchase'), { $set: { balanceAfter: amount } });
      },
      () => [on(play.buyer, first)],
    ],
    [
      'a changed journal of a sale, which has no wallet',
      () => change('journals', journal(sold._id, 'success'), { $inc: { 'lines.1.amount': Long.ONE } }),
      () => [on(play.seller, first)],
    ],
    [
      'a lost journal of a sale',
      () => remove('journals', journal(overMidnight._id, 'success')),
      () => [on(play.seller, second)],
    ],
    [
      'the lost last journal of a wallet in a closed day',
      () => remove('journals', journal(settlement._id, 'settlement-completed')),
      () => [on(play.seller, third)],
    ],
    [
      'a journal without a place in its wallet',
      () => add('journals', { ...buildSurplus(), walletSeq: null }),
      () => [on(play.seller, second)],
    ],
    [
      'a changed ref_id',
      () => change('transactions', { _id: sold._id }, { $set: { refId: 'another' } }),
      () => [on(play.buyer, first)],
    ],
    [
      'a changed customer number',
      () => change('transactions', { _id: overMidnight._id }, { $set: { customerNumber: '081200000000' } }),
      () => [on(play.buyer, first)],
    ],
    [
      'a changed product of an open purchase',
      () => change('transactions', { _id: open._id }, { $set: { productCode: 'S100' } }),
      () => [on(play.buyer, third)],
    ],
    [
      'a forged markup',
      () => change('transactions', { _id: open._id }, { $set: { markup: Long.ONE } }),
      () => [on(play.buyer, third)],
    ],
    [
      'a changed serial number',
      () => change('transactions', { _id: overMidnight._id }, { $set: { serialNumber: 'SN-FORGED' } }),
      () => [on(play.seller, second)],
    ],
    [
      'a removed serial number of a sale that was reversed later',
      () => change('transactions', { _id: reversedLater._id }, { $set: { serialNumber: null } }),
      () => [on(play.seller, first)],
    ],
    [
      'a changed status of a sale',
      () => change('transactions', { _id: sold._id }, { $set: { status: 'REFUNDED' } }),
      () => [on(play.seller, first)],
    ],
    [
      'a changed status of a failure',
      () => change('transactions', { _id: failed._id }, { $set: { status: 'SUCCESS' } }),
      () => [on(play.buyer, first)],
    ],
    [
      'a changed commission rate of an order',
      () => change('attempts', { _id: `${sold._id}-1` }, { $set: { commissionRate: 0.5 } }),
      () => [on(play.seller, first)],
    ],
    [
      'a changed seller credit',
      () => change('sellerCredits', { _id: sold._id }, { $inc: { amount: Long.ONE } }),
      () => [on(play.seller, first)],
    ],
    [
      'a changed amount of a deposit',
      () => change('deposits', { _id: depositId }, { $inc: { amount: Long.ONE } }),
      () => [on(play.buyer, first)],
    ],
    [
      'a changed bank account of a settlement',
      () =>
        change('settlements', { _id: settlement._id }, { $set: { 'bankAccount.accountNumber': '999999' } }),
      () => [on(play.seller, second)],
    ],
    [
      'a changed state of a settlement',
      () => change('settlements', { _id: settlement._id }, { $set: { status: 'failed' } }),
      () => [on(play.seller, third)],
    ],
    [
      'a forged hash in the row of a wallet',
      () =>
        change('walletCloses', { _id: `${second}:${play.seller._id}` }, { $set: { hash: 'f'.repeat(64) } }),
      () => [on(play.seller, second), on(play.seller, third)],
    ],
    [
      'a lost row of a wallet',
      () => remove('walletCloses', { _id: `${second}:${play.seller._id}` }),
      () => [`closed-days: day ${second}`, on(play.seller, third)],
    ],
    [
      'a forged root',
      () => change('dayCloses', { _id: second }, { $set: { root: 'f'.repeat(64) } }),
      () => [`closed-days: day ${second}`, `closed-days: day ${third}`],
    ],
    ['a lost day', () => remove('dayCloses', { _id: second }), () => [`closed-days: day ${third}`]],
    [
      'an open purchase without a next action',
      () => change('transactions', { _id: open._id }, { $set: { nextActionAt: null } }),
      () => [`transaction-state: transaction ${open._id}`],
    ],
    [
      'a wallet without an account',
      () => add('wallets', { _id: 'f'.repeat(32), balance: Long.ZERO, held: Long.ZERO, seq: Long.ZERO }),
      () => [`wallet-account: wallet ${'f'.repeat(32)}`],
    ],
    [
      'a lost wallet',
      () => remove('wallets', { _id: play.seller._id }),
      () => [`wallet-account: wallet ${play.seller._id}`, `wallet-sequence: wallet ${play.seller._id}`],
    ],
    [
      'a changed balance of a wallet',
      () => change('wallets', { _id: play.buyer._id }, { $inc: { balance: Long.ONE } }),
      () => [`wallet-balance: wallet ${play.buyer._id}`],
    ],
  ];
  for (const [what, corrupt, expected] of corruptions) {
    it(`report the place of ${what}`, async () => {
      const restore = await corrupt();
      const report = await verifyLedger();
      await restore();
      expect(found(report)).to.include.members(expected());
      expect((await verifyLedger()).findings, 'findings after the repair').to.deep.equal([]);
    });
  }

  it('report wallet and day of a journal added at the end of a closed day', async () => {
    const wallet = await db()
      .collection('wallets')
      .findOne({ _id: play.seller._id as never });
    const restore = await add('journals', {
      ...buildSurplus(),
      walletSeq: Long.fromNumber(Number(wallet?.['seq']) + 1),
      balanceAfter: Long.fromNumber(Number(wallet?.['balance']) + 1_000_000),
    });
    const { findings } = await verifyLedger();
    await restore();
    const beyond = findings.find(({ check }) => check === 'wallet-sequence');
    expect(beyond?.subject).to.equal(`wallet ${play.seller._id}`);
    expect(beyond?.message).to.include(second);
  });

  /** Builds a journal on the second day that has no subject. */
  function buildSurplus(): Document & { _id: string } {
    return {
      _id: newId(),
      accountId: play.seller._id,
      kind: 'deposit',
      subjectId: newId(),
      walletId: play.seller._id,
      balanceAfter: Long.fromNumber(1_000_000),
      lines: [
        { account: 'platform:clearing', amount: Long.fromNumber(-1_000_000) },
        { account: `wallet:${play.seller._id}`, amount: Long.fromNumber(1_000_000) },
      ],
      createdAt: new Date(`${second}T05:00:00Z`),
    };
  }

  it('cause no findings while work is running', async () => {
    let isDone = false;
    const work = async () => {
      for (let n = 0; n < 6; n += 1) {
        const purchase = await play.buy();
        await (n % 2 === 0 ? play.succeed(purchase) : play.fail(purchase));
        await play.post();
      }
    };
    const working = Promise.all(Array.from({ length: 5 }, work)).finally(() => (isDone = true));
    let runs = 0;
    do {
      expect((await verifyLedger()).findings).to.deep.equal([]);
      runs += 1;
    } while (!isDone);
    await working;
    expect(runs).to.be.greaterThan(1);
    expect((await verifyLedger(undefined, { full: true })).findings).to.deep.equal([]);
  });

  it('accept a root that was stored elsewhere, and refuse an unknown one', async () => {
    const last = await findLastClosedDay();
    expect((await verifyLedger(undefined, { root: last?.root })).ok).to.equal(true);
    const report = await verifyLedger(undefined, { root: 'f'.repeat(64) });
    expect(found(report)).to.deep.equal([`closed-days: root ${'f'.repeat(64)}`]);
  });

  it('have rows of a wallet only for days with journals, each continuing the last', async () => {
    const rows = await walletCloses.find({ walletId: play.seller._id }).sort({ day: 1 }).toArray();
    expect(rows.map(({ day, firstSeq, lastSeq, newest }) => [day, firstSeq, lastSeq, newest])).to.deep.equal([
      [first, 1, 1, false],
      [second, 2, 4, false],
      [third, 5, 5, true],
    ]);
    expect(rows.at(-1)?.balance).to.equal(rows.at(-2)?.balance);
    expect(rows.map(({ held }) => held)).to.deep.equal([0, 50_000, 0]);
  });
});

const journal = (subjectId: string, kind: string) => ({ subjectId, kind });
