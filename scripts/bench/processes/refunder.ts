/** Creates and refunds purchases of one buyer through the posting engine, in a separate process. */
import '../../../src/all-models.js';
import { connectMongo } from '../../../src/database/mongo.js';
import { post } from '../../../src/money/posting/post.js';
import { findProduct } from '../../../src/products/read-products.js';
import { buildPurchase, buildPurchasePosting } from '../../../src/purchases/accept/new-purchase.js';
import { concludeFailure } from '../../../src/purchases/fulfil/conclude-purchase.js';
import { addJobAtProvider } from '../../../src/purchases/fulfil/schedule-purchase.js';
import { purchases, type Purchase } from '../../../src/purchases/purchase.model.js';
import { connectRedis } from '../../../src/redis/connection.js';
import { newId } from '../../../src/shared/ids.js';
import { serveCalls } from '../support/calls.js';
import { customerNumber, product } from '../support/bench-product.js';

export type RefundWork = { accountId: string } & (
  | { make: number; sellerId: string; withJobs?: true }
  /** `atOnce` is the number of concurrent refunds. */
  | { seconds: number; atOnce: number }
);

export interface RefundResult {
  refunded: number;
  perSecond: number;
}

const noRefunds: RefundResult = { refunded: 0, perSecond: 0 };
const addBatchSize = 500;

export async function runRefunder(): Promise<void> {
  await connectMongo();
  await connectRedis();
  serveCalls((work: RefundWork) => ('make' in work ? addPurchases(work) : refund(work)));
}

async function addPurchases(work: Extract<RefundWork, { make: number }>): Promise<RefundResult> {
  const { accountId, sellerId } = work;
  const found = await findProduct(product.code);
  if (!found) {
    throw new Error('The product of the bench is missing');
  }
  for (let left = work.make; left > 0; left -= addBatchSize) {
    const made = Array.from({ length: Math.min(left, addBatchSize) }, () =>
      buildPurchase({
        accountId,
        refId: newId(),
        surface: 'buyer',
        kind: 'prepaid',
        product: found,
        quoteId: null,
        customerNumber,
        price: product.price,
        offerSellerId: sellerId,
        callbackUrl: null,
      }),
    );
    await Promise.all(made.map((each) => post(buildPurchasePosting(each))));
    if (work.withJobs) {
      await Promise.all(made.map((each) => addJobAtProvider(each, sellerId)));
    }
  }
  return noRefunds;
}

async function refund({
  accountId,
  ...how
}: Extract<RefundWork, { seconds: number }>): Promise<RefundResult> {
  const open = await purchases.find({ accountId, status: 'PENDING' }).sort({ createdAt: 1 }).toArray();
  return refundAll(open, how, (purchase: Purchase) =>
    concludeFailure(purchase, null, { code: '02', message: 'Refused by the operator' }),
  );
}

/** Processes the list until it is empty or the time is up. */
export async function refundAll<T>(
  open: T[],
  { seconds, atOnce }: { seconds: number; atOnce: number },
  one: (each: T) => Promise<void>,
): Promise<RefundResult> {
  const startedMs = performance.now();
  let refunded = 0;
  const work = async () => {
    while (performance.now() - startedMs < 1_000 * seconds) {
      const next = open.shift();
      if (next === undefined) {
        return;
      }
      await one(next);
      refunded += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { refunded, perSecond: (1_000 * refunded) / (performance.now() - startedMs) };
}
