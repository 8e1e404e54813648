/**
 * While the majority lags, one process reads a write with read concern `local` that a majority read
 * does not return yet.
 */
import { expect } from 'chai';
import { createAccount } from '../../../src/accounts/create-account.js';
import type { ChangedBy } from '../../../src/audit/record-audit.js';
import { QuoteModel } from '../../../src/bills/quote.model.js';
import { getQuickCollection } from '../../../src/database/mongo.js';
import { BankLineModel, bankLines } from '../../../src/deposits/bank/bank-line.model.js';
import { creditWithLine } from '../../../src/deposits/bank/decide-line.js';
import { deposits, toStored } from '../../../src/deposits/deposit.model.js';
import { PaymentModel, payments } from '../../../src/deposits/payment.model.js';
import { receivePayment } from '../../../src/deposits/receive-payment.js';
import { ProductModel } from '../../../src/products/product.model.js';
import type { PurchaseRequest } from '../../../src/purchases/accept/accept-purchase.js';
import { bindSign, findSignRefusal } from '../../../src/purchases/accept/sign-bindings.js';
import { SignBindingModel, signBindings } from '../../../src/purchases/accept/sign-binding.model.js';
import { createPayment } from '../../../src/purchases/accept/create-payment.js';
import { findByRefAfterRefusal, findByRefs } from '../../../src/purchases/find-purchase.js';
import { PurchaseModel, purchases } from '../../../src/purchases/purchase.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { newId } from '../../../src/shared/ids.js';
import { openShop } from '../../jobs/sold-purchases.js';
import { eventually } from '../../support/eventually.js';
import { endLag, lagNextCommit, skipWithoutFaults } from '../../support/majority-lag.js';
import { useDatabase } from '../../webhooks/support/database.js';

/** Lag in milliseconds. Long enough that a second request is refused before the lag ends. */
const lagMs = 1_500;

