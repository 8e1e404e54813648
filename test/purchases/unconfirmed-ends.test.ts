/**
 * The end of a purchase is shown only after a majority holds it, because a failover can roll back a
 * write that only the primary has.
 */
import { expect } from 'chai';
import type { ChangedBy } from '../../src/audit/record-audit.js';
import { getCustomerView } from '../../src/console/purchases/get-purchase.js';
import { setTotalsComplete } from '../../src/money/totals/totals-state.model.js';
import { createPurchase } from '../../src/purchases/accept/accept-purchase.js';
import { waitForFinalState } from '../../src/purchases/wait-for-final-state.js';
import { findPurchase } from '../../src/purchases/find-purchase.js';
import { concludeFailure } from '../../src/purchases/fulfil/conclude-purchase.js';
import { listTransactions } from '../../src/purchases/history.js';
import { findPurchasePage } from '../../src/purchases/operator-list.js';
import { PurchaseModel, purchases, type Purchase } from '../../src/purchases/purchase.model.js';
import { reverseByOperator } from '../../src/purchases/review/reverse-by-operator.js';
import { describePurchase } from '../../src/purchases/review/describe-purchase.js';
import { searchPurchases } from '../../src/purchases/search-purchases.js';
import { sumPurchases } from '../../src/purchases/sum-purchases.js';
import type { Report } from '../../src/reports/report.model.js';
import { readReportPages } from '../../src/reports/report-rows.js';
import { newId } from '../../src/shared/ids.js';
import { claimDeliveries } from '../../src/webhooks/deliver/claim-deliveries.js';
import { deliveries } from '../../src/webhooks/deliver/delivery.model.js';
import { openShop } from '../jobs/sold-purchases.js';
import { eventually } from '../support/eventually.js';
import { endLag, lagNextCommit, skipWithoutFaults } from '../support/majority-lag.js';
import { useDatabase } from '../webhooks/support/database.js';

/** Lag in milliseconds. The test ends the lag earlier. */
const longLagMs = 30_000;

describe('a lagging majority after the end of a purchase', () => {
  before(function () {
    return skipWithoutFaults(this);
  });
  useDatabase();
  afterEach(() => endLag());

  const shown: [what: string, look: (purchase: Purchase) => Promise<(Purchase | undefined)[]>][] = [
    ['a lookup by ref_id', async ({ accountId, refId }) => [await findPurchase(accountId, refId)]],
    ['a lookup by id', async ({ accountId, _id }) => [await findPurchase(accountId, _id)]],
    ['a counted history', async ({ accountId }) => listOf({ accountId })],
    ['a history by its totals', async ({ accountId }) => listOf({ accountId })],
    ['a filtered history', ({ accountId, productCode }) => listOf({ accountId }, { productCode })],
    [
      'a page of the console',
      async ({ accountId }) => (await findPurchasePage({ accountId }, { limit: 5 })).purchases,
    ],
    ['a search in the console', ({ refId }) => searchPurchases(refId)],
    ['a lookup in the console', async ({ _id }) => [(await describePurchase(_id)).purchase]],
    ['the sums of a filter', sumsOf],
    ['a report', reportOf],
    ['the customer view of the console', readAsCustomer],
  ];
  for (const [what, look] of shown) {
    it(`${what} does not show the end`, async () => {
      if (what === 'a history by its totals') {
        await setTotalsComplete();
      }
      const { purchase, ending } = await startUnconfirmedEnd();
      expect((await look(purchase)).map((each) => each?.status)).to.deep.equal(['PENDING']);
      await endLag();
      await ending;
      expect((await look(purchase)).map((each) => each?.status)).to.deep.equal(['FAILED']);
    });
  }

  it('a reversal is refused only after a majority has the failure', async () => {
    const { purchase, ending } = await startUnconfirmedEnd({ lagMs: 1_000 });
    const refused = await reverseByOperator(purchase._id, by).catch((error: unknown) => error);
    const committed = await PurchaseModel.findById(purchase._id).readConcern('majority').lean();
    expect([(refused as Error).message, committed?.status]).to.deep.equal([
      `Transaction ${purchase._id} is FAILED; only a SUCCESS can be reversed.`,
      'FAILED',
    ]);
    await ending;
  });

  it('the synchronous response of the reseller surface waits for the majority', async () => {
    const { purchase, ending } = await startUnconfirmedEnd();
    expect(await waitForFinalState(purchase, 500)).to.equal(null);
    const waiting = waitForFinalState(purchase, 10_000);
    await endLag();
    await ending;
    expect((await waiting)?.status).to.equal('FAILED');
  });

  it('a webhook is claimed only after a majority has the webhook and the end', async () => {
    const { purchase, ending } = await startUnconfirmedEnd({ lagMs: 1_500 });
    const { _id, accountId } = purchase;
    const row = await eventually('its callback', () => deliveries.findOne({ accountId, orderKey: _id }));
    const { rows } = await claimDeliveries(row.receiverId, 5);
    const committed = await PurchaseModel.findById(_id).readConcern('majority').lean();
    expect([rows.map((each) => each._id), committed?.status]).to.deep.equal([[row._id], 'FAILED']);
    await ending;
  });
});

