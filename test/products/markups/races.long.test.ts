/** Markups change while two processes sell, and the cost of markups per purchase. */
import { expect } from 'chai';
import { balanceOfWallet, openMarkupShop, type MarkupShop } from './shop-with-markups.js';
import { expectLedgerToBalance, expectLedgerVerified } from '../../support/ledger.js';
import { sizes } from '../../support/sizes.js';
import { startStatementTap, type StatementTap } from '../../support/statement-tap.js';

describe('markup changes under load', function () {
  this.timeout(180_000);
  let tap: StatementTap;
  let shop: MarkupShop;

  before(async () => {
    tap = await startStatementTap(process.env['MONGODB_URI'] ?? '');
    shop = await openMarkupShop({ MONGODB_URI: tap.uri });
  });
  after(async () => {
    await shop.stack.stop();
    await tap.stop();
  });
  afterEach(async () => {
    await shop.removeAll();
    await expectLedgerToBalance(shop.stack);
  });

  it('apply to the next purchase and never partially @sized', async () => {
    const code = await shop.product(10_000);
    const rules = Array.from({ length: sizes.markupChanges }, (_, n) => (n + 1) * 100);
    const before = await balanceOfWallet(shop);
    let isOver = false;
    const debited: number[] = [];
    const storm = shop.buyers.map(async (at) => {
      while (!isOver) {
        debited.push(await shop.priceOf(code, { at }));
      }
    });
    for (const rupiah of rules) {
      await shop.set({ product: code, rupiah });
      for (const at of shop.buyers) {
        const price = await shop.priceOf(code, { at });
        debited.push(price);
        expect(price).to.equal(10_000 + rupiah);
      }
    }
    isOver = true;
    await Promise.all(storm);
    expect(debited.length).to.be.greaterThan(2 * rules.length);
    const possible = new Set([10_000, ...rules.map((rupiah) => 10_000 + rupiah)]);
    expect(debited.filter((price) => !possible.has(price))).to.deep.equal([]);
    const stored = await shop.stack.db.collection('transactions').find({ productCode: code }).toArray();
    expect(stored.length).to.equal(debited.length);
    for (const { price, markup = 0 } of stored) {
      expect(Number(price) - Number(markup)).to.equal(10_000);
    }
    expect(stored.reduce((sum, { price }) => sum + Number(price), 0)).to.equal(
      debited.reduce((sum, price) => sum + price, 0),
    );
    // No purchase failed, so the sum of the debits equals the sum of the reported prices.
    expect(before - (await balanceOfWallet(shop))).to.equal(debited.reduce((sum, price) => sum + price, 0));
    await expectLedgerVerified(shop.stack);
  });

  it('keep one rule after concurrent changes, with a complete audit chain', async () => {
    const code = await shop.product(10_000);
    const amounts = Array.from({ length: 12 }, (_, n) => n + 1);
    await Promise.all(amounts.map((rupiah) => shop.set({ product: code, rupiah })));
    const stored = await shop.stack.db.collection('markups').find({ of: code }).toArray();
    expect(stored).to.have.length(1);
    const entries = await shop.stack.db
      .collection('audit')
      .find({ 'subject.id': `* product ${code}` })
      .toArray();
    const changes = entries.map(({ before, after }) => [before?.rupiah ?? null, after.rupiah] as const);
    // Each amount is the `before` value of exactly one later change, except for the current amount.
    expect(changes.map(([, after]) => after).sort((a, b) => a - b)).to.deep.equal(amounts);
    const befores = new Set(changes.map(([before]) => before));
    expect(befores.size).to.equal(changes.length);
    expect(amounts.filter((each) => !befores.has(each))).to.deep.equal([Number(stored[0]?.['rupiah'])]);
    expect(await shop.priceOf(code)).to.equal(10_000 + Number(stored[0]?.['rupiah']));
  });

  it('cost purchases no reads, because rules are cached in each process', async () => {
    const code = await shop.product(10_000);
    const reads = async () => {
      const from = tap.sent.length;
      for (const at of [...shop.buyers, ...shop.buyers, ...shop.buyers]) {
        await shop.priceOf(code, { at });
      }
      return tap.sent.slice(from).filter(({ collection }) => collection === 'markups').length;
    };
    await shop.set({ product: code, rupiah: 10 });
    await shop.set({ account: 'buyer', rupiah: 20 });
    await reads();
    expect(await reads()).to.equal(0);
  });
});
