import { expect } from 'chai';
import { QuoteModel } from '../../../src/bills/quote.model.js';
import {
  acceptPurchase,
  type PurchaseRequest,
  createPurchase,
} from '../../../src/purchases/accept/accept-purchase.js';
import { PurchaseModel } from '../../../src/purchases/purchase.model.js';
import { InsufficientBalanceError } from '../../../src/shared/errors.js';
import { newId } from '../../../src/shared/ids.js';
import { openShop, type Shop } from '../../jobs/sold-purchases.js';
import { useDatabase } from '../../webhooks/support/database.js';

/**
 * The price is looked up between the search for the ref_id and the debit. At that point the tests
 * simulate another process.
 */
describe('a ref_id that another process accepts concurrently', () => {
  useDatabase();

  const requestOf = (shop: Shop): PurchaseRequest => ({
    account: shop.buyer,
    surface: 'buyer',
    productCode: shop.productCode,
    customerNumber: '081234567890',
    refId: newId(),
  });

  it('returns the purchase, not "insufficient balance", if the balance covers one', async () => {
    const shop = await openShop('http://127.0.0.1:9', { balance: 1_000 });
    const request = requestOf(shop);
    const late = await acceptPurchase('prepaid', request, async () => {
      const first = await createPurchase(request);
      expect(first.created).to.equal(true);
      return { price: 1_000, offerSellerId: shop.seller._id, quoteId: null };
    });
    const stored = await PurchaseModel.find({ accountId: shop.buyer._id }).lean();
    expect(stored).to.have.length(1);
    expect(late).to.deep.include({ created: false });
    expect(late.purchase._id).to.equal(stored[0]?._id);
  });

  it('returns the payment, not "is being paid by another request"', async () => {
    const shop = await openShop('http://127.0.0.1:9', { balance: 10_000 });
    const request = requestOf(shop);
    const quoteId = newId();
    await QuoteModel.create({
      _id: quoteId,
      accountId: shop.buyer._id,
      productCode: shop.productCode,
      customerNumber: request.customerNumber,
      sellerId: shop.seller._id,
      status: 'open',
      totalAmount: 1_000,
      createdAt: new Date(),
      expiresAt: new Date(Date.now() + 60_000),
    });
    const pay = () => Promise.resolve({ price: 1_000, offerSellerId: shop.seller._id, quoteId });
    const late = await acceptPurchase('prepaid', request, async () => {
      await acceptPurchase('prepaid', request, pay);
      return pay();
    });
    expect(late.created).to.equal(false);
    expect(await PurchaseModel.countDocuments({ accountId: shop.buyer._id })).to.equal(1);
  });

  it('still refuses another ref_id for insufficient balance', async () => {
    const shop = await openShop('http://127.0.0.1:9', { balance: 1_000 });
    await createPurchase(requestOf(shop));
    const error = await createPurchase(requestOf(shop)).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(InsufficientBalanceError);
  });
});
