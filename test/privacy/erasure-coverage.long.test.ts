/**
 * What an erasure covers, and how it completes after crashes, during locks and during concurrent
 * work.
 */
import { expect } from 'chai';
import mongoose from 'mongoose';
import { bySystem } from '../../src/audit/record-audit.js';
import { requireReadyReport } from '../../src/api/reports/downloads.js';
import { QuoteModel, quotes, type Quote } from '../../src/bills/quote.model.js';
import { applyRetention } from '../../src/privacy/apply-retention.js';
import { eraseCustomer } from '../../src/privacy/erase-customer.js';
import { exportCustomer } from '../../src/privacy/export-customer.js';
import { maskPurchase } from '../../src/privacy/mask-purchase.js';
import { CaseModel } from '../../src/purchases/case.model.js';
import { concludeFailure, concludeSuccess } from '../../src/purchases/fulfil/conclude-purchase.js';
import { reportRepeatedSerialNumber } from '../../src/purchases/fulfil/record-cases.js';
import { reverseSale } from '../../src/purchases/fulfil/reverse-sale.js';
import { orders } from '../../src/purchases/order.model.js';
import { purchases, type Purchase } from '../../src/purchases/purchase.model.js';
import { closeLedger } from '../../src/reconciliation/closes/close-ledger.js';
import { generateReport } from '../../src/reports/generate-report.js';
import { removeExpiredReports } from '../../src/reports/end-reports.js';
import { ReportModel, type Report } from '../../src/reports/report.model.js';
import { setClock } from '../../src/shared/clock.js';
import { NotFoundError } from '../../src/shared/errors.js';
import { maskAll } from '../../src/shared/mask.js';
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
import { dayMs, expectLedgerToVerify, payBill, quoteOf } from './play-bill.js';

const number = '081234567890';
const nationalNumber = number.slice(1);
const by = { actor: 'cli:tester', from: null, reason: 'a test' };

