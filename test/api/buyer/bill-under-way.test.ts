/**
 * Inquiries and payments for a bill that already has a payment in progress. payment.test.ts covers
 * the other cases.
 */
import { expect } from 'chai';
import { limits } from '../../../config/limits.js';
import { QuoteModel, quotes, type Quote } from '../../../src/bills/quote.model.js';
import { applyRetention } from '../../../src/privacy/apply-retention.js';
import { eraseCustomer } from '../../../src/privacy/erase-customer.js';
import { maskPurchase } from '../../../src/privacy/mask-purchase.js';
import { concludeFailure } from '../../../src/purchases/fulfil/conclude-purchase.js';
import { PurchaseModel, purchases, type Purchase } from '../../../src/purchases/purchase.model.js';
import { newId } from '../../../src/shared/ids.js';
import { maskAll, maskNumber } from '../../../src/shared/mask.js';
import { deliveries } from '../../../src/webhooks/deliver/delivery.model.js';
import { uniqueRef } from '../../support/api-client.js';
import { someQuote } from '../../support/some-quote.js';
import { useApi } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { expectFailure } from '../support/expect-answer.js';

const by = { actor: 'cli:tester', from: null, reason: 'a test' };

describe('a bill with a payment in progress', () => {
  const api = useApi();

  /**
   * Starts a payment and returns functions that inquire about the bill, pay it again and end the
   * first payment.
   */
  async function startPayment() {
    const { _id: productCode } = await newProduct(api, {
      category: 'pascabayar',
      customerNumber: { kind: 'bill' },
    });
    const { account, key } = await api.newBuyer(1_000_000);
    const customerNumber = String(BigInt(`0x${newId()}`)).slice(-15);
    const ask = async (count: number, over: Partial<Quote> = {}): Promise<Quote[]> => {
      const all = Array.from({ length: count }, () =>
        someQuote({ accountId: account._id, productCode, customerNumber, ...over }),
      );
      await QuoteModel.create(all);
      return all;
    };
    const pay = (ref_id = uniqueRef()) => {
      const body = { code: productCode, customer_number: customerNumber, ref_id };
      return api.call({ path: '/api/buyer/payment', key, body });
    };
    const [claimed] = await ask(1);
    const ref = uniqueRef();
    const { transaction_id } = (await pay(ref)).body.data as { transaction_id: string };
    const stored = async () => (await purchases.findOne({ _id: transaction_id })) as Purchase;
    const claimedNow = () => quotes.findOne({ _id: claimed?._id ?? '' });
    const end = async () => {
      await concludeFailure(await stored(), null, { code: '01', message: 'nobody' });
      await deliveries.updateMany(
        { orderKey: transaction_id },
        { $set: { state: 'delivered', nextAttemptAt: null } },
      );
    };
    /**
     * Expects that a second payment with an open quote is refused and that the message names the
     * first payment.
     */
    const expectOneOpen = async () => {
      const again = await pay();
      expectFailure(again, { status: 409, code: '01' });
      expect(again.body.reason).to.equal('bill_being_paid');
      expect(again.body.message).to.include(ref);
      const open = await PurchaseModel.countDocuments({ accountId: account._id, finalAt: null });
      expect(open).to.equal(1);
    };
    return { customerNumber, transaction_id, ask, pay, end, stored, claimedNow, expectOneOpen };
  }

  it('refuses a second payment after any number of inquiries', async () => {
    const { ask, expectOneOpen } = await startPayment();
    await ask(51);
    await expectOneOpen();
  });

  it('refuses a second payment after erasure of the customer', async () => {
    const { customerNumber, transaction_id, ask, end, stored, claimedNow, expectOneOpen } =
      await startPayment();
    const { left } = await eraseCustomer(customerNumber, by);
    expect(left).to.deep.equal([{ transactionId: transaction_id, quoteId: null, why: 'not final' }]);
    expect(await claimedNow(), 'quote of the open payment').to.include({
      customerNumber,
      customerName: 'SITI AMINAH',
    });
    await ask(1);
    await expectOneOpen();
    await end();
    expect(await eraseCustomer(customerNumber, by)).to.deep.include({ purchases: 1, bills: 2, left: [] });
    for (const row of [await stored(), await claimedNow()]) {
      expect(row?.customerNumber).to.equal(maskAll(customerNumber));
    }
  });

  it('refuses a second payment after retention masks the earlier quotes', async () => {
    const { customerNumber, ask, claimedNow, expectOneOpen } = await startPayment();
    const createdAt = new Date(Date.now() - limits.quoteKeptMs - 1_000);
    await quotes.updateOne({ _id: (await claimedNow())?._id ?? '' }, { $set: { createdAt } });
    await applyRetention();
    expect((await claimedNow())?.customerNumber).to.equal(maskNumber(customerNumber));
    await ask(1);
    await expectOneOpen();
  });

  it('erasing the number of an ended payment removes its earlier quotes', async () => {
    const { customerNumber, ask, end, stored } = await startPayment();
    await ask(2);
    await end();
    const [later] = await ask(1, { createdAt: new Date(Date.now() + 1_000) });
    const how = { hide: maskAll, endsReports: false };
    expect(await maskPurchase(await stored(), how)).to.deep.equal({ left: null, bills: 3 });
    const rest = await quotes.find({ customerNumber }).toArray();
    expect(rest.map(({ _id }) => _id)).to.deep.equal([later?._id]);
  });
});
