/** Scheduled masking, and its effects on the ledger, on repeated calls and on checks. */
import { expect } from 'chai';
import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { QuoteModel, quotes } from '../../src/bills/quote.model.js';
import { applyRetention } from '../../src/privacy/apply-retention.js';
import { eraseCustomer } from '../../src/privacy/erase-customer.js';
import { createPurchase } from '../../src/purchases/accept/accept-purchase.js';
import { CaseModel } from '../../src/purchases/case.model.js';
import { concludeSuccess } from '../../src/purchases/fulfil/conclude-purchase.js';
import { reportRepeatedSerialNumber } from '../../src/purchases/fulfil/record-cases.js';
import { buildProviderOrder } from '../../src/purchases/fulfil/orders.js';
import { reverseSale, verifySale } from '../../src/purchases/fulfil/reverse-sale.js';
import { orders, type Order } from '../../src/purchases/order.model.js';
import { purchases, type Purchase } from '../../src/purchases/purchase.model.js';
import { StalePurchaseError } from '../../src/purchases/states.js';
import { bySystem } from '../../src/audit/record-audit.js';
import { closeLedger } from '../../src/reconciliation/closes/close-ledger.js';
import { verifyLedger } from '../../src/reconciliation/ledger/verify-ledger.js';
import { setClock } from '../../src/shared/clock.js';
import { ConflictError } from '../../src/shared/errors.js';
import { newId } from '../../src/shared/ids.js';
import { deliveries } from '../../src/webhooks/deliver/delivery.model.js';
import { buildDelivery } from '../../src/webhooks/new-delivery.js';
import {
  dayAgo,
  openPlay,
  claimNextOrder,
  setTime,
  type Play,
} from '../reconciliation/closes/ledger-play.js';
import { useDatabase } from '../webhooks/support/database.js';
import { dayMs, expectLedgerToVerify, payBill } from './play-bill.js';

const number = '081234567890';
const maskedNumber = '********7890';
const by = { actor: 'cli:tester', from: null, reason: 'a test' };

