/**
 * Rules about money that a small code change could break. Each test has the input that reveals the
 * change.
 */
import { expect } from 'chai';
import mongoose from 'mongoose';
import { env } from '../../config/env.js';
import type { Account } from '../../src/accounts/account.model.js';
import { createAccount } from '../../src/accounts/create-account.js';
import { requestAdjustment } from '../../src/adjustments/request-adjustment.js';
import { buildQuoteClaim } from '../../src/bills/quotes.js';
import { QuoteModel } from '../../src/bills/quote.model.js';
import { toInt64 } from '../../src/database/typed-collection.js';
import { BankLineModel, type BankLine } from '../../src/deposits/bank/bank-line.model.js';
import { creditWithLine } from '../../src/deposits/bank/decide-line.js';
import { createDeposit } from '../../src/deposits/create-deposit.js';
import { DepositModel } from '../../src/deposits/deposit.model.js';
import { receivePayment } from '../../src/deposits/receive-payment.js';
import { createProofSalt } from '../../src/money/closes/canonical-text.js';
import { JournalModel } from '../../src/money/journals/journal.model.js';
import { getLaneNumber } from '../../src/money/posting/lanes.js';
import { post } from '../../src/money/posting/post.js';
import { setMarkup } from '../../src/products/set-markup.js';
import { createPurchase } from '../../src/purchases/accept/accept-purchase.js';
import { buildProviderOrder } from '../../src/purchases/fulfil/orders.js';
import { orders } from '../../src/purchases/order.model.js';
import { verifyLedger } from '../../src/reconciliation/ledger/verify-ledger.js';
import { claimSettlement } from '../../src/settlements/claim-settlement.js';
import { completeSettlement, payOut } from '../../src/settlements/pay-out.js';
import { requestSettlement } from '../../src/settlements/request-settlement.js';
import { newId } from '../../src/shared/ids.js';
import { openPlay } from '../reconciliation/closes/ledger-play.js';
import { someTransaction } from '../webhooks/support/accounts.js';
import { useDatabase } from '../webhooks/support/database.js';
import { eventually } from '../support/eventually.js';
import { withFault } from '../support/mongo-faults.js';
import { useSettings } from '../support/use-settings.js';

const operator = () => ({ actor: `operator:${newId()}`, from: null, reason: 'ticket 90' });

async function newAccount(role: 'buyer' | 'seller' = 'buyer', balance = 0): Promise<Account> {
  const provider = { kind: 'simulator' as const, baseUrl: null, username: 'x', secret: 'y' };
  const { account } = await createAccount({
    username: `p${newId()}`,
    role,
    ...(role === 'seller' && { provider }),
  });
  if (balance > 0) {
    await requestAdjustment({ account, amount: balance }, operator());
  }
  return account;
}

/** Opens a shop whose product costs 1,000 rupiah. The buyer pays a markup of 100 on it. */
async function openMarkedUpPlay() {
  const play = await openPlay();
  await requestAdjustment({ account: play.buyer, amount: 50_000 }, operator());
  await setMarkup({ buyer: play.buyer, productCode: play.shop.productCode }, { rupiah: 100 }, operator());
  return play;
}

