import { defineScheduledJob } from '../jobs/sweep-job.js';
import { env } from '../../config/env.js';
import { AccountModel, type Account } from '../accounts/account.model.js';
import { getSku, OfferModel, type Offer } from '../products/offer.model.js';
import { now } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { takeKey } from '../redis/bounded-times.js';
import type { ProviderProduct } from './adapter.js';
import { getAdapter, buildConnection } from './get-adapter.js';
import { judgePriceList, type PriceListSize } from './judge-price-list.js';
import { storeFloat } from './provider-float.js';
import { ProviderStateModel, type PriceListState, type ProviderState } from './provider-state.model.js';
import { removeEmptyQueues } from './provider-queue.js';
import { indexByCode } from './stream-rows.js';

/** Reads our balance and price list of each provider when they are due. */
export const refreshProvidersJob = defineScheduledJob('refresh-providers', 20_000);

type Seller = Pick<Account, '_id' | 'provider'>;

const floatEveryMs = 60_000;
/**
 * Interval in milliseconds. Digiflazz allows one request every 5 minutes and refuses more frequent
 * ones.
 */
const priceListEveryMs = 310_000;
/** Kinds whose price list states every product. IAK documents no limit of its own. */
const priceListKinds = new Set<string | undefined>(['digiflazz', 'iak']);
/**
 * If more products than this changed, invalidating the whole cache is cheaper than naming each
 * product.
 */
const subjectsMax = 100;

/**
 * Reads our balance at every provider, and the price lists of Digiflazz and IAK, when they are due.
 * Each process runs this function in its sweep. Redis lets one process run each task.
 */
export async function refreshProviders(): Promise<void> {
  await removeEmptyQueues();
  const sellers = await AccountModel.find({ role: 'seller', status: 'active' }, { provider: 1 }).lean<
    Seller[]
  >();
  for (const seller of sellers.filter(({ provider }) => provider !== null)) {
    try {
      if (await takeTurn(`float:${seller._id}`, floatEveryMs)) {
        await refreshFloat(seller);
      }
      if (
        priceListKinds.has(seller.provider?.kind) &&
        (await takeTurn(`prices:${seller._id}`, priceListEveryMs))
      ) {
        await syncPriceList(seller);
      }
    } catch (error) {
      // A provider with wrong settings must not stop the others.
      logger.warn('provider not refreshed', { sellerId: seller._id, error });
    }
  }
}

/**
 * Reads and stores our balance at a seller's provider.
 * @returns The balance in rupiah. Null if the provider did not report it.
 */
export async function refreshFloat(seller: Seller): Promise<number | null> {
  return (await readFloatWithLatency(seller)).amount;
}

/**
 * Like `refreshFloat`. Also returns the latency, and the reason if the provider did not report the
 * balance.
 */
export async function readFloatWithLatency(
  seller: Seller,
): Promise<{ amount: number | null; durationMs: number; problem: string | null }> {
  const startedMs = performance.now();
  const reading = await getAdapter(getProviderKind(seller)).balance(buildConnection(seller));
  const durationMs = performance.now() - startedMs;
  if (!reading.ok) {
    logger.warn('provider did not report the balance', { sellerId: seller._id, code: reading.code });
    return { amount: null, durationMs, problem: `${reading.code}: ${reading.message}` };
  }
  await storeFloat(seller._id, reading.value);
  return { amount: reading.value, durationMs, problem: null };
}

/**
 * Stores the provider's price list in the seller's offers: cost, availability and cut-off window.
 * Offers that are not in the list become unavailable. The seller's price and status stay, and so
 * does everything about an offer whose row cannot be read.
 * @returns The number of offers in the list. Null if the list could not be read or is not believed
 *   yet; no offer was changed.
 */