describe('retention', function () {
  this.timeout(120_000);
  useDatabase();
  let play: Play;
  let daysBack = 40;
  const token = '1234-5678-9012-3456-7890/NI MADE/AYU/R1/900VA/71,3';

  before(async () => {
    setTime(dayAgo(daysBack), 9);
    play = await openPlay();
  });
  after(() => setClock(null));
  // Each test uses its own day and can therefore close it.
  beforeEach(() => setTime(dayAgo((daysBack -= 3)), 10));

  const stored = async (id: string) => (await purchases.findOne({ _id: id })) as Purchase;
  const later = (ms: number) => {
    const at = Date.now() + ms;
    setClock(() => at);
  };
  const afterTwoYears = async () => {
    later(800 * dayMs);
    await applyRetention();
    setClock(null);
  };
  async function closeDay(): Promise<void> {
    await play.post();
    setTime(dayAgo(daysBack - 1), 1);
    await closeLedger();
  }
  async function sell(purchase: Purchase, answer: { message: string; serialNumber: string | null }) {
    const sent = await claimNextOrder(purchase);
    await concludeSuccess(sent.purchase, sent.order, { code: '00', ...answer });
  }

  it('masks a final purchase with its rows and keeps the books valid', async () => {
    const sold = await play.buy();
    await sell(sold, { message: `Pulsa ke ${number} masuk`, serialNumber: token });
    const failed = await play.buy();
    await play.fail(failed);
    const reversed = await play.buy();
    await play.succeed(reversed);
    await play.reverse(reversed);
    const delivery = buildDelivery({
      id: newId(),
      accountId: play.buyer._id,
      channel: 'webhook',
      url: 'https://x.example/',
      event: 'transaction.success',
      refId: sold.refId,
      orderKey: sold._id,
      orderRank: 1,
      payload: { data: { customer_number: number, sn: token, price: 1_000 } },
    });
    const attempt = { n: 1, at: new Date(), durationMs: 1, httpStatus: 500, ack: null, error: 'HTTP 500' };
    await deliveries.insertOne({
      ...delivery,
      state: 'dead',
      nextAttemptAt: null,
      attempts: [{ ...attempt, answer: `no such ${number}` }],
    });
    await CaseModel.create({
      _id: newId(),
      transactionId: sold._id,
      kind: 'reversal',
      resolvedAt: null,
      detail: `the provider says: ${number} gagal`,
      createdAt: new Date(),
    });
    await closeDay();
    const before = await stored(sold._id);
    await expectLedgerToVerify();

    await afterTwoYears();

    const after = await stored(sold._id);
    expect(after).to.deep.include({
      customerNumber: maskedNumber,
      message: 'Removed with the customer number.',
    });
    expect(after.serialNumber).to.equal('1234-5678-9012-3456-7890/***/R1/900VA/71,3');
    expect(after).to.not.have.property('proofSalt');
    const { customerNumber: _n, message: _m, serialNumber: _s, proofSalt: _p, ...rest } = before;
    expect(after).to.deep.include(rest);
    for (const { _id } of [failed, reversed]) {
      expect((await stored(_id)).customerNumber).to.equal(maskedNumber);
    }
    const written = [
      ...(await orders.find({ transactionId: sold._id }).toArray()),
      ...(await deliveries.find({ orderKey: sold._id }).toArray()),
      ...(await CaseModel.find({ transactionId: sold._id }).lean()),
    ];
    expect(written).to.have.length(3);
    expect(JSON.stringify(written)).to.not.include(number).and.not.include('MADE');
    expect(JSON.stringify(written)).to.include(maskedNumber);
    await expectLedgerToVerify();
  });

  it('detects a masked purchase that was changed afterwards', async () => {
    const sold = await play.buy();
    await play.succeed(sold);
    await closeDay();
    await afterTwoYears();
    await expectLedgerToVerify();
    const { refId, proofs } = await stored(sold._id);
    for (const change of [{ proofs: { ...proofs, customerNumber: 'f'.repeat(64) } }, { refId: 'another' }]) {
      await purchases.updateOne({ _id: sold._id }, { $set: change });
      const { findings } = await verifyLedger();
      expect(findings.map(({ check }) => check)).to.include('closed-days');
      await purchases.updateOne({ _id: sold._id }, { $set: { refId, proofs: proofs ?? {} } });
    }
    await expectLedgerToVerify();
  });

  it('skips recent, open, reviewed and undelivered purchases; 0 disables it', async () => {
    const young = await play.buy();
    await play.succeed(young);
    const open = await play.buy();
    const reviewed = await play.buy();
    await purchases.updateOne({ _id: reviewed._id }, { $set: { reviewSince: new Date() } });
    const undelivered = await play.buy();
    await play.succeed(undelivered);
    const row = buildDelivery({
      id: newId(),
      accountId: play.buyer._id,
      channel: 'webhook',
      url: 'https://x.example/',
      event: 'transaction.success',
      refId: undelivered.refId,
      orderKey: undelivered._id,
      orderRank: 1,
      payload: { data: { customer_number: number } },
    });
    await deliveries.insertOne(row);
    const numbers = async () =>
      Promise.all(
        [young, open, reviewed, undelivered].map(async ({ _id }) => (await stored(_id)).customerNumber),
      );
    const clear = [number, number, number, number];

    later(600 * dayMs);
    await applyRetention();
    expect(await numbers(), 'before two years').to.deep.equal(clear);
    const months = env.CUSTOMER_NUMBER_MONTHS;
    env.CUSTOMER_NUMBER_MONTHS = 0;
    await afterTwoYears();
    env.CUSTOMER_NUMBER_MONTHS = months;
    expect(await numbers(), 'switched off').to.deep.equal(clear);
    await afterTwoYears();
    expect(await numbers()).to.deep.equal([maskedNumber, number, number, number]);
    expect((await deliveries.findOne({ _id: row._id }))?.body).to.equal(row.body);

    const { left } = await eraseCustomer(number, by);
    expect(left.map(({ transactionId, why }) => `${transactionId}: ${why}`)).to.include.members([
      `${open._id}: not final`,
      `${undelivered._id}: a webhook is under way`,
    ]);
    await deliveries.updateOne({ _id: row._id }, { $set: { state: 'delivered', nextAttemptAt: null } });
    await afterTwoYears();
    expect((await stored(undelivered._id)).customerNumber).to.equal(maskedNumber);
    await purchases.updateOne({ _id: reviewed._id }, { $set: { reviewSince: null } });
  });

  it('returns the purchase of a repeated ref_id; refuses another number or product', async () => {
    const sold = await play.buy();
    await play.succeed(sold);
    const again = (customerNumber: string, productCode = play.shop.productCode) =>
      createPurchase({
        account: play.buyer,
        surface: 'buyer',
        productCode,
        customerNumber,
        refId: sold.refId,
      });
    const refused = (attempt: Promise<unknown>) =>
      attempt.then(
        () => expect.fail('it was answered'),
        (error: unknown) => expect(error).to.be.instanceOf(ConflictError),
      );
    const other = `${number.slice(0, -1)}1`;
    await refused(again('************'));
    await afterTwoYears();
    const replayed = await again(number);
    expect(replayed).to.deep.include({ created: false });
    expect(replayed.purchase).to.include({ _id: sold._id, customerNumber: maskedNumber });
    await refused(again(other));
    await refused(again(`${number}1`));
    await refused(again(number, 'another'));
    // After an erasure only the length of the number can be compared. Even so, the call creates no
    // purchase.
    const second = await play.buy();
    await play.succeed(second);
    await deliveries.deleteMany({ orderKey: second._id });
    await eraseCustomer(number, by);
    expect((await stored(second._id)).customerNumber).to.equal('************');
    const { purchase, created } = await createPurchase({
      account: play.buyer,
      surface: 'buyer',
      productCode: play.shop.productCode,
      customerNumber: number,
      refId: second.refId,
    });
    expect([purchase._id, created]).to.deep.equal([second._id, false]);
  });

  it('removes inquiries after 30 days and keeps paid ones verifiable', async () => {
    const { purchase, quote } = await payBill(play, number);
    await play.succeed(purchase);
    const unpaid = { ...quote, _id: newId(), usedBy: null };
    await QuoteModel.create(unpaid);
    await quotes.updateOne({ _id: quote._id }, { $set: { details: { tariff: 'R1', power: '1300' } } });
    await closeDay();
    later(limits.quoteKeptMs - 4 * dayMs);
    await applyRetention();
    expect(await quotes.findOne({ _id: unpaid._id })).to.deep.include({ customerName: 'BUDI SANTOSO' });
    later(limits.quoteKeptMs + dayMs);
    await applyRetention();
    setClock(null);
    expect(await quotes.findOne({ _id: unpaid._id })).to.equal(null);
    expect(await quotes.findOne({ _id: quote._id })).to.not.have.property('details');
    expect(await quotes.findOne({ _id: quote._id })).to.deep.include({
      customerNumber: maskedNumber,
      customerName: '***',
      totalAmount: 1_000,
      usedBy: purchase._id,
    });
    expect((await stored(purchase._id)).customerNumber, 'number of the paid bill').to.equal(number);
    await expectLedgerToVerify();
    await afterTwoYears();
    expect((await stored(purchase._id)).customerNumber).to.equal(maskedNumber);
    await expectLedgerToVerify();
    await quotes.updateOne({ _id: quote._id }, { $set: { customerNumber: '********0000' } });
    const { findings } = await verifyLedger(undefined, { full: true });
    expect(findings.map(({ check }) => check)).to.include('quotes');
    await quotes.updateOne({ _id: quote._id }, { $set: { customerNumber: maskedNumber } });
  });

  it('still detects a token that is sold again', async () => {
    const sold = await play.buy();
    const other = '9934-5678-9012-3456-7890/SITI/R1/900VA/71,3';
    await sell(sold, { message: 'Sukses', serialNumber: other });
    await afterTwoYears();
    const again = await play.buy();
    await reportRepeatedSerialNumber(again, other);
    const found = await CaseModel.findOne({ transactionId: again._id }).lean();
    expect(found?.detail).to.include(sold._id);
  });

  it('makes a reversal retry if it read the number before the masking', async () => {
    const sold = await play.buy();
    await play.succeed(sold);
    const read = await stored(sold._id);
    await afterTwoYears();
    const stale = await reverseSale(read, { message: 'Dibatalkan', by: bySystem }).catch(
      (error: unknown) => error,
    );
    expect(stale).to.be.instanceOf(StalePurchaseError);
    await play.reverse(sold);
    expect(await stored(sold._id)).to.deep.include({ status: 'REFUNDED', customerNumber: maskedNumber });
    await expectLedgerToVerify();
  });

  it('hands a late failure to an operator without a call to the provider', async () => {
    const sold = await play.buy();
    await play.succeed(sold);
    await afterTwoYears();
    await verifySale(sold._id, sold.accountId);
    const found = await CaseModel.findOne({ transactionId: sold._id, kind: 'reversal' }).lean();
    expect(found?.detail).to.include('masked');
    const [order] = await orders.find({ transactionId: sold._id }).toArray();
    expect(order?.checks).to.equal(0);
    expect(() => buildProviderOrder({ ...sold, proofs: {} }, order as Order, new Date())).to.throw('masked');
  });

  it('removes dead and held webhooks after 180 days, but not resent ones', async () => {
    setClock(null);
    const make = async (state: 'dead' | 'held' | 'due' | 'delivered', days: number) => {
      const settledAt = state === 'due' ? null : new Date(Date.now() - days * dayMs);
      const delivery = buildDelivery({
        id: newId(),
        accountId: newId(),
        channel: 'webhook',
        url: 'https://x.example/',
        event: 'transaction.success',
        payload: {},
      });
      await deliveries.insertOne({ ...delivery, state, settledAt, createdAt: new Date(0) });
      return delivery._id;
    };
    const old = [await make('dead', 181), await make('held', 181), await make('dead', 500)];
    const retained = [
      await make('dead', 179),
      await make('held', 179),
      await make('due', 500),
      await make('delivered', 500),
    ];
    await Promise.all([applyRetention(), applyRetention()]);
    const left = await deliveries.distinct('_id', { _id: { $in: [...old, ...retained] } });
    expect(left).to.have.members(retained);
    await deliveries.deleteMany({ _id: { $in: retained } });
  });

  it('is idempotent and safe when several runs overlap', async () => {
    const all = [];
    for (let n = 0; n < 20; n += 1) {
      const bought = await play.buy();
      await play.succeed(bought);
      all.push(bought._id);
    }
    await closeDay();
    later(800 * dayMs);
    await Promise.all([applyRetention(), applyRetention(), applyRetention()]);
    const once = await purchases.find({ _id: { $in: all } }).toArray();
    expect(new Set(once.map((each) => each.customerNumber))).to.deep.equal(new Set([maskedNumber]));
    await applyRetention();
    setClock(null);
    expect(await purchases.find({ _id: { $in: all } }).toArray()).to.deep.equal(once);
    await expectLedgerToVerify();
  });
});
