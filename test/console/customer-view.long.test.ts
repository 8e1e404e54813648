/**
 * Customer lookups by support staff, in the console and on the command line. Their results match
 * what the buyer sees.
 */
import { expect } from 'chai';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { topup } from '../support/topup.js';
import { callerAs, type Caller } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';

describe('support lookups', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let support: Caller;

  before(async () => {
    shop = await startOperatedStack();
    support = await callerAs(shop, 'support');
  });
  after(() => shop.stack.stop());

  const buyer = () => apiClient(shop.stack.baseUrl, shop.accounts['buyer']?.api_key ?? '');
  const asCustomer = (id: string) => support.ask('asCustomerSees', `/purchases/${id}/as-customer-sees`);

  it('shows a purchase as the API returns it to its buyer', async () => {
    const wallet = await shop.buySuccessfully();
    const bought = await buyer().post('/api/buyer/transaction', {
      code: 'S10',
      customer_number: '081255501230',
      ref_id: uniqueRef('view'),
    });
    const id = bought.body.data.transaction_id as string;
    await eventually('it is SUCCESS', async () => (await shop.purchaseOf(id))?.status === 'SUCCESS');
    for (const [purchase, path] of [
      [wallet, `/v1/transactions/${wallet}`],
      [id, `/api/buyer/transactions/${(await shop.purchaseOf(id))?.refId ?? ''}`],
    ] as const) {
      const seen = await asCustomer(purchase);
      expect(seen.call).to.equal(`GET ${path}`);
      const answered = (await buyer().get(path)).body;
      expect(JSON.parse(seen.answer)).to.deep.equal(JSON.parse(JSON.stringify(answered)));
    }
  });

  it("shows a reseller purchase as its status check in the account's language", async () => {
    const id = await shop.buySuccessfully();
    const transactions = shop.stack.db.collection<{ _id: string }>('transactions');
    await transactions.updateOne({ _id: id }, { $set: { surface: 'reseller' } });
    const { refId, serialNumber } = (await shop.purchaseOf(id)) ?? {};
    const seen = async () => JSON.parse((await asCustomer(id)).answer);
    const about = { ref_id: refId, sn: serialNumber };
    expect(await seen()).to.deep.equal({
      status: '00',
      message: 'Success',
      ...about,
      transaction_status: 'success',
    });
    await transactions.updateOne({ _id: id }, { $set: { status: 'PROCESSING', serialNumber: null } });
    await shop.stack.db.collection('accounts').updateOne({ username: 'buyer' }, { $set: { language: 'id' } });
    const pending = await seen();
    expect(pending).to.include({ status: '05', transaction_status: 'pending', sn: null });
    expect(pending.message).to.include('proses');
    expect((await support.call('/purchases/nothing/as-customer-sees')).status).to.equal(404);
  });

  it('topup search finds the same purchases as the console', async () => {
    const id = await shop.buySuccessfully();
    const { refId = '', customerNumber = '', serialNumber } = (await shop.purchaseOf(id)) ?? {};
    for (const words of [id, refId, customerNumber, serialNumber?.slice(0, 12) ?? '']) {
      const shown = await support.ask('search', `/search?q=${encodeURIComponent(words)}`);
      const found = (await topup(['search', words, '--json'], shop.stack.env)).json<{
        purchases: { id: string }[];
      }>();
      expect(
        found.purchases.map((each) => each.id),
        words,
      ).to.include(id);
      expect(
        found.purchases.map((each) => each.id),
        words,
      ).to.deep.equal(shown.purchases.map((each: { id: string }) => each.id));
    }
    const text = await topup(['search', 'BUY'], shop.stack.env);
    expect(text.stdout).to.match(/buyer2 +buyer +active/);
    expect((await topup(['search', 'nobody', 'knows', 'this'], shop.stack.env)).stdout).to.include(
      'Nothing matches',
    );
    expect((await topup(['search', 'x'], shop.stack.env)).code).to.equal(2);
  });

  it('the command line shows times in the business time zone and names it', async () => {
    const id = await shop.buySuccessfully();
    const { createdAt } = (await shop.purchaseOf(id)) ?? {};
    const here = new Date((createdAt?.getTime() ?? 0) + 7 * 3_600_000).toISOString().slice(0, 23);
    const listed = await topup(['transaction', 'list', '--limit', '1'], shop.stack.env);
    expect(listed.stdout)
      .to.include(`${here.replace('T', ' ')} WIB`)
      .and.include(id);
    const elsewhere = { ...shop.stack.env, BUSINESS_TIMEZONE: 'UTC' };
    const inUtc = await topup(['transaction', 'show', id], elsewhere);
    expect(inUtc.stdout).to.include(`${createdAt?.toISOString().slice(0, 23).replace('T', ' ') ?? ''} UTC`);
    const [row] = (await topup(['transaction', 'list', '--limit', '1', '--json'], shop.stack.env)).json<
      { created_at: string }[]
    >();
    expect(row?.created_at, 'UTC in JSON').to.equal(createdAt?.toISOString());
  });
});
