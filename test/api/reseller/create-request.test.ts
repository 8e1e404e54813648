import { expect } from 'chai';
import { createResellerRequest } from '../../../src/api/reseller/create-request.js';
import { PurchaseModel } from '../../../src/purchases/purchase.model.js';
import { WalletModel } from '../../../src/money/wallets/wallet.model.js';
import { uniqueRef } from '../../support/api-client.js';
import { useApi, type ApiAccount } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { expectReseller } from '../support/expect-answer.js';
import { hmacSign, md5Sign, requestPath, type Purchase } from '../support/reseller.js';
import { useSettings } from '../../support/use-settings.js';

describe('GET /api/reseller/request', () => {
  const api = useApi();
  // No worker fulfils purchases here. synchronous-answer.long.test.ts covers the wait for a result.
  useSettings({ RESELLER_SYNC_WAIT_MS: 20 });

  const buy = ({ account, key }: ApiAccount, purchase: Purchase, over: Record<string, string> = {}) =>
    api.call({ path: requestPath({ username: account.username, key }, purchase, over) });
  const purchaseOf = (code: string, over: Partial<Purchase> = {}): Purchase => ({
    code,
    customer: '081234561230',
    ref_id: uniqueRef(),
    ...over,
  });
  const balanceOf = async ({ account }: ApiAccount) =>
    Number((await WalletModel.findById(account._id).lean())?.balance);

  it('md5Sign computes the known value of the convention', () => {
    expect(md5Sign({ username: 'username', key: 'apikey' }, 'some1d')).to.equal(
      'e116257bcba6185d963a62f9d05d240e',
    );
  });

  it('buys with either sign: 00 and null sn; a repeat: 05 and one debit', async () => {
    const product = await newProduct(api, { price: 10_000 });
    const buyer = await api.newBuyer(100_000);
    const signing = { username: buyer.account.username, key: buyer.key };
    for (const hash of ['hmac', 'md5']) {
      const purchase = purchaseOf(product._id);
      const over: Record<string, string> = hash === 'md5' ? { sign: md5Sign(signing, purchase.ref_id) } : {};
      const before = await balanceOf(buyer);
      const about = { ref_id: purchase.ref_id, sn: null, transaction_status: 'pending' };
      expectReseller(await buy(buyer, purchase, over), createResellerRequest, { status: '00', ...about });
      expectReseller(await buy(buyer, purchase, over), createResellerRequest, { status: '05', ...about });
      expect(await balanceOf(buyer)).to.equal(before - 10_000);
    }
  });

  it('refuses an md5 sign reused for another product or customer with 01', async () => {
    const [product, other] = [await newProduct(api), await newProduct(api)];
    const buyer = await api.newBuyer(100_000);
    const purchase = purchaseOf(product._id);
    const sign = md5Sign({ username: buyer.account.username, key: buyer.key }, purchase.ref_id);
    await buy(buyer, purchase, { sign });
    const balance = await balanceOf(buyer);
    for (const change of [{ code: other._id }, { customer: '081234561231' }, { code: 'NO-SUCH-PRODUCT' }]) {
      const answer = await buy(buyer, { ...purchase, ...change }, { sign });
      expectReseller(answer, createResellerRequest, { status: '01' });
      expect(answer.body).to.not.have.property('transaction_status');
    }
    expect(await balanceOf(buyer)).to.equal(balance);
  });

  it('an HMAC sign covers product and customer: others return 07', async () => {
    const product = await newProduct(api);
    const buyer = await api.newBuyer(100_000);
    const purchase = purchaseOf(product._id);
    const signing = { username: buyer.account.username, key: buyer.key };
    const sign = hmacSign(signing, `${product._id}|081234561230|${purchase.ref_id}`);
    for (const change of [{ code: 'S10' }, { customer: '081234561231' }, { ref_id: uniqueRef() }]) {
      const answer = await buy(buyer, { ...purchase, ...change }, { sign });
      expectReseller(answer, createResellerRequest, { status: '07' });
    }
  });

  it('the same ref_id on another surface is the same purchase', async () => {
    const product = await newProduct(api);
    const buyer = await api.newBuyer(100_000);
    const purchase = purchaseOf(product._id);
    await api.call({
      path: '/api/buyer/transaction',
      key: buyer.key,
      body: { code: purchase.code, customer_number: purchase.customer, ref_id: purchase.ref_id },
    });
    expectReseller(await buy(buyer, purchase), createResellerRequest, { status: '05' });
    expect(await PurchaseModel.countDocuments({ accountId: buyer.account._id })).to.equal(1);
  });

  it('each refusal has its code and debits nothing', async () => {
    const buyer = await api.newBuyer(50_000);
    const product = await newProduct(api);
    const dear = await newProduct(api, { price: 50_001 });
    const maintained = await newProduct(api, { status: 'maintenance' });
    const postpaid = await newProduct(api, { category: 'pascabayar', customerNumber: { kind: 'any' } });
    const refusals: [purchase: Purchase, status: string, over?: Record<string, string>][] = [
      [purchaseOf(dear._id), '01'],
      [purchaseOf('NO-SUCH-PRODUCT'), '02'],
      [purchaseOf(maintained._id), '03'],
      [purchaseOf(product._id, { customer: '0812' }), '04'],
      [purchaseOf(product._id), '01', { max_price: String(product.price - 1) }],
      [purchaseOf(postpaid._id), '01'],
    ];
    for (const [purchase, status, over] of refusals) {
      const answer = await buy(buyer, purchase, over);
      expectReseller(answer, createResellerRequest, { status });
      expect(answer.body, 'answer without a purchase').to.not.have.property('transaction_status');
    }
    expect(await balanceOf(buyer)).to.equal(50_000);
    const bought = await buy(buyer, purchaseOf(product._id), { max_price: String(product.price) });
    expectReseller(bought, createResellerRequest, { status: '00' });
  });
});
