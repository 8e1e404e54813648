/** A bill in the shop of ledger-play.ts, with its customer's name. */
import { expect } from 'chai';
import { QuoteModel, type Quote } from '../../src/bills/quote.model.js';
import { post } from '../../src/money/posting/post.js';
import { ProductModel, type Product } from '../../src/products/product.model.js';
import { buildPurchase, buildPurchasePosting } from '../../src/purchases/accept/new-purchase.js';
import type { Purchase } from '../../src/purchases/purchase.model.js';
import { verifyLedger } from '../../src/reconciliation/ledger/verify-ledger.js';
import { newId } from '../../src/shared/ids.js';
import type { Play } from '../reconciliation/closes/ledger-play.js';
import { someQuote } from '../support/some-quote.js';

export const dayMs = 86_400_000;

/** Builds a quote of the shop's product, without storing it. */
export function quoteOf({ buyer, seller, shop }: Play, over: Partial<Quote>): Quote {
  return someQuote({
    accountId: buyer._id,
    productCode: shop.productCode,
    sellerId: seller._id,
    customerName: 'BUDI SANTOSO',
    totalBill: 900,
    adminFee: 100,
    totalAmount: 1_000,
    createdAt: new Date(Date.now() - 3 * dayMs),
    expiresAt: new Date(Date.now() + dayMs),
    ...over,
  });
}

/** Stores a quote for this customer and posts its payment. */
export async function payBill(
  play: Play,
  customerNumber: string,
): Promise<{ purchase: Purchase; quote: Quote }> {
  const quote = quoteOf(play, { customerNumber });
  await QuoteModel.create(quote);
  const purchase = buildPurchase({
    accountId: play.buyer._id,
    refId: newId(),
    surface: 'buyer',
    kind: 'postpaid',
    price: 1_000,
    offerSellerId: play.seller._id,
    quoteId: quote._id,
    callbackUrl: null,
    customerNumber,
    product: (await ProductModel.findById(play.shop.productCode).lean<Product>()) as Product,
  });
  expect((await post(buildPurchasePosting(purchase))).outcome).to.equal('posted');
  return { purchase, quote };
}

/** Expects that neither the rules nor the closed days have findings. */
export async function expectLedgerToVerify(): Promise<void> {
  for (const full of [true, false]) {
    const { findings } = await verifyLedger(undefined, { full });
    expect(findings, full ? 'every rule' : 'closed days').to.deep.equal([]);
  }
}
