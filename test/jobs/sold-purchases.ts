/**
 * A seller whose provider is simulated by the test, and purchases of its product in the test's
 * process.
 */
import { createAccount } from '../../src/accounts/create-account.js';
import type { Account } from '../../src/accounts/account.model.js';
import { createDeposit } from '../../src/deposits/create-deposit.js';
import { OfferModel } from '../../src/products/offer.model.js';
import { ProductModel } from '../../src/products/product.model.js';
import { createPurchase } from '../../src/purchases/accept/accept-purchase.js';
import type { Purchase } from '../../src/purchases/purchase.model.js';
import { newId } from '../../src/shared/ids.js';
import { startWorkers, type RunningWorkers } from '../../src/jobs/start-workers.js';
import { processTypes } from '../../src/processes.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { sendJson, startPlayServer, type PlayServer } from '../providers/play-server.js';

export interface Shop {
  buyer: Account;
  seller: Account;
  productCode: string;
  buy: () => Promise<Purchase>;
}

/** Starts workers for every queue, like a process that runs every kind of work. */
export function startAllWorkers(): RunningWorkers {
  return startWorkers(
    processTypes.flatMap(({ handlers }) => handlers),
    processTypes.flatMap(({ families = [] }) => families),
  );
}

/**
 * Starts a provider that sells every order. While `isPending` returns true, it responds with
 * "pending".
 */
export function startSellingProvider(isPending: () => boolean): Promise<PlayServer> {
  return startPlayServer((call, response) => {
    const refId = call.url.searchParams.get('ref_id') ?? '';
    const answer = isPending()
      ? { status: '05', transaction_status: 'pending', message: 'Wait' }
      : { status: '00', transaction_status: 'success', message: 'Success', sn: `SN${refId}` };
    sendJson(response, 200, { ref_id: refId, ...answer });
  });
}

/**
 * Opens a shop.
 * @param baseUrl The address of the seller's provider.
 * @param options.kind Its protocol. The default is the reseller protocol.
 * @param options.balance The buyer's balance in rupiah. A purchase costs 1,000.
 */
export async function openShop(
  baseUrl: string,
  { balance = 10_000_000, kind = 'h2h' }: { balance?: number; kind?: 'h2h' | 'digiflazz' } = {},
): Promise<Shop> {
  const provider = { kind, baseUrl, username: 'us', secret: 'secret' };
  const { account: seller } = await createAccount({ username: `s${newId()}`, role: 'seller', provider });
  const { account: buyer } = await createAccount({ username: `b${newId()}`, role: 'buyer' });
  const code = `C${newId()}`;
  await writeAndInvalidate([OfferModel], null, (rows) =>
    rows.create({
      _id: `${code}:${seller._id}`,
      productCode: code,
      sellerId: seller._id,
      price: 1_000,
      status: 'active',
    }),
  );
  await writeAndInvalidate([ProductModel], null, (rows) =>
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
