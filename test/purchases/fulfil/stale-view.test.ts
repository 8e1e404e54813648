import { expect } from 'chai';
import { createAccount, type CreatedAccount } from '../../../src/accounts/create-account.js';
import { OrderModel, type Order } from '../../../src/purchases/order.model.js';
import { claimOrder } from '../../../src/purchases/fulfil/order-transitions.js';
import { CaseModel } from '../../../src/purchases/case.model.js';
import { buildOrder } from '../../../src/purchases/fulfil/orders.js';
import { buildPurchase, buildPurchasePosting } from '../../../src/purchases/accept/new-purchase.js';
import { concludeFailure, concludeSuccess } from '../../../src/purchases/fulfil/conclude-purchase.js';
import { StalePurchaseError } from '../../../src/purchases/states.js';
import { PurchaseModel, type Purchase } from '../../../src/purchases/purchase.model.js';
import { createDeposit } from '../../../src/deposits/create-deposit.js';
import { post } from '../../../src/money/posting/post.js';
import { getWallet } from '../../../src/money/wallets/wallet-balance.js';
import { uniqueRef } from '../../support/api-client.js';
import { useDatabase } from '../../webhooks/support/database.js';

/**
 * Two workers have read the same state of a purchase. One of them sends it to the next seller. The
 * other one's stale state must move no money.
 */
describe('a worker with a stale view of a purchase', () => {
  useDatabase();
  let buyer: CreatedAccount;
  let seller: CreatedAccount;

  before(async () => {
    buyer = await createAccount({ username: uniqueRef('b').toLowerCase().slice(0, 40), role: 'buyer' });
    seller = await createAccount({
      username: uniqueRef('s').toLowerCase().slice(0, 40),
      role: 'seller',
      provider: { kind: 'simulator', baseUrl: null, username: 'x', secret: 'y' },
    });
    await createDeposit({ account: buyer.account, amount: 1_000_000, refId: uniqueRef() });
  });

  /**
   * Returns a PROCESSING purchase whose first seller has refused. The second order is not stored
   * yet.
   */
  async function createFailoverState(): Promise<{ transaction: Purchase; first: Order; second: Order }> {
    const accepted = buildPurchase({
      accountId: buyer.account._id,
      refId: uniqueRef(),
      surface: 'buyer',
      kind: 'prepaid',
      customerNumber: '081234567890',
      price: 10_000,
      offerSellerId: seller.account._id,
      quoteId: null,
      callbackUrl: null,
      product: {
        _id: 'S10',
        sellerId: seller.account._id,
        name: 'Telkomsel 10.000',
        category: 'prabayar',
        subcategory: 'pulsa',
        operator: 'Telkomsel',
        status: 'active',
        description: null,
        customerNumber: { kind: 'phone', prefixes: [] },
        cutOff: null,
        createdAt: new Date(),
        updatedAt: new Date(),
      },
    });
    expect(await post(buildPurchasePosting(accepted))).to.include({ outcome: 'posted' });
    const sent = await claimOrder(accepted, attemptOf(accepted, 1));
    await OrderModel.updateOne({ _id: sent.order._id }, { status: 'REJECTED', open: false, code: '01' });
    const transaction = sent.purchase;
    const first = await OrderModel.findById(sent.order._id).orFail().lean<Order>();
    const second = attemptOf(transaction, 2);
    return { transaction, first, second };
  }

  function attemptOf(transaction: Purchase, n: number): Order {
    return buildOrder({
      accountId: buyer.account._id,
      transactionId: transaction._id,
      n,
      sellerId: seller.account._id,
      offerPrice: 10_000,
      commissionRate: 0.02,
      provider: { kind: 'simulator', baseUrl: null, username: 'x' },
    });
  }

  const stale = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      (error: unknown) => (error instanceof StalePurchaseError ? 'stale' : String(error)),
    );

  it('cannot refund it while the next order is in flight', async () => {
    const { transaction, second } = await createFailoverState();
    const { balance } = await getWallet(buyer.account._id);
    await claimOrder(transaction, second);
    expect(await stale(concludeFailure(transaction, null, { code: '01', message: 'nobody' }))).to.equal(
      'stale',
    );
    expect((await getWallet(buyer.account._id)).balance).to.equal(balance);
    expect((await PurchaseModel.findById(transaction._id).lean())?.status).to.equal('PROCESSING');
  });

  it('cannot send an order after another worker refunded it', async () => {
    const { transaction, second } = await createFailoverState();
    await concludeFailure(transaction, null, { code: '01', message: 'nobody' });
    expect(await stale(claimOrder(transaction, second))).to.equal('stale');
    expect(await OrderModel.findById(second._id).lean()).to.equal(null);
  });

  it('cannot conclude with a late success of a seller that refused; a case opens', async () => {
    const { transaction, first, second } = await createFailoverState();
    await claimOrder(transaction, second);
    const late = { code: '00', message: 'late', serialNumber: 'SN' };
    expect(await stale(concludeSuccess(transaction, first, late))).to.equal('stale');
    expect((await PurchaseModel.findById(transaction._id).lean())?.status).to.equal('PROCESSING');
    expect(await CaseModel.countDocuments({ transactionId: transaction._id })).to.equal(1);
  });
});
