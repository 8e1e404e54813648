import { expect } from 'chai';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { createResellerRequest } from '../../../src/api/reseller/create-request.js';
import { WalletModel } from '../../../src/money/wallets/wallet.model.js';
import { removeExpiredBindings } from '../../../src/purchases/accept/sign-bindings.js';
import { SignBindingModel, signBindings } from '../../../src/purchases/accept/sign-binding.model.js';
import { PurchaseModel } from '../../../src/purchases/purchase.model.js';
import { uniqueRef } from '../../support/api-client.js';
import { useApi, type ApiAccount } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { expectReseller } from '../support/expect-answer.js';
import { hmacSign, md5Sign, pathOf, requestPath, type Purchase } from '../support/reseller.js';
import { useSettings } from '../../support/use-settings.js';

describe('binding of a reseller sign to one order', () => {
  const api = useApi();
  useSettings({ RESELLER_SYNC_WAIT_MS: 20 });

  const signingOf = ({ account, key }: ApiAccount) => ({ username: account.username, key });
  const byMd5 = (buyer: ApiAccount, purchase: Purchase, over: Record<string, string> = {}) => {
    const sign = md5Sign(signingOf(buyer), purchase.ref_id);
    return api.call({ path: requestPath(signingOf(buyer), purchase, { sign, ...over }) });
  };
  const byHmac = (buyer: ApiAccount, purchase: Purchase) =>
    api.call({ path: requestPath(signingOf(buyer), purchase) });
  const customer = '081234561230';
  const balanceOf = async ({ account }: ApiAccount) =>
    Number((await WalletModel.findById(account._id).lean())?.balance);
  const purchasesOf = ({ account }: ApiAccount) => PurchaseModel.find({ accountId: account._id }).lean();

  async function expectNothingBought(buyer: ApiAccount, balance: number): Promise<void> {
    expect(await purchasesOf(buyer)).to.deep.equal([]);
    expect(await balanceOf(buyer)).to.equal(balance);
  }

  it('a balance or price-list sign never buys, in any letter case, md5 or HMAC: 01', async () => {
    const product = await newProduct(api);
    const buyer = await api.newBuyer(100_000);
    for (const refId of ['depo', 'pricelist', 'DEPO', 'PriceList']) {
      const purchase = { code: product._id, customer, ref_id: refId };
      for (const send of [byMd5, byHmac]) {
        const answer = await send(buyer, purchase);
        expectReseller(answer, createResellerRequest, { status: '01' });
        expect(answer.body.message)
          .to.match(/ref_id/)
          .and.match(/another/);
        expect(answer.body).to.not.have.property('transaction_status');
      }
    }
    // A third party with a leaked URL sends the same sign with other parameters.
    const leaked = { username: buyer.account.username, sign: md5Sign(signingOf(buyer), 'depo') };
    expect((await api.call({ path: pathOf('balance', leaked) })).body.status).to.equal('00');
    const bought = await api.call({
      path: pathOf('request', { ...leaked, code: product._id, customer, ref_id: 'depo' }),
    });
    expectReseller(bought, createResellerRequest, { status: '01' });
    await expectNothingBought(buyer, 100_000);
  });

  it('a repeat of an existing purchase with the ref_id "depo" still returns it', async () => {
    const product = await newProduct(api);
    const buyer = await api.newBuyer(100_000);
    const bought = await api.call({
      path: '/api/buyer/transaction',
      key: buyer.key,
      body: { code: product._id, customer_number: customer, ref_id: 'depo' },
    });
    expect(bought.body.code).to.equal('00');
    const purchase = { code: product._id, customer, ref_id: 'depo' };
    expectReseller(await byMd5(buyer, purchase), createResellerRequest, { status: '05' });
  });

  const refusals: [why: string, change: Partial<Purchase>, over: Record<string, string>, status: string][] = [
    ['an unknown product', { code: 'NO-SUCH-PRODUCT' }, {}, '02'],
    ['a wrong number', { customer: '0812' }, {}, '04'],
    ['a price above max_price', {}, { max_price: '1' }, '01'],
    ['a malformed product code', { code: 'S 10' }, {}, '01'],
    ['an empty product code', { code: '' }, {}, '01'],
    ['a max_price that is not a number', {}, { max_price: 'x' }, '01'],
  ];
  for (const [why, change, over, status] of refusals) {
    it(`after a refusal for ${why}: the md5 sign buys no other product or number`, async () => {
      const [product, other] = [await newProduct(api), await newProduct(api)];
      const buyer = await api.newBuyer(100_000);
      const first = { code: product._id, customer, ref_id: uniqueRef(), ...change };
      expectReseller(await byMd5(buyer, first, over), createResellerRequest, { status });
      for (const order of [
        { code: other._id, customer },
        { code: product._id, customer: '081234561299' },
        { code: other._id, customer: '081234561299' },
      ]) {
        const answer = await byMd5(buyer, { ...order, ref_id: first.ref_id });
        expectReseller(answer, createResellerRequest, { status: '01' });
        expect(answer.body.message)
          .to.include(first.ref_id)
          .and.match(/new ref_id/)
          .and.match(/nothing was bought/i);
        expect(answer.body.message).to.not.include(customer);
        expect(answer.body).to.not.have.property('transaction_status');
      }
      await expectNothingBought(buyer, 100_000);
    });
  }

  const refusedUnread: [why: string, refuse: (path: string, buyer: ApiAccount) => Promise<unknown>][] = [
    ['a repeated parameter', (path) => api.call({ path: `${path}&code=S5` })],
    ['a POST', (path) => api.call({ path, method: 'POST' })],
    ['HEAD', (path) => api.call({ path, method: 'HEAD' })],
    [
      'a suspended account',
      async (path, { account }) => {
        await setStatus(account, 'suspended');
        expectReseller(await api.call({ path }), createResellerRequest, { status: '07' });
        await setStatus(account, 'active');
      },
    ],
  ];
  const setStatus = ({ _id }: ApiAccount['account'], status: 'active' | 'suspended') =>
    writeAndInvalidate([AccountModel], [_id], (accounts) =>
      accounts.updateOne({ _id }, { $set: { status } }),
    );
  for (const [why, refuse] of refusedUnread) {
    it(`after a refusal for ${why}: the md5 sign buys only that order`, async () => {
      const [product, other] = [await newProduct(api), await newProduct(api)];
      const buyer = await api.newBuyer(100_000);
      const first = { code: product._id, customer, ref_id: uniqueRef() };
      const sign = md5Sign(signingOf(buyer), first.ref_id);
      await refuse(requestPath(signingOf(buyer), first, { sign }), buyer);
      const answer = await byMd5(buyer, { ...first, code: other._id });
      expectReseller(answer, createResellerRequest, { status: '01' });
      await expectNothingBought(buyer, 100_000);
      expectReseller(await byMd5(buyer, first), createResellerRequest, { status: '00' });
    });
  }

  it('the same order can be retried, and +62 and 0 are one number', async () => {
    const product = await newProduct(api, { price: 10_000 });
    const buyer = await api.newBuyer(0);
    const order = { code: product._id, customer, ref_id: uniqueRef() };
    expectReseller(await byMd5(buyer, order), createResellerRequest, { status: '01' });
    expectReseller(await byMd5(buyer, { ...order, customer: '+6281234561230' }), createResellerRequest, {
      status: '01',
    });
    expect(
      (await signBindings.find({ _id: `${buyer.account._id}:${order.ref_id}` }).toArray()).length,
    ).to.equal(1);
    const rich = await api.newBuyer(50_000);
    await byMd5(rich, { ...order, customer: '+6281234561230' }, { max_price: 'x' });
    expectReseller(await byMd5(rich, order), createResellerRequest, { status: '00' });
    expectReseller(await byMd5(rich, order), createResellerRequest, { status: '05' });
    const changed = await byMd5(rich, { ...order, customer: '081234561231' });
    expectReseller(changed, createResellerRequest, { status: '01' });
    expect(await balanceOf(rich)).to.equal(40_000);
  });

  it('an accepted order leaves no binding, because the purchase is permanent', async () => {
    const product = await newProduct(api);
    const buyer = await api.newBuyer(100_000);
    const order = { code: product._id, customer, ref_id: uniqueRef() };
    expectReseller(await byMd5(buyer, order), createResellerRequest, { status: '00' });
    expect(await SignBindingModel.countDocuments({ _id: `${buyer.account._id}:${order.ref_id}` })).to.equal(
      0,
    );
  });

  it('an HMAC sign covers the order and needs no binding', async () => {
    const product = await newProduct(api, { price: 10_000 });
    const buyer = await api.newBuyer(100_000);
    const refId = uniqueRef();
    const refused = await byHmac(buyer, { code: 'NO-SUCH-PRODUCT', customer, ref_id: refId });
    expectReseller(refused, createResellerRequest, { status: '02' });
    const leaked = hmacSign(signingOf(buyer), `NO-SUCH-PRODUCT|${customer}|${refId}`);
    const stolen = await byMd5(buyer, { code: product._id, customer, ref_id: refId }, { sign: leaked });
    expectReseller(stolen, createResellerRequest, { status: '07' });
    // An HMAC sign proves possession of the key. It is accepted even if an md5 sign has already
    // bound this ref_id.
    await byMd5(buyer, { code: 'NO-SUCH-PRODUCT', customer, ref_id: refId });
    const answer = await byHmac(buyer, { code: product._id, customer, ref_id: refId });
    expectReseller(answer, createResellerRequest, { status: '00' });
  });

  it('an invalid sign, a blocked address and a call above the limit bind nothing', async () => {
    const product = await newProduct(api);
    const [buyer, guarded, limited] = await Promise.all([
      api.newBuyer(100_000),
      api.newAccount('buyer', { ipWhitelist: ['203.0.113.7'] }),
      api.newAccount('buyer', { rateLimit: 1 }),
    ]);
    const refId = uniqueRef();
    const stranger = { code: 'NO-SUCH-PRODUCT', customer, ref_id: refId };
    expect((await byMd5(buyer, stranger, { sign: '0'.repeat(32) })).body.status).to.equal('07');
    expect((await byMd5(guarded, stranger)).body.status).to.equal('07');
    await byMd5(limited, { ...stranger, ref_id: uniqueRef() });
    expect((await byMd5(limited, stranger)).body.status).to.equal('06');
    expect(await SignBindingModel.countDocuments({ _id: { $regex: `:${refId}$` } })).to.equal(0);
    const order = { code: product._id, customer, ref_id: refId };
    expectReseller(await byMd5(buyer, order), createResellerRequest, { status: '00' });
  });

  it('a ref_id of one account does not affect another account', async () => {
    const product = await newProduct(api);
    const [one, two] = await Promise.all([api.newBuyer(100_000), api.newBuyer(100_000)]);
    const refId = uniqueRef();
    await byMd5(one, { code: 'NO-SUCH-PRODUCT', customer, ref_id: refId });
    const answer = await byMd5(two, { code: product._id, customer, ref_id: refId });
    expectReseller(answer, createResellerRequest, { status: '00' });
  });

  it('of 30 concurrent orders with one sign, at most one is bought', async () => {
    const product = await newProduct(api, { price: 10_000 });
    const buyer = await api.newBuyer(100_000);
    const refId = uniqueRef();
    const orders = Array.from({ length: 30 }, (_, n) => ({
      // Every third order is for an unknown product. It is refused, and it still binds the sign.
      code: n % 3 === 0 ? 'NO-SUCH-PRODUCT' : product._id,
      customer: `0812345670${String(n).padStart(2, '0')}`,
      ref_id: refId,
    }));
    await Promise.all(orders.map((order) => byMd5(buyer, order)));
    const after = await purchasesOf(buyer);
    expect(after.length).to.be.at.most(1);
    await Promise.all(orders.map((order) => byMd5(buyer, order)));
    // Each order is now bound or refused. A repeat can therefore create at most one purchase.
    expect((await purchasesOf(buyer)).length).to.be.at.most(1);
    expect(await balanceOf(buyer)).to.equal(100_000 - 10_000 * (await purchasesOf(buyer)).length);
  });

  it('expires after 24 hours and is removed by the scheduled job', async () => {
    const product = await newProduct(api);
    const buyer = await api.newBuyer(100_000);
    const refId = uniqueRef();
    const id = `${buyer.account._id}:${refId}`;
    await byMd5(buyer, { code: 'NO-SUCH-PRODUCT', customer, ref_id: refId });
    const bound = await SignBindingModel.findById(id).lean();
    expect(Number(bound?.expiresAt) - Date.now()).to.be.within(86_000_000, 86_400_000);
    await SignBindingModel.updateOne({ _id: id }, { $set: { expiresAt: new Date(Date.now() - 1) } });
    // An expired binding is replaced even if it has not been deleted yet.
    const refused = await byMd5(buyer, { code: 'NO-SUCH-THING', customer, ref_id: refId });
    expectReseller(refused, createResellerRequest, { status: '02' });
    const again = await byMd5(buyer, { code: product._id, customer, ref_id: refId });
    expectReseller(again, createResellerRequest, { status: '01' });
    await SignBindingModel.updateOne({ _id: id }, { $set: { expiresAt: new Date(Date.now() - 1) } });
    const order = await byMd5(buyer, { code: product._id, customer, ref_id: refId });
    expectReseller(order, createResellerRequest, { status: '00' });
    await removeExpiredBindings();
    expect(await SignBindingModel.countDocuments({ _id: id })).to.equal(0);
  });
});