describe('a lagging majority after the acceptance of a purchase', () => {
  before(function () {
    return skipWithoutFaults(this);
  });
  useDatabase();
  afterEach(() => endLag());

  it('a lookup waits for the purchase and does not return "not found"', async () => {
    const shop = await openShop('http://127.0.0.1:9');
    await lagNextCommit(purchases.collectionName, 1_000);
    const buying = shop.buy();
    const { _id, refId } = await eventually('the purchase is on the primary', () =>
      PurchaseModel.findOne({ accountId: shop.buyer._id }).lean<Purchase>(),
    );
    const [byRef, byId] = await Promise.all([
      findPurchase(shop.buyer._id, refId),
      findPurchase(shop.buyer._id, _id),
    ]);
    const committed = await PurchaseModel.findById(_id).readConcern('majority').lean();
    expect([byRef._id, byId._id, committed?._id]).to.deep.equal([_id, _id, _id]);
    await buying;
  });

  it('a ref_id equal to the id of another purchase finds its own purchase', async () => {
    const shop = await openShop('http://127.0.0.1:9');
    const other = await shop.buy();
    await lagNextCommit(purchases.collectionName, 1_000);
    const buying = createPurchase({
      account: shop.buyer,
      surface: 'buyer',
      productCode: shop.productCode,
      customerNumber: '081234567890',
      refId: other._id,
    });
    const { _id } = await eventually('the purchase is on the primary', () =>
      PurchaseModel.findOne({ accountId: shop.buyer._id, refId: other._id }).lean<Purchase>(),
    );
    expect((await findPurchase(shop.buyer._id, other._id))._id).to.equal(_id);
    await buying;
  });

  it('an accepted purchase is found at once by its ref_id and in the list', async () => {
    const shop = await openShop('http://127.0.0.1:9');
    await lagNextCommit(purchases.collectionName, 300);
    const { _id, refId, accountId } = await shop.buy();
    expect((await findPurchase(accountId, refId))._id).to.equal(_id);
    expect((await listOf({ accountId })).map((each) => each._id)).to.deep.equal([_id]);
  });
});

const by: ChangedBy = { actor: 'operator', from: null, reason: 'a test' };

async function sumsOf({ accountId, price }: Purchase) {
  return (await sumPurchases({ accountId, priceFrom: price })).byStatus as unknown as Purchase[];
}

async function reportOf({ accountId, createdAt }: Purchase) {
  const period = { start: createdAt, end: createdAt };
  const report = { accountId, role: 'buyer', type: 'transaction', period } as Report;
  for await (const [first] of readReportPages(report)) {
    // Reports contain the API's lower-case status.
    return [{ status: first?.row.status.toUpperCase() } as Purchase];
  }
  return [];
}

async function readAsCustomer({ _id: id }: Purchase) {
  const seen = (await getCustomerView.handle({ params: { id } } as never)) as { answer: string };
  const { data } = JSON.parse(seen.answer) as { data: { status: string } };
  return [{ status: data.status.toUpperCase() } as Purchase];
}

async function listOf(owner: { accountId: string }, sought?: { productCode: string }) {
  return (await listTransactions({ owner, sought, page: 1, limit: 5 })).purchases;
}

/** Fails a purchase. The primary shows the refund, but no majority holds it yet. */
async function startUnconfirmedEnd({ lagMs = longLagMs } = {}): Promise<{
  purchase: Purchase;
  ending: Promise<unknown>;
}> {
  const shop = await openShop('http://127.0.0.1:9');
  const { purchase } = await createPurchase({
    account: shop.buyer,
    surface: 'wallet',
    productCode: shop.productCode,
    customerNumber: '081234567890',
    refId: newId(),
    callbackUrl: 'http://127.0.0.1:9/callback',
  });
  await lagNextCommit(purchases.collectionName, lagMs);
  const ending = concludeFailure(purchase, null, { code: '01', message: 'nobody' });
  ending.catch(() => undefined);
  await eventually('the end is on the primary', () =>
    PurchaseModel.exists({ _id: purchase._id, status: 'FAILED' }),
  );
  return { purchase, ending };
}