export async function syncPriceList(seller: Seller): Promise<number | null> {
  const sellerId = seller._id;
  const offers = await OfferModel.find(
    { sellerId },
    { productCode: 1, sku: 1, price: 1, cost: 1, providerAvailable: 1 },
  ).lean<Offer[]>();
  const offered = new Set(offers.map(getSku));
  let rows = 0;
  const reading = await getAdapter(getProviderKind(seller)).priceList(buildConnection(seller), (code) => {
    rows += 1;
    return offered.has(code);
  });
  if (!reading.ok) {
    logger.warn('provider price list not read', { sellerId, code: reading.code });
    return null;
  }
  const unread = new Set(reading.unreadable?.codes);
  if (reading.unreadable && reading.unreadable.rows > 0) {
    const { rows: unreadableRows, codes } = reading.unreadable;
    logger.warn('provider price list has unreadable rows', {
      sellerId,
      unreadableRows,
      codes: codes.slice(0, 10),
    });
  }
  const rowOf = indexByCode(reading.value);
  const listed = offers.filter((offer) => rowOf.has(getSku(offer)) || unread.has(getSku(offer))).length;
  const listedBefore = offers.filter(wasListed).length;
  const { state, isBelieved } = await judge(sellerId, { rows, listed, listedBefore });
  if (isBelieved) {
    await writeOffers(
      offers.filter((offer) => !unread.has(getSku(offer))),
      rowOf,
    );
  }
  await storePriceListState(sellerId, state);
  return isBelieved ? listed : null;
}

/** An import may have set the cost since, so the count is an upper bound. */
function wasListed({ providerAvailable, cost }: Offer): boolean {
  return typeof providerAvailable === 'boolean' && typeof cost === 'number';
}

async function judge(
  sellerId: string,
  size: PriceListSize,
): Promise<{ state: { before: PriceListState; after: PriceListState }; isBelieved: boolean }> {
  const stored = await ProviderStateModel.findById(sellerId).lean<ProviderState>();
  const before = stored?.priceList ?? { rows: null, doubt: null };
  const { isBelieved, doubt } = judgePriceList(size, before, now());
  if (!isBelieved) {
    logger.error('provider price list is much smaller and not believed yet', {
      sellerId,
      ...size,
      rowsBefore: before.rows,
      since: doubt?.since,
    });
  }
  return { isBelieved, state: { before, after: { rows: isBelieved ? size.rows : before.rows, doubt } } };
}

async function storePriceListState(
  sellerId: string,
  { before, after }: { before: PriceListState; after: PriceListState },
): Promise<void> {
  if (before.rows === after.rows && before.doubt === null && after.doubt === null) {
    return;
  }
  await writeAndInvalidate([ProviderStateModel], [sellerId], (states) =>
    states.updateOne(
      { _id: sellerId },
      { $set: { priceList: after }, $setOnInsert: { paused: null, floatAmount: null, floatAt: null } },
      { upsert: true },
    ),
  );
}

async function writeOffers(offers: Offer[], rowOf: Map<string, ProviderProduct>): Promise<void> {
  if (offers.length === 0) {
    return;
  }
  const codes = offers.map(({ productCode }) => productCode);
  await writeAndInvalidate([OfferModel], codes.length > subjectsMax ? null : codes, (writer) =>
    writer.bulkWrite(
      offers.map((offer) => ({
        updateOne: {
          // Not if the offer has another code by now.
          filter: { _id: offer._id, sku: offer.sku ?? null },
          update: getOfferUpdate(rowOf.get(getSku(offer)), offer),
        },
      })),
      { ordered: false },
    ),
  );
}

function getOfferUpdate(row: ProviderProduct | undefined, { price }: Offer) {
  if (!row) {
    return { $set: { providerAvailable: false, cost: null, cutOff: null } };
  }
  return {
    $set: { providerAvailable: row.available, cost: row.cost, cutOff: row.cutOff },
    // The reason for selling below cost is over.
    ...(row.cost <= price && { $unset: { costAllowed: 1 as const } }),
  };
}

function getProviderKind(seller: Seller) {
  if (!seller.provider) {
    throw new Error(`Seller ${seller._id} has no provider`);
  }
  return seller.provider.kind;
}

function takeTurn(task: string, everyMs: number): Promise<boolean> {
  return takeKey(`${env.QUEUE_PREFIX}:refresh:${task}`, '1', everyMs);
}
