/**
 * `topup ledger verify` derives the correct markup from the journal of the debit, the quote and the
 * commission.
 */
import { expect } from 'chai';
import { Long, type Document } from 'mongodb';
import type { LedgerReport } from '../../../src/reconciliation/ledger/ledger-report.js';
import { createEdit, type Edit } from '../../reconciliation/ledger/edit.js';
import { uniqueRef } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { topup } from '../../support/topup.js';
import { openMarkupShop, type MarkupShop } from './shop-with-markups.js';

const one = Long.fromNumber(1);

describe('a forged markup', function () {
  this.timeout(120_000);
  let shop: MarkupShop;
  let planted: Edit;
  let ids: { sold: string; failed: string; open: string; plain: string; bill: string; quote: string };

  before(async () => {
    shop = await openMarkupShop();
    planted = createEdit(shop.stack.db);
    const code = await shop.product(500_000);
    const idOf = ({ _id }: Document) => String(_id);
    const plain = idOf(await shop.finalOf(await shop.buy(code)));
    await shop.set({ percent: 10 });
    const sold = idOf(await shop.finalOf(await shop.buy(code)));
    const failed = idOf(await shop.finalOf(await shop.buy(code, { customer: '081234561232' })));
    const bill = { code: 'PLNPOST', customer_number: '12345671240', ref_id: uniqueRef() };
    const paid = await shop.finalOf(await shop.buyer.post('/api/buyer/payment', bill));
    const review = await shop.buy(code, { customer: '081234561233' });
    const open = String(review.body.data.id);
    await eventually('the review is open', async () => (await shop.purchaseOf(open))?.reviewSince, 60_000);
    ids = { sold, failed, open, plain, bill: idOf(paid), quote: String(paid['quoteId']) };
  });
  afterEach(() => planted.undo());
  after(() => shop.stack.stop());

  async function findings(): Promise<LedgerReport['findings']> {
    const result = await topup(['ledger', 'verify', '--json'], shop.stack.env);
    return result.json<LedgerReport>().findings;
  }
  async function expectFound(check: string, subject: string, message: string): Promise<void> {
    const found = await findings();
    const fits = found.some(
      (each) => each.check === check && each.subject === subject && each.message.includes(message),
    );
    expect(fits, `${check} | ${subject} | ${message} in ${JSON.stringify(found, null, 1)}`).to.equal(true);
  }
  const suspense = { lines: { $elemMatch: { account: 'platform:suspense' } } };

  it('is not reported in valid books', async () => {
    expect(await findings()).to.deep.equal([]);
  });

  for (const name of ['sold', 'failed', 'open'] as const) {
    it(`is found on a purchase that is ${name}, whether changed or removed`, async () => {
      await planted.change('transactions', { _id: ids[name] }, { $inc: { markup: one } });
      await expectFound('transaction-journals', `transaction ${ids[name]}`, 'its markup is 50001 of 550000');
      await planted.undo();
      await planted.change('transactions', { _id: ids[name] }, { $unset: { markup: 1 } });
      await expectFound('transaction-journals', `transaction ${ids[name]}`, 'its markup is none of 550000');
    });
  }

  it('is found on a purchase without a markup or with a wrong type', async () => {
    await planted.change('transactions', { _id: ids.plain }, { $set: { markup: Long.fromNumber(10) } });
    await expectFound('transaction-journals', `transaction ${ids.plain}`, 'its markup is 10 of 500000');
    await planted.undo();
    await planted.change('transactions', { _id: ids.sold }, { $set: { markup: 50_000.5 } });
    await expectFound('stored-as-int64', ids.sold, 'transaction markup is not stored');
  });

  it('is found by the commission if the purchase and its journal agree', async () => {
    await planted.change('transactions', { _id: ids.sold }, { $inc: { markup: one } });
    await planted.change(
      'journals',
      { subjectId: ids.sold, kind: 'purchase', ...suspense },
      { $inc: { 'lines.1.amount': Long.fromNumber(-1), 'lines.2.amount': one } },
    );
    await expectFound('seller-credits', `transaction ${ids.sold}`, 'its commission is 60000');
    await expectFound(
      'attempts',
      `transaction ${ids.sold}`,
      'more than the 499999 debited without the markup',
    );
  });

  it('is found if the commission excludes the markup', async () => {
    await planted.change(
      'transactions',
      { _id: ids.sold },
      { $set: { commissionAmount: Long.fromNumber(10_000) } },
    );
    await expectFound('seller-credits', `transaction ${ids.sold}`, 'its commission is 10000');
  });

  it('is found on a paid quote', async () => {
    await planted.change('quotes', { _id: ids.quote }, { $inc: { markup: one } });
    await expectFound('quotes', `transaction ${ids.bill}`, 'and a markup of');
    await expectFound('quotes', `transaction ${ids.bill}`, `that of quote ${ids.quote}`);
  });
});