describe('an erasure', function () {
  this.timeout(120_000);
  useDatabase();
  let play: Play;
  let daysBack = 40;

  before(async () => {
    setTime(dayAgo(daysBack), 9);
    play = await openPlay();
  });
  after(() => setClock(null));
  beforeEach(() => setTime(dayAgo((daysBack -= 3)), 10));

  const stored = async (id: string) => (await purchases.findOne({ _id: id })) as Purchase;
  async function createSoldPurchase(
    serialNumber: string | null = null,
    message = 'Sukses',
  ): Promise<Purchase> {
    const { purchase, order } = await claimNextOrder(await play.buy());
    await concludeSuccess(purchase, order, { code: '00', message, serialNumber });
    await untold(purchase);
    return stored(purchase._id);
  }
  const untold = ({ _id }: Purchase) =>
    deliveries.updateMany({ orderKey: _id }, { $set: { state: 'delivered', nextAttemptAt: null } });
  async function paidBill(serialNumber: string): Promise<{ purchase: Purchase; quote: Quote }> {
    const { purchase: bought, quote } = await payBill(play, number);
    const { purchase, order } = await claimNextOrder(bought);
    await concludeSuccess(purchase, order, { code: '00', message: 'Bayar BUDI', serialNumber });
    await untold(purchase);
    return { purchase: await stored(purchase._id), quote };
  }
  async function someReport(over: Partial<Report>): Promise<string> {
    const report: Report = {
      _id: newId(),
      accountId: play.buyer._id,
      role: 'buyer',
      type: 'transaction',
      format: 'json',
      period: { start: new Date(Date.now() - 90 * dayMs), end: new Date(Date.now() + dayMs) },
      status: 'completed',
      summary: {},
      rows: 0,
      size: 0,
      filename: 'report.json',
      epoch: 1,
      turn: null,
      nextActionAt: null,
      createdAt: new Date(),
      expiresAt: new Date(Date.now() + 7 * dayMs),
      ...over,
    };
    await ReportModel.create(report);
    return report._id;
  }
  const report = (id: string) => ReportModel.findById(id).lean<Report>();
  async function expectEnded(id: string): Promise<void> {
    const found = await report(id);
    expect(() => requireReadyReport(found)).to.throw(NotFoundError);
  }
  async function readAllTexts(id: string): Promise<string> {
    return JSON.stringify([
      await stored(id),
      await orders.find({ transactionId: id }).toArray(),
      await deliveries.find({ orderKey: id }).toArray(),
      await CaseModel.find({ transactionId: id }).lean(),
    ]);
  }
  async function expectErased(id: string): Promise<void> {
    const text = await readAllTexts(id);
    expect(text).to.not.match(/SITI|AMINAH|BUDI|SANTOSO/i);
    expect(text.replace(/[^0-9A-Za-z]/g, '')).to.not.include(nationalNumber);
    // Ignore ids and proofs, because these four digits can occur in them by chance.
    expect(text.replace(/[\w+/=-]{30,}/g, 'id')).to.not.include(nationalNumber.slice(3, 7));
  }

  const groups = [nationalNumber.slice(0, 3), nationalNumber.slice(3, 7), nationalNumber.slice(7)];
  const messages = [
    `Topup DANA ${number} a.n. SITI AMINAH sukses`,
    `T1#0${groups.join(' ')} GAGAL, MSISDN${number} TRX_${number} +62${nationalNumber} ${nationalNumber}`,
    `Pengisian ke +62 ${groups.join('-')} OK, http://h/x?to=%2B62${nationalNumber}`,
  ];
  const serialNumbers = [
    `${number}/SITI AMINAH/REF77`,
    `R24.${number}.0001`,
    `20240101/${number}`,
    `0${groups.join(' ')}`,
    `62${groups.join('-')}`,
    `SN${nationalNumber}X1`,
    'SITI AMINAH',
    '9911-2200-9911-2200-9911/SITI AMINAH',
    `9911-2200-9911-2200-9911/SITI/R1/900VA/71,3/${number}`,
    '9911-2200-9911-2200-9911/R1/900VA/SITI/71,3',
  ];

  it('removes the number and name everywhere and keeps the books valid', async () => {
    const all: string[] = [];
    for (const [n, serialNumber] of serialNumbers.entries()) {
      const message = messages[n % messages.length] ?? '';
      const { _id, refId } = await createSoldPurchase(serialNumber, message);
      const delivery = buildDelivery({
        id: newId(),
        accountId: play.buyer._id,
        channel: 'webhook',
        url: 'https://x.example/',
        event: 'transaction.success',
        refId,
        orderKey: _id,
        orderRank: 1,
        payload: { data: { customer_number: number, sn: serialNumber, message } },
      });
      const attempt = { n: 1, at: new Date(), durationMs: 1, httpStatus: 500, ack: null, error: 'HTTP 500' };
      await deliveries.insertOne({
        ...delivery,
        state: 'dead',
        nextAttemptAt: null,
        attempts: [{ ...attempt, answer: `no ${message}` }],
      });
      const reversal = {
        transactionId: _id,
        kind: 'reversal' as const,
        createdAt: new Date(),
        resolvedAt: null,
      };
      await CaseModel.create([
        { ...reversal, _id: newId(), detail: `it says ${message}` },
        { ...reversal, _id: newId(), detail: `it says again ${message}` },
      ]);
      all.push(_id);
    }
    const failed = await claimNextOrder(await play.buy());
    await concludeFailure(failed.purchase, failed.order, { code: '01', message: messages[1] ?? '' });
    await untold(failed.purchase);
    const reversed = await createSoldPurchase('SITI', 'ok');
    await reverseSale(reversed, { message: messages[0] ?? '', by: bySystem });
    await untold(reversed);
    all.push(failed.purchase._id, reversed._id);
    const { purchase: bill } = await paidBill('REF1BUDI2');
    all.push(bill._id);
    await play.post();
    setTime(dayAgo(daysBack - 1), 1);
    await closeLedger();
    await expectLedgerToVerify();

    const { left } = await eraseCustomer(number, by);
    expect(left).to.deep.equal([]);
    for (const id of all) {
      await expectErased(id);
    }
    const audit = await mongoose.connection
      .collection('audit')
      .find({ 'subject.id': { $in: all } })
      .toArray();
    expect(JSON.stringify(audit)).to.not.include('SITI').and.not.include(nationalNumber);
    await expectLedgerToVerify();
  });

  it('keeps a serial number that is only a reference, to detect reuse', async () => {
    const reference = `R24.0001.${newId()}`;
    const token = '9934-5678-9012-3456-7891';
    const first = await createSoldPurchase(reference);
    const power = await createSoldPurchase(`${token}/SITI/R1M/1300VA/71,3`);
    await eraseCustomer(number, by);
    expect((await stored(first._id)).serialNumber).to.equal(reference);
    expect((await stored(power._id)).serialNumber).to.equal(`${token}/***/R1M/1300VA/71,3`);
    for (const [serialNumber, earlier] of [
      [reference, first],
      [`${token}/ANI/R1M/1300VA/71,3`, power],
    ] as const) {
      const again = await createSoldPurchase(newId());
      await reportRepeatedSerialNumber(again, serialNumber);
      const found = await CaseModel.findOne({ transactionId: again._id }).lean();
      expect(found?.detail).to.include(earlier._id);
    }
  });

  it('ends the reports of the buyer and the seller with their links', async () => {
    await createSoldPurchase();
    const [bought, sales, deposits, others] = await Promise.all([
      someReport({}),
      someReport({ accountId: play.seller._id, role: 'seller', type: 'sales' }),
      someReport({ type: 'deposit' }),
      someReport({ accountId: newId() }),
    ]);
    expect((await eraseCustomer(number, by)).reports).to.equal(2);
    await expectEnded(bought);
    await expectEnded(sales);
    for (const id of [deposits, others]) {
      expect(requireReadyReport(await report(id))._id).to.equal(id);
    }
  });

  it('is completed after a crash by the next erasure or the scheduled job', async () => {
    for (const next of [() => eraseCustomer('089900000000', by), applyRetention]) {
      const purchase = await createSoldPurchase();
      const ids = await Promise.all([
        someReport({}),
        someReport({ accountId: play.seller._id, role: 'seller', type: 'sales' }),
      ]);
      const { left } = await maskPurchase(purchase, { hide: maskAll, endsReports: true });
      expect(left).to.equal(null);
      await next();
      for (const id of ids) {
        await expectEnded(id);
      }
      expect(await stored(purchase._id)).to.not.have.property('reportsToEnd');
      const later = await someReport({});
      await next();
      expect(requireReadyReport(await report(later))._id).to.equal(later);
    }
  });

  it('ends a report in progress and deletes it once its worker can no longer write', async () => {
    await createSoldPurchase();
    const soon = new Date(Date.now() + 60 * dayMs);
    const made = await someReport({ status: 'processing', epoch: 1, nextActionAt: soon });
    const waits = await someReport({ status: 'pending', epoch: 0, nextActionAt: new Date() });
    await eraseCustomer(number, by);
    await generateReport(waits);
    expect(await report(waits)).to.include({ status: 'pending', epoch: 0 });
    await removeExpiredReports();
    expect(await report(waits)).to.equal(null);
    expect(await report(made), 'while its worker may still write').to.include({ status: 'processing' });
    await ReportModel.updateOne({ _id: made }, { $set: { nextActionAt: new Date(0) } });
    await removeExpiredReports();
    expect(await report(made), 'after its worker died').to.equal(null);
  });

  it('skips locked rows and erases them in a repeated run', async () => {
    const [one, other] = [await createSoldPurchase(), await createSoldPurchase()];
    const quote = quoteOf(play, { customerNumber: number, usedBy: newId() });
    await QuoteModel.create(quote);
    const session = await mongoose.connection.startSession();
    session.startTransaction();
    await purchases.updateOne({ _id: one._id }, { $set: { updatedAt: new Date() } }, { session });
    await quotes.updateOne({ _id: quote._id }, { $set: { billPeriod: '2024-04' } }, { session });
    // The retries need a running clock.
    setClock(null);
    const why = 'held by a database transaction';
    const { left, purchases: done } = await eraseCustomer(number, by);
    await session.abortTransaction();
    await session.endSession();
    expect(left).to.deep.equal([
      { transactionId: one._id, quoteId: null, why },
      { transactionId: quote.usedBy, quoteId: quote._id, why },
    ]);
    expect(done).to.be.at.least(1);
    expect((await stored(other._id)).customerNumber).to.equal(maskAll(number));
    expect(await eraseCustomer(number, by)).to.deep.include({ purchases: 1, bills: 1, left: [] });
    expect((await stored(one._id)).customerNumber).to.equal(maskAll(number));
  });

  it('finds a phone number in each of its formats', async () => {
    for (const storedNumber of ['6281177761240', '+6281177761240', '081177761240']) {
      for (const asked of ['081177761240', '6281177761240', '+62 811-7776-1240']) {
        const paid = quoteOf(play, { customerNumber: storedNumber, usedBy: newId() });
        await QuoteModel.create(paid);
        const { bills } = await exportCustomer(asked, by);
        expect(bills, `${storedNumber} by ${asked}`).to.have.length(1);
        expect((await eraseCustomer(asked, by)).bills).to.equal(1);
        expect((await quotes.findOne({ _id: paid._id }))?.customerNumber).to.equal(maskAll(storedNumber));
      }
    }
    const players = quoteOf(play, { customerNumber: '81177761240' });
    await QuoteModel.create(players);
    expect((await exportCustomer('081177761240', by)).bills, "may be a player's id").to.deep.equal([]);
    expect((await exportCustomer('81177761240', by)).bills).to.have.length(1);
  });

  it('counts a paid bill once, and each row once if two erasures run at once', async () => {
    await paidBill('123');
    for (let n = 0; n < 24; n += 1) {
      await createSoldPurchase();
    }
    const both = await Promise.all([eraseCustomer(number, by), eraseCustomer(number, by)]);
    expect(both.map(({ left }) => left)).to.deep.equal([[], []]);
    expect(both[0].purchases + both[1].purchases).to.equal(25);
    expect(both[0].bills + both[1].bills).to.equal(1);
  });
});
