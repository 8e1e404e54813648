/**
 * A purchase under review can always be ended. The service accepts exactly the decisions that it
 * offers to the operator.
 */
import { expect } from 'chai';
import { env } from '../../../config/env.js';
import { listAttention } from '../../../src/console/attention/attention.js';
import { AuditModel } from '../../../src/audit/audit.model.js';
import { countAttention } from '../../../src/doctor/attention.js';
import { h2hTraits } from '../../../src/providers/h2h.js';
import { CaseModel } from '../../../src/purchases/case.model.js';
import { buildOrder } from '../../../src/purchases/fulfil/orders.js';
import { putUnderReview } from '../../../src/purchases/fulfil/put-under-review.js';
import { OrderModel, toStored, type Order } from '../../../src/purchases/order.model.js';
import { PurchaseModel, type Purchase } from '../../../src/purchases/purchase.model.js';
import {
  recheckOpenReviews,
  resolveReview,
  type Decision,
} from '../../../src/purchases/review/resolve-review.js';
import { describePurchase } from '../../../src/purchases/review/describe-purchase.js';
import { listReviews } from '../../../src/purchases/review/review-decisions.js';
import { listCases, resolveCase } from '../../../src/purchases/review/cases.js';
import { reverseByOperator } from '../../../src/purchases/review/reverse-by-operator.js';
import { verifyLedger } from '../../../src/reconciliation/ledger/verify-ledger.js';
import { setClock } from '../../../src/shared/clock.js';
import { newId } from '../../../src/shared/ids.js';
import { openShop, type Shop } from '../../jobs/sold-purchases.js';
import { sendJson, startPlayServer, type PlayServer } from '../../providers/play-server.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { fulfilById } from '../fulfil/fulfil-by-id.js';

const minute = 60_000;
const by = { actor: 'cli:tester', from: null, reason: 'in their record' };

type OrderState = Pick<Order, 'status' | 'open'> & Partial<Order>;
const sent: OrderState = { status: 'SENT', open: true };
const unknown: OrderState = { status: 'UNKNOWN', open: true };
const refused: OrderState = { status: 'REJECTED', open: false, code: '01', message: 'Refused' };
const lost: OrderState = {
  status: 'REJECTED',
  open: false,
  code: 'not-executed',
  message: 'Unknown to them',
};
const bought: OrderState = { status: 'OK', open: false, code: '00' };
const neverAskedAgain: OrderState = { ...unknown, neverAskAgain: true };

/**
 * The states in which purchases can come under review: the status of the purchase and the states of
 * its orders.
 */
const histories: [string, Purchase['status'], OrderState[]][] = [
  ['no order', 'PENDING', []],
  ['an order just sent', 'PROCESSING', [sent]],
  ['an order without an answer', 'PROCESSING', [unknown]],
  ['an order with "never ask again"', 'PROCESSING', [neverAskedAgain]],
  ['a refused order', 'PROCESSING', [refused]],
  ['an order that was not executed', 'PROCESSING', [lost]],
  ['two refused orders', 'PROCESSING', [refused, refused]],
  ['a refused order and one without an answer', 'PROCESSING', [refused, unknown]],
  ['a bought order', 'PROCESSING', [bought]],
  ['a refused order and a bought one', 'PROCESSING', [refused, bought]],
];
const ages: [string, number][] = [
  ['fresh', minute],
  ['older than the review wait', env.UNKNOWN_REVIEW_AFTER + minute],
  ["older than the provider's maximum age", h2hTraits.inquiryMaxAgeMs + minute],
];
const decisions: Decision[] = [
  { outcome: 'success', serialNumber: 'SN-1' },
  { outcome: 'failed' },
  { outcome: 'ask' },
];

