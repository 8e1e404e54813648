import { expect } from 'chai';
import { sendCall } from '../api/support/api.js';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { startStack, type Stack } from '../support/stack.js';
import {
  addProduct,
  attemptsOf,
  waitUntilFinal,
  ledgerOf,
  newBuyer,
  pointSeller,
  purchase,
} from './provider-stack.js';

describe('a second copy of the service as the provider of the first', function () {
  this.timeout(120_000);
  let retail: Stack;
  let wholesale: Stack;
  let buyer: ApiClient;
  let code: string;
  let sellerId: string;
  let wholesaleBuyerId: string;
  let wholesaleSellerId: string;
  let wholesaleSellerKey: string;
  const workers = ['fulfilment', 'follow-up', 'sellers', 'webhooks'];

  before(async () => {
    [retail, wholesale] = await Promise.all([
      startStack({ workers }),
      startStack({ workers, env: { RESELLER_SYNC_WAIT_MS: '1000' } }),
    ]);
    const [retailAccounts, wholesaleAccounts] = await Promise.all([retail.seed(), wholesale.seed()]);
    const reseller = wholesaleAccounts['buyer'];
    const upstream = await pointSeller(wholesale, 'seller', {
      kind: 'simulator',
      baseUrl: null,
      username: 'upstream',
      secret: wholesale.simulator.secret,
    });
    wholesaleSellerId = upstream.id;
    wholesaleSellerKey = wholesaleAccounts['seller']?.api_key ?? '';
    // Fund the retail shop's account before the first copy polls the balance. With a balance of
    // zero, the first copy would send no orders there.
    await newBuyer(wholesale, reseller?.api_key ?? '', 1_000_000);
    const seller = await pointSeller(retail, 'seller', {
      kind: 'h2h',
      baseUrl: `${wholesale.baseUrl}/api/reseller`,
      username: 'buyer',
      secret: reseller?.api_key ?? '',
      callbackSecret: reseller?.webhook_secret ?? '',
    });
    sellerId = seller.id;
    code = await addProduct(retail, [{ sellerId, price: 10_500 }]);
    await addProduct(wholesale, [{ sellerId: upstream.id, price: 10_000 }], code);
    // The second copy sends its callbacks to the callback path of the first copy.
    const account = await wholesale.db
      .collection<{ _id: string; callbackUrl: string }>('accounts')
      .findOneAndUpdate(
        { username: 'buyer' },
        { $set: { callbackUrl: `${retail.baseUrl}/api/reseller/callback` } },
      );
    wholesaleBuyerId = account?._id ?? '';
    buyer = await newBuyer(retail, retailAccounts['buyer']?.api_key ?? '', 1_000_000);
  });
  after(() => Promise.all([retail.stop(), wholesale.stop()]));

  const stories: { ending: string; final: 'SUCCESS' | 'FAILED' }[] = [
    { ending: '1230', final: 'SUCCESS' },
    { ending: '1232', final: 'FAILED' },
    { ending: '1233', final: 'SUCCESS' },
    { ending: '1234', final: 'FAILED' },
    { ending: '1235', final: 'SUCCESS' },
  ];

  it('purchases are executed once, with equal serial numbers and balanced ledgers', async () => {
    const ids = await Promise.all(stories.map(({ ending }) => purchase(buyer, code, `08123456${ending}`)));
    const finals = await Promise.all(ids.map((id) => waitUntilFinal(retail, id, 90_000)));
    expect(finals.map(({ status }) => status)).to.deep.equal(stories.map(({ final }) => final));
    const log = await wholesale.simulator.log({ provider: 'upstream' });
    const sold = finals.filter(({ status }) => status === 'SUCCESS');
    expect(log).to.have.length(sold.length);
    for (const [index, transaction] of finals.entries()) {
      const [attempt] = await attemptsOf(retail, transaction._id);
      const there = await wholesale.db
        .collection<{ _id: string; refId: string; status: string; serialNumber: string | null }>(
          'transactions',
        )
        .findOne({ refId: attempt?._id ?? '' });
      expect(there, stories[index]?.ending).to.include({
        status: transaction.status,
        serialNumber: transaction.serialNumber,
      });
    }
    await expectLedger(retail, { buyer: undefined, price: 10_500, sold: sold.length, sellerId });
    await expectLedger(wholesale, {
      buyer: wholesaleBuyerId,
      price: 10_000,
      sold: sold.length,
      sellerId: wholesaleSellerId,
    });
  });

  it("refuses a wholesale price above the buyer's price, and refunds the buyer", async () => {
    const offer = async (price: number) => {
      const path = `/api/seller/products/${code}/offers`;
      const answer = await sendCall(wholesale.baseUrl, { path, key: wholesaleSellerKey, body: { price } });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    };
    const buyOnce = async () => {
      const final = await waitUntilFinal(retail, await purchase(buyer, code, '081234561230'));
      const [attempt] = await attemptsOf(retail, final._id);
      const there = await wholesale.db
        .collection('transactions')
        .countDocuments({ refId: attempt?._id ?? '' });
      return [final.status, there];
    };
    await offer(10_501);
    expect(await buyOnce()).to.deep.equal(['FAILED', 0]);
    await offer(10_500);
    expect(await buyOnce()).to.deep.equal(['SUCCESS', 1]);
  });
});

/**
 * Checks that suspense is empty, that seller and platform (2 %) have their shares, and that all
 * lines sum to 0.
 */
async function expectLedger(
  stack: Stack,
  expected: { buyer: string | undefined; price: number; sold: number; sellerId: string },
): Promise<void> {
  const { price, sold, sellerId, buyer } = expected;
  const commission = Math.round(price * 0.02);
  const { sums, wallets } = await eventually('the seller has the sales', async () => {
    const ledger = await ledgerOf(stack);
    return ledger.wallets[sellerId] === sold * (price - commission) && ledger;
  });
  expect(sums['platform:suspense'] ?? 0).to.equal(0);
  expect(sums['platform:revenue']).to.equal(sold * commission);
  expect(sums[`payable:${sellerId}`]).to.equal(0);
  expect(Object.values(sums).reduce((total, sum) => total + sum, 0)).to.equal(0);
  for (const [id, balance] of Object.entries(wallets)) {
    expect(sums[`wallet:${id}`] ?? 0, id).to.equal(balance);
  }
  if (buyer !== undefined) {
    expect(wallets[buyer]).to.equal(1_000_000 - sold * price);
  }
}