describe('a lagging majority after an accepted write', () => {
  before(function () {
    return skipWithoutFaults(this);
  });
  useDatabase();
  afterEach(() => endLag());

  it('returns the first payment for a repeated bill payment', async () => {
    const request = await billRequest();
    await lagNextCommit(purchases.collectionName, lagMs);
    const first = createPayment(request);
    await eventually('the payment is on the primary', () => PurchaseModel.exists({ refId: request.refId }));
    const [again, found, made] = await Promise.all([
      createPayment(request),
      findByRefs(request.account._id, [request.refId]),
      first,
    ]);
    expect(made.created).to.equal(true);
    expect(again.created).to.equal(false);
    expect(again.purchase._id).to.equal(made.purchase._id);
    expect(found.get(request.refId)?._id).to.equal(made.purchase._id);
    expect(await PurchaseModel.countDocuments({ accountId: request.account._id })).to.equal(1);
  });

  it('still refuses another payment of the same bill', async () => {
    const request = await billRequest();
    await lagNextCommit(purchases.collectionName, lagMs);
    const first = createPayment(request);
    await eventually('the payment is on the primary', () => PurchaseModel.exists({ refId: request.refId }));
    const other = await createPayment({ ...request, refId: newId() }).catch((error: unknown) => error);
    expect(other).to.include({ reason: 'bill_being_paid' });
    expect((await first).created).to.equal(true);
  });

  it('a lookup that waits for the majority delays no other lookup', async () => {
    const request = await billRequest();
    await lagNextCommit(purchases.collectionName, lagMs);
    const first = createPayment(request);
    await eventually('the payment is on the primary', () => PurchaseModel.exists({ refId: request.refId }));
    const ended: string[] = [];
    const waiting = findByRefAfterRefusal({ accountId: request.account._id, refId: request.refId });
    const other = findByRefAfterRefusal({ accountId: newId(), refId: newId() });
    await Promise.all([waiting.then(() => ended.push('own')), other.then(() => ended.push('other'))]);
    expect(ended).to.deep.equal(['other', 'own']);
    expect((await waiting)?._id).to.equal((await first).purchase._id);
  });

  it('accepts a repeated payment notice only after a majority has the first', async () => {
    const { account } = await createAccount({ username: `b${newId()}`, role: 'buyer' });
    const notice = { _id: newId(), username: account.username, refId: newId(), amount: 5_000 };
    await lagNextCommit(payments.collectionName, lagMs);
    const first = receivePayment(notice, null);
    await eventually('the notice is on the primary', () => PaymentModel.exists({ _id: notice._id }));
    const again = await receivePayment(notice, null);
    const committed = await PaymentModel.findById(notice._id).readConcern('majority').lean();
    expect(committed?.status).to.equal(again.status);
    expect((await first).status).to.equal(again.status);
  });

  it('reports a bank statement line as used only after a majority has its use', async () => {
    const { lineId, depositId } = await lineAndDeposit();
    await lagNextCommit(bankLines.collectionName, lagMs);
    const first = creditWithLine({ lineId, depositId }, by);
    await eventually('the use is visible', () => BankLineModel.exists({ _id: lineId, status: 'used' }));
    const again = await creditWithLine({ lineId, depositId }, by);
    const committed = await BankLineModel.findById(lineId).readConcern('majority').lean();
    expect([again.changed, committed?.status, (await first).changed]).to.deep.equal([false, 'used', true]);
  });

  it('refuses a signature bound to another order only after a majority has the binding', async () => {
    const signed = { accountId: newId(), refId: newId(), productCode: 'S5', customerNumber: '081234567890' };
    const other = { ...signed, productCode: 'S10' };
    await lagNextCommit(signBindings.collectionName, lagMs);
    const first = bindSign(signed);
    const _id = `${signed.accountId}:${signed.refId}`;
    await eventually('the binding is on the primary', () => SignBindingModel.exists({ _id }));
    const refused = findSignRefusal('md5', other);
    const bound = bindSign(other);
    const isHeld = () => SignBindingModel.findById(_id).readConcern('majority').lean();
    expect(await Promise.all([refused.then(isHeld), bound.then(isHeld)])).to.not.include(null);
    expect(await refused).to.include({ reason: 'ref_id_conflict' });
    await first;
    expect(await findSignRefusal('md5', signed)).to.equal(null);
  });

  it('a hundred lookups that wait for the majority take no connection from postings', async () => {
    const request = await billRequest();
    await lagNextCommit(purchases.collectionName, lagMs);
    const first = createPayment(request);
    await eventually('the payment is on the primary', () => PurchaseModel.exists({ refId: request.refId }));
    const ended: string[] = [];
    const lookUps = Array.from({ length: 100 }, () => findByRefs(request.account._id, [request.refId]));
    const waiting = Promise.all(lookUps).then(() => ended.push('look-ups'));
    // Make three round trips through the connection pool, so that every lookup has been sent before
    // the last trip ends.
    for (let n = 0; n < 3; n++) {
      await getQuickCollection(purchases).findOne({ _id: 'none' });
    }
    ended.push('posting');
    await Promise.all([waiting, first]);
    expect(ended).to.deep.equal(['posting', 'look-ups']);
  });
});

const by: ChangedBy = { actor: 'operator', from: null, reason: 'a test' };

async function lineAndDeposit(): Promise<{ lineId: string; depositId: string }> {
  const { account } = await createAccount({ username: `b${newId()}`, role: 'buyer' });
  const [lineId, depositId] = [newId(), newId()];
  await deposits.insertOne(
    toStored({
      _id: depositId,
      accountId: account._id,
      refId: newId(),
      amount: 5_000,
      status: 'pending',
      balanceBefore: 0,
      balanceAfter: 0,
      createdAt: new Date(),
      completedAt: null,
    }),
  );
  await BankLineModel.create({
    _id: lineId,
    key: newId(),
    day: '2026-01-01',
    amount: 5_000,
    status: 'open',
    file: 'x',
    createdAt: new Date(),
  });
  return { lineId, depositId };
}

async function billRequest(): Promise<PurchaseRequest> {
  const shop = await openShop('http://127.0.0.1:9', { balance: 10_000 });
  await writeAndInvalidate([ProductModel], null, (rows) =>
    rows.updateOne({ _id: shop.productCode }, { $set: { category: 'pascabayar' } }),
  );
  const customerNumber = '530000001250';
  await QuoteModel.create({
    _id: newId(),
    accountId: shop.buyer._id,
    productCode: shop.productCode,
    customerNumber,
    sellerId: shop.seller._id,
    status: 'open',
    totalAmount: 1_000,
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 60_000),
  });
  return {
    account: shop.buyer,
    surface: 'buyer',
    productCode: shop.productCode,
    customerNumber,
    refId: newId(),
  };
}