describe('reviews', function () {
  this.timeout(120_000);
  useDatabase();
  let server: PlayServer;
  let shop: Shop;
  let answer: { transaction_status: string; status: string };

  before(async () => {
    server = await startPlayServer((call, response) => {
      const ref_id = call.url.searchParams.get('ref_id');
      sendJson(response, 200, { ref_id, message: 'Played', ...answer });
    });
    shop = await openShop(server.url);
  });
  after(() => server.stop());
  beforeEach(() => {
    answer = { transaction_status: 'pending', status: '05' };
    server.calls.length = 0;
  });
  afterEach(() => setClock(null));

  /** Creates a purchase of this age with these orders and puts it under review. */
  async function reviewOf(status: Purchase['status'], orders: OrderState[], ageMs = minute): Promise<string> {
    const { _id } = await shop.buy();
    const at = new Date(Date.now() - ageMs);
    const made = orders.map((state, index): Order => ({
      ...buildOrder({
        accountId: shop.buyer._id,
        transactionId: _id,
        n: index + 1,
        sellerId: shop.seller._id,
        offerPrice: 1_000,
        commissionRate: 0.02,
        provider: { kind: 'h2h', baseUrl: server.url, username: 'us' },
      }),
      sentAt: at,
      createdAt: at,
      updatedAt: at,
      ...state,
    }));
    if (made.length > 0) {
      await OrderModel.collection.insertMany(made.map(toStored) as never);
    }
    await PurchaseModel.updateOne({ _id }, { $set: { status, createdAt: at }, $inc: { version: 1 } });
    await putUnderReview(await read(_id), 'A test wants it.');
    return _id;
  }

  const read = (_id: string) => PurchaseModel.findById(_id).orFail().lean<Purchase>();
  const attempt = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: unknown) => (error as Error).message,
    );

  for (const [what, status, orders] of histories) {
    for (const [age, ageMs] of ages) {
      it(`${what}, ${age}: can be ended by exactly the offered decisions`, async () => {
        const id = await reviewOf(status, orders, ageMs);
        const named = (await describePurchase(id)).decisions;
        expect(named, 'offered decisions').not.to.deep.equal([]);
        const isOpen = orders.some((each) => each.open);
        if (isOpen && ageMs > h2hTraits.inquiryMaxAgeMs) {
          expect(named, 'offered decisions, because "ask" may buy again').not.to.include('ask');
        }
        const listed = (await listReviews({ limit: 1_000 })).find(({ purchase }) => purchase._id === id);
        expect(listed?.decisions).to.deep.equal(named);
        for (const decision of decisions) {
          const each = await reviewOf(status, orders, ageMs);
          const refusal = await attempt(resolveReview(each, decision, by));
          expect(refusal === null, `${decision.outcome}: ${refusal ?? 'accepted'}`).to.equal(
            named.includes(decision.outcome),
          );
          const after = await read(each);
          if (refusal === null) {
            expect(after.reviewSince, decision.outcome).to.equal(null);
            expect(after.status).to.equal(
              { success: 'SUCCESS', failed: 'FAILED', ask: status }[decision.outcome],
            );
            expect(
              await AuditModel.countDocuments({ 'subject.id': each, action: 'review.resolve' }),
            ).to.equal(1);
          } else {
            expect(refusal).to.match(/[Dd]ecide (success|failed)/);
            expect(after.reviewSince).not.to.equal(null);
          }
        }
      });
    }
  }

  it('the start page offers exactly the allowed decisions', async () => {
    const id = await reviewOf('PROCESSING', [bought]);
    // The start page lists the oldest review first.
    await PurchaseModel.updateOne({ _id: id }, { $set: { reviewSince: new Date(0) } });
    const page = await attentionList();
    const shown = page.items.find((each) => each.id === id);
    expect(shown?.decisions).to.deep.equal(['success']);
    expect(shown?.detail).to.include('A test wants it.');
  });

  it('a review is counted once and is not a case', async () => {
    const before = await countAttention();
    const id = await reviewOf('PROCESSING', [unknown]);
    const after = await countAttention();
    expect(after.reviews).to.equal(before.reviews + 1);
    expect(after.openCases).to.equal(before.openCases);
    expect(await CaseModel.countDocuments({ transactionId: id })).to.equal(0);
  });

  it('"ask" after the review\'s wait checks the provider, whose response decides', async () => {
    const id = await reviewOf('PROCESSING', [unknown], env.UNKNOWN_REVIEW_AFTER + minute);
    await resolveReview(id, { outcome: 'ask' }, by);
    await fulfilById(id);
    expect(server.calls, 'status checks').to.have.length(1);
    expect((await read(id)).reviewSince, 'review while the provider has time').to.equal(null);
    answer = { transaction_status: 'success', status: '00' };
    setClock(() => Date.now() + minute);
    await fulfilById(id);
    expect(await read(id)).to.include({ status: 'SUCCESS' });
  });

  it('"ask" without a response opens the review again after its wait, without a case', async () => {
    const id = await reviewOf('PROCESSING', [unknown], 60 * minute);
    await resolveReview(id, { outcome: 'ask' }, by);
    setClock(() => Date.now() + env.UNKNOWN_REVIEW_AFTER - minute);
    await fulfilById(id);
    expect((await read(id)).reviewSince).to.equal(null);
    setClock(() => Date.now() + 2 * env.UNKNOWN_REVIEW_AFTER);
    await fulfilById(id);
    expect((await read(id)).reviewSince).not.to.equal(null);
    expect(await CaseModel.countDocuments({ transactionId: id })).to.equal(0);
  });

  it('accepts one of several concurrent decisions', async () => {
    const id = await reviewOf('PROCESSING', [unknown]);
    const answers = await Promise.all(
      ['ask', 'failed', 'success', 'ask', 'failed'].map((outcome) =>
        attempt(resolveReview(id, { outcome, serialNumber: null } as Decision, by)),
      ),
    );
    expect(answers.filter((each) => each === null)).to.have.length(1);
    expect(await AuditModel.countDocuments({ 'subject.id': id, action: 'review.resolve' })).to.equal(1);
  });

  it('rechecks the open reviews of a seller, except undecidable and later ones', async () => {
    const other = newId();
    const [first, second] = [await reviewOf('PROCESSING', [unknown]), await reviewOf('PENDING', [refused])];
    const never = await reviewOf('PROCESSING', [neverAskedAgain]);
    const sold = await reviewOf('PROCESSING', [refused, bought]);
    const theirs = await reviewOf('PROCESSING', [{ ...unknown, sellerId: other }]);
    const later = await reviewOf('PROCESSING', [unknown]);
    await PurchaseModel.updateOne({ _id: later }, { $set: { reviewSince: new Date(Date.now() + minute) } });
    // Two operators check at the same time. Each purchase must be decided once.
    const done = await Promise.all([1, 2].map(() => recheckOpenReviews({ sellerId: shop.seller._id }, by)));
    const waits = async (id: string) => (await read(id)).reviewSince !== null;
    expect(await Promise.all([first, second, never, sold, theirs, later].map(waits))).to.deep.equal([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
    for (const id of [first, second]) {
      expect(await AuditModel.find({ 'subject.id': id, action: 'review.resolve' }).lean()).to.have.length(1);
    }
    expect(Math.min(...done.map(({ toDecide }) => toDecide))).to.be.at.least(2);
    expect(await recheckOpenReviews({ sellerId: other }, by)).to.deep.equal({
      asked: 1,
      toDecide: 0,
      changed: 0,
    });
    expect(await waits(theirs)).to.equal(false);
  });

  it('"ask" without an open order hands the purchase to the next seller', async () => {
    const id = await reviewOf('PROCESSING', [lost]);
    await resolveReview(id, { outcome: 'ask' }, by);
    await fulfilById(id);
    expect(await OrderModel.findById(`${id}-2`).lean()).to.include({ open: true });
  });

  it('does not check again at a provider that responded "never ask again"', async () => {
    const id = await reviewOf('PROCESSING', [neverAskedAgain]);
    const refusal = await attempt(resolveReview(id, { outcome: 'ask' }, by));
    expect(refusal).to.match(/must not be queried again/);
    expect(server.calls).to.have.length(0);
  });

  it('a stale worker does not open a review for a purchase that has moved on', async () => {
    const { _id } = await shop.buy();
    const earlier = await read(_id);
    await fulfilById(_id);
    await putUnderReview(earlier, 'too late');
    expect(await read(_id)).to.include({ status: 'PROCESSING', reviewSince: null });
  });

  it('a reversal closes the reversal cases of the sale in the same posting', async () => {
    answer = { transaction_status: 'success', status: '00' };
    const { _id } = await shop.buy();
    await fulfilById(_id);
    const base = { transactionId: _id, createdAt: new Date(), resolvedAt: null };
    await CaseModel.create({ ...base, _id: newId(), kind: 'reversal', detail: 'a' });
    await CaseModel.create({ ...base, _id: newId(), kind: 'contradicting-answer', detail: 'b' });
    await reverseByOperator(_id, by);
    const open = (await listCases({ open: true, limit: 1_000 })).filter((each) => each.transactionId === _id);
    expect(open.map(({ kind }) => kind)).to.deep.equal(['contradicting-answer']);
    expect((await resolveCase(open[0]?._id ?? '', by)).changed).to.equal(true);
  });

  it('the ledger is correct after all of these tests', async () => {
    // The test writes these orders itself. The findings about orders are therefore ignored.
    const { findings } = await verifyLedger();
    const subjects = new Set(
      (await PurchaseModel.find({ reviewSince: null }).lean<Purchase[]>()).map(
        ({ _id }) => `transaction ${_id}`,
      ),
    );
    expect(
      findings.filter(({ check, subject }) => check !== 'attempts' && subjects.has(subject)),
    ).to.deep.equal([]);
  });

  async function attentionList() {
    const answer = await listAttention.handle({} as never);
    return answer as { items: { id: string; detail: string; decisions: string[] }[] };
  }
});
