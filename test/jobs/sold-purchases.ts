/** A seller whose provider is played by the test, and purchases of its product, made in the test's own process. */
import { createAccount } from '../../src/accounts/create-account.js';
import type { Account } from '../../src/accounts/account.model.js';
import { createDeposit } from '../../src/deposits/create-deposit.js';
import { OfferModel } from '../../src/products/offer.model.js';
import { ProductModel } from '../../src/products/product.model.js';
import { createPurchase } from '../../src/purchases/accept/create-purchase.js';
import type { Purchase } from '../../src/purchases/purchase.model.js';
import { newId } from '../../src/shared/ids.js';
import { changing } from '../../src/redis/changing.js';

export interface Shop {
  buyer: Account;
  seller: Account;
  productCode: string;
  buy: () => Promise<Purchase>;
}

/**
 * @param baseUrl Where the seller's provider answers, by the protocol of reseller software.
 * @param options.balance Rupiah that the buyer has; a purchase costs 1,000.
 */
export async function openShop(baseUrl: string, { balance = 10_000_000 } = {}): Promise<Shop> {
  const provider = { kind: 'h2h' as const, baseUrl, username: 'us', secret: 'secret' };
  const { account: seller } = await createAccount({ username: `s${newId()}`, role: 'seller', provider });
  const { account: buyer } = await createAccount({ username: `b${newId()}`, role: 'buyer' });
  const code = `C${newId()}`;
  await changing([OfferModel], null, (rows) =>
    rows.create({
      _id: `${code}:${seller._id}`,
      productCode: code,
      sellerId: seller._id,
      price: 1_000,
      status: 'active',
    }),
  );
  await changing([ProductModel], null, (rows) =>
    rows.create({
      _id: code,
      sellerId: seller._id,
      name: code,
      category: 'prabayar',
      subcategory: 'pulsa',
      status: 'active',
      customerNumber: { kind: 'any' },
    }),
  );
  await createDeposit({ account: buyer, amount: balance, refId: newId() });
  return {
    buyer,
    seller,
    productCode: code,
    async buy() {
      const { purchase } = await createPurchase({
        account: buyer,
        surface: 'buyer',
        productCode: code,
        customerNumber: '081234567890',
        refId: newId(),
      });
      return purchase;
    },
  };
}
