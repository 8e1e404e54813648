import { expect } from 'chai';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { createPayment } from '../../../src/api/buyer/create-purchases.js';
import { inquireBuyerBill } from '../../../src/api/buyer/inquire-bill.js';
import { QuoteModel } from '../../../src/bills/quote.model.js';
import { PurchaseModel } from '../../../src/purchases/purchase.model.js';
import { WalletModel } from '../../../src/money/wallets/wallet.model.js';
import { uniqueRef } from '../../support/api-client.js';
import { someQuote } from '../../support/some-quote.js';
import { useApi, type ApiAccount } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';
import { itRefusesBodies, notText, notWhole } from '../support/refusals.js';

const customer_number = '530000001250';

/** Refusals without a call to the biller. payment.test.ts covers the biller's responses. */
describe('POST /api/buyer/inquiry and /api/buyer/payment: refusals', () => {
  const api = useApi();
  const wrong = {
    code: [...notText, undefined, '', 'x'.repeat(51), 'PLN POST', '../PLNPOST'],
    customer_number: [...notText, undefined, '', 'x'.repeat(101), '53000\u00000001'],
  };
  const inquiry = (body: object) => ({ path: '/api/buyer/inquiry', body: { customer_number, ...body } });
  const payment = (body: object) => ({
    path: '/api/buyer/payment',
    body: { customer_number, ref_id: uniqueRef(), ...body },
  });
  itRefusesBodies(api, inquireBuyerBill, () => inquiry({ code: 'B1' }), wrong);
  itRefusesBodies(api, createPayment, () => payment({ code: 'B1' }), {
    ...wrong,
    ref_id: [...notText, undefined, '', 'x'.repeat(65), 'a b'],
    max_price: [...notWhole, -1, 2 ** 53],
  });

  const newBill = (over: Parameters<typeof newProduct>[1] = {}) =>
    newProduct(api, { category: 'pascabayar', customerNumber: { kind: 'bill' }, ...over });

  async function quoteOf({ account }: ApiAccount, code: string): Promise<string> {
    const quote = someQuote({
      accountId: account._id,
      productCode: code,
      customerNumber: customer_number,
    });
    await QuoteModel.create([quote]);
    return quote._id;
  }
  const usedBy = async (id: string) => (await QuoteModel.findById(id).lean())?.usedBy;
  const balanceOf = async ({ account }: ApiAccount) =>
    Number((await WalletModel.findById(account._id).lean())?.balance);

  const refusals: [what: string, status: number, code: string, product: () => Promise<string>][] = [
    ['a product in maintenance', 503, '03', async () => (await newBill({ status: 'maintenance' }))._id],
    ['an inactive product', 404, '02', async () => (await newBill({ status: 'inactive' }))._id],
    ['an unknown product', 404, '02', () => Promise.resolve('NO-SUCH-BILL')],
    ['a prepaid product', 400, '01', async () => (await newProduct(api))._id],
  ];
  for (const [what, status, code, product] of refusals) {
    it(`${what}: both return ${status}/${code} and debit nothing`, async () => {
      const buyer = await api.newBuyer(100_000);
      const body = { code: await product() };
      for (const call of [inquiry(body), payment(body)]) {
        expectFailure(await api.call({ ...call, key: buyer.key }), { status, code });
      }
      expect(await balanceOf(buyer)).to.equal(100_000);
    });
  }

  it("returns 404/02 for a PLN token if no seller's provider checks meters", async () => {
    const product = await newProduct(api, { subcategory: 'pln', customerNumber: { kind: 'pln' } });
    const { _id: code, sellerId } = product;
    await writeAndInvalidate([AccountModel], null, (rows) =>
      rows.updateOne({ _id: sellerId }, { $set: { 'provider.kind': 'h2h' } }),
    );
    const { key } = await api.newBuyer(0);
    const answer = await api.call({ ...inquiry({ code, customer_number: '12345678901' }), key });
    expectFailure(answer, { status: 404, code: '02' });
    expect(answer.body.reason).to.equal('meter_check_not_offered');
  });

  it('returns 402/01 if one rupiah is missing, and the quote can still be paid', async () => {
    const { _id: code } = await newBill();
    const buyer = await api.newBuyer(77_499);
    const quote = await quoteOf(buyer, code);
    const call = { ...payment({ code }), key: buyer.key };
    expectFailure(await api.call(call), { status: 402, code: '01' });
    expect(await usedBy(quote)).to.equal(null);
    expect(await PurchaseModel.countDocuments({ accountId: buyer.account._id })).to.equal(0);
    await WalletModel.updateOne({ _id: buyer.account._id }, { $inc: { balance: 1 } });
    const paid = await api.call(call);
    expectSuccess(paid, createPayment);
    expect(await usedBy(quote)).to.equal(paid.body.data.transaction_id);
    expect(await balanceOf(buyer)).to.equal(0);
  });

  it('pays at max_price and refuses with 409/01 one rupiah below it', async () => {
    const { _id: code } = await newBill();
    const buyer = await api.newBuyer(100_000);
    await quoteOf(buyer, code);
    const refused = await api.call({ ...payment({ code, max_price: 77_499 }), key: buyer.key });
    expectFailure(refused, { status: 409, code: '01', field: 'max_price' });
    expect(await balanceOf(buyer)).to.equal(100_000);
    expectSuccess(await api.call({ ...payment({ code, max_price: 77_500 }), key: buyer.key }), createPayment);
    expect(await balanceOf(buyer)).to.equal(22_500);
  });

  it('repeats: 05 while open, 00 when final, 409/01 for another number; one debit', async () => {
    const { _id: code } = await newBill();
    const buyer = await api.newBuyer(100_000);
    await quoteOf(buyer, code);
    const call = { ...payment({ code }), key: buyer.key };
    const first = await api.call(call);
    expectSuccess(await api.call(call), createPayment, { code: '05' });
    await PurchaseModel.updateOne(
      { _id: String(first.body.data.transaction_id) },
      { $set: { status: 'SUCCESS', finalAt: new Date() } },
    );
    const last = await api.call(call);
    expectSuccess(last, createPayment, { code: '00' });
    expect(last.body.data).to.deep.equal({ ...first.body.data, status: 'success' });
    const other = { ...call, body: { ...call.body, customer_number: '530000001251' } };
    expectFailure(await api.call(other), { status: 409, code: '01' });
    expect(await balanceOf(buyer)).to.equal(22_500);
  });
});