describe('money guards', () => {
  useDatabase();
  useSettings({ PAYOUT_MODE: 'manual', DEPOSIT_MODE: 'confirm' });

  it('two adjustments of one operator in one posting group stay within the limit', async () => {
    const account = await newAccount();
    let other = await newAccount();
    while (getLaneNumber(other._id) !== getLaneNumber(account._id)) {
      other = await newAccount();
    }
    const by = operator();
    const amount = Math.ceil(env.ADJUSTMENT_APPROVAL_FROM * 0.6);
    const namespace = `${mongoose.connection.name}.wallets`;
    await withFault({ kind: 'pause', commands: ['find'], namespace, ms: 1_000 }, async ({ met }) => {
      // Both requests wait while the lane is busy, so that their postings share a group.
      const first = requestAdjustment({ account: other, amount: 1 }, by);
      await eventually('the lane is busy', async () => (await met()) > 0);
      const two = await Promise.all([1, 2].map(() => requestAdjustment({ account, amount }, by)));
      await first;
      expect(two.map(({ status }) => status).sort()).to.deep.equal(['completed', 'pending']);
    });
  });

  it('a settlement is paid out with the fee at the time of its request', async () => {
    const account = await newAccount('seller', 900_000);
    const bankAccount = { bankCode: '014', accountNumber: '1234567890', accountName: 'PT Pulsa Jaya' };
    const { settlement } = await requestSettlement({ account, amount: 60_000, bankAccount, refId: newId() });
    await payOut(settlement._id, account._id);
    const by = operator();
    const { SETTLEMENT_FEE } = env;
    env.SETTLEMENT_FEE = SETTLEMENT_FEE + 500;
    try {
      await claimSettlement(settlement._id, by);
      await completeSettlement(settlement._id, by);
    } finally {
      env.SETTLEMENT_FEE = SETTLEMENT_FEE;
    }
    const journal = await JournalModel.findOne({
      subjectId: settlement._id,
      kind: 'settlement-completed',
    }).lean();
    const [, ...paid] = journal?.lines ?? [];
    expect(paid.map(({ amount }) => amount)).to.deep.equal([settlement.netAmount, settlement.fee]);
    const { findings } = await verifyLedger();
    expect(findings.filter(({ check }) => check === 'settlements')).to.deep.equal([]);
  });

  it('an expired quote cannot be paid', async () => {
    const account = await newAccount('buyer', 100_000);
    const _id = newId();
    await QuoteModel.create({
      _id,
      accountId: account._id,
      productCode: 'PLNPOST',
      customerNumber: '1',
      sellerId: newId(),
      status: 'open',
      customerName: 'A',
      billPeriod: '2024-03',
      totalBill: 75_000,
      adminFee: 2_500,
      totalAmount: 77_500,
      refusal: null,
      usedBy: null,
      createdAt: new Date(),
      expiresAt: new Date(Date.now() - 1),
      proofSalt: createProofSalt(),
    });
    const { outcome } = await post({
      accountId: account._id,
      kind: 'purchase',
      subjectId: newId(),
      wallet: { balance: -77_500 },
      lines: [
        { account: `wallet:${account._id}`, amount: -77_500 },
        { account: 'platform:suspense', amount: 77_500 },
      ],
      changes: [buildQuoteClaim(_id, newId())],
    });
    expect(outcome).to.equal('stale');
    expect(await QuoteModel.findById(_id).lean()).to.include({ usedBy: null });
  });

  it('a payment notice credits the deposit of its own account', async () => {
    const [one, two] = [await newAccount(), await newAccount()];
    const refId = newId();
    await createDeposit({ account: one, amount: 60_000, refId });
    const { deposit } = await createDeposit({ account: two, amount: 60_000, refId });
    const paid = await receivePayment({ _id: newId(), username: two.username, refId, amount: 60_000 }, null);
    expect(paid.depositId).to.equal(deposit._id);
    const others = await DepositModel.findOne({ accountId: one._id, refId }).lean();
    expect(others).to.include({ status: 'pending' });
  });

  it('a bank line used for two deposits at once credits one', async () => {
    const line: BankLine = {
      _id: newId(),
      key: newId(),
      day: '2024-03-01',
      amount: 60_000,
      status: 'open',
      description: 'BUDI',
      depositId: null,
      file: 'x',
      createdAt: new Date(),
      decided: null,
    };
    await BankLineModel.create(line);
    const ids = await Promise.all(
      [1, 2].map(async () => {
        const account = await newAccount();
        return (await createDeposit({ account, amount: 60_000, refId: newId() })).deposit._id;
      }),
    );
    await Promise.allSettled(
      ids.map((depositId) => creditWithLine({ lineId: line._id, depositId }, operator())),
    );
    const credited = await DepositModel.countDocuments({ _id: { $in: ids }, status: 'completed' });
    expect(credited).to.equal(1);
  });

  it('a provider may charge at most its offer price, without our markup', () => {
    const purchase = someTransaction({ price: 10_500, markup: 500 });
    const order = { _id: 'p-1', offerPrice: 10_000, sentAt: null, lastCheckAt: null };
    expect(buildProviderOrder(purchase, order as never, new Date()).costMax).to.equal(10_000);
  });

  it('a purchase whose marked-up price is one rupiah above max_price is refused', async () => {
    const { buyer, shop } = await openMarkedUpPlay();
    const request = {
      account: buyer,
      surface: 'buyer' as const,
      productCode: shop.productCode,
      customerNumber: '081234567890',
      refId: newId(),
    };
    const refused = await createPurchase({ ...request, maxPrice: 1_099 }).catch((error: unknown) => error);
    expect(refused).to.include({ reason: 'price_above_max' });
    const { created, purchase } = await createPurchase({ ...request, maxPrice: 1_100 });
    expect([created, purchase.price]).to.deep.equal([true, 1_100]);
  });

  it('verify reports an order above its offer price, even if the debit covers it', async () => {
    const play = await openMarkedUpPlay();
    const purchase = await play.buy();
    await play.succeed(purchase);
    const ofSale = { transactionId: purchase._id };
    const found = async () =>
      (await verifyLedger()).findings.filter(({ subject }) => subject === `transaction ${purchase._id}`);
    expect(await found()).to.deep.equal([]);
    await orders.updateOne(ofSale, { $set: { offerPrice: toInt64(1_001) } });
    try {
      const messages = (await found()).map(({ message }) => message);
      expect(messages).to.include('attempt 1 costs 1001, more than the 1000 debited without the markup');
    } finally {
      await orders.updateOne(ofSale, { $set: { offerPrice: toInt64(1_000) } });
    }
  });
});
