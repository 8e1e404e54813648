/** Every decision that an operator is offered leaves the ledger consistent. */
import { expect } from 'chai';
import { createAccount } from '../../src/accounts/create-account.js';
import { findPurchase } from '../../src/purchases/find-purchase.js';
import { claimOrder, rejectOrder } from '../../src/purchases/fulfil/order-transitions.js';
import { buildOrder, findOrders, prepareNextOrder, tooLateCode } from '../../src/purchases/fulfil/orders.js';
import { putUnderReview, setAsidePurchase } from '../../src/purchases/fulfil/put-under-review.js';
import { orders } from '../../src/purchases/order.model.js';
import { purchases, type Purchase } from '../../src/purchases/purchase.model.js';
import { describePurchase } from '../../src/purchases/review/describe-purchase.js';
import { resolveReview } from '../../src/purchases/review/resolve-review.js';
import { verifyLedger } from '../../src/reconciliation/ledger/verify-ledger.js';
import { newId } from '../../src/shared/ids.js';
import { openPlay, type Play } from './closes/ledger-play.js';
import { useDatabase } from '../webhooks/support/database.js';

const by = { actor: 'operator:budi', from: null, reason: 'their record' };

describe('verification of purchases that an operator decides', () => {
  useDatabase();
  let play: Play;
  before(async () => {
    play = await openPlay();
  });

  const findings = async () =>
    (await verifyLedger()).findings.map(({ check, subject, message }) => `${check} ${subject}: ${message}`);
  const fresh = ({ accountId, _id }: Purchase) => findPurchase(accountId, _id);

  it('is green for a purchase set aside before any order, and after the decision', async () => {
    const { _id, accountId } = await play.buy();
    expect(await setAsidePurchase({ purchaseId: _id, accountId }, 'its jobs fail')).to.equal(true);
    expect((await describePurchase(_id)).decisions).to.deep.equal(['failed', 'ask']);
    expect(await findings()).to.deep.equal([]);
    await resolveReview(_id, { outcome: 'failed' }, by);
    expect(await findings()).to.deep.equal([]);
  });

  it('reports an undecidable review: an order was bought, but the purchase never sent', async () => {
    const purchase = await play.buy();
    const order = await prepareOrder(purchase);
    const { _id } = purchase;
    const { version } = await purchases.findOne({ _id }).then((found) => found ?? purchase);
    await claimOrder(purchase, order);
    await orders.updateOne({ _id: order._id }, { $set: { status: 'OK', open: false, serialNumber: null } });
    await purchases.updateOne(
      { _id },
      { $set: { status: 'PENDING', version, reviewSince: new Date(), nextActionAt: null } },
    );
    expect((await describePurchase(_id)).decisions).to.deep.equal([]);
    const found = await findings();
    await purchases.updateOne({ _id }, { $set: { status: 'PROCESSING', version: purchase.version + 1 } });
    expect(
      found.filter((each) => each.includes('it waits for a decision that cannot be made')),
    ).to.deep.equal([
      `transaction-state transaction ${_id}: it waits for a decision that cannot be made: it is PENDING, and attempt 1 was bought`,
    ]);
    await resolveReview(_id, { outcome: 'success', serialNumber: 'SN2' }, by);
    expect(await findings()).to.deep.equal([]);
  });

  it('is green after a success on the order before one that was never sent', async () => {
    const other = (await createAccount({ username: `s${newId()}`, role: 'seller' })).account;
    const purchase = await play.buy();
    const order = await prepareOrder(purchase);
    const first = await claimOrder(purchase, order);
    await rejectOrder(first.order, { code: 'not-sent', message: 'busy' });
    const second = await claimOrder(
      await fresh(purchase),
      buildOrder({
        accountId: purchase.accountId,
        transactionId: purchase._id,
        n: 2,
        sellerId: other._id,
        offerPrice: order.offerPrice,
        commissionRate: order.commissionRate,
        provider: { kind: order.providerKind, baseUrl: null, username: 'us' },
      }),
    );
    await rejectOrder(second.order, { code: tooLateCode, message: 'late' });
    await putUnderReview(await fresh(purchase), 'its jobs fail');
    await resolveReview(purchase._id, { outcome: 'success', serialNumber: 'SN1' }, by);
    const made = await findOrders(purchase);
    expect(made.map(({ status }) => status)).to.deep.equal(['OK', 'REJECTED']);
    expect(await findings()).to.deep.equal([]);

    await purchases.updateOne({ _id: purchase._id }, { $set: { sellerId: other._id } });
    const forged = await findings();
    await purchases.updateOne({ _id: purchase._id }, { $set: { sellerId: order.sellerId } });
    expect(forged).to.include(
      `attempts transaction ${purchase._id}: it names seller ${other._id}, attempt 1, which was bought, went to ${order.sellerId}`,
    );
  });

  async function prepareOrder(purchase: Purchase) {
    const order = await prepareNextOrder(purchase, []);
    if ('noRoute' in order) {
      throw new Error(`No route: ${order.noRoute.message}`);
    }
    return order;
  }
});
