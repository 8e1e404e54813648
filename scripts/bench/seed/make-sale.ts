import { computePlatformShare, getSellerPrice } from '../../../src/money/commission.js';
import type { Order } from '../../../src/purchases/order.model.js';
import { buildPurchase } from '../../../src/purchases/accept/new-purchase.js';
import type { Purchase, PurchaseStatus } from '../../../src/purchases/purchase.model.js';
import type { Chance } from './chance.js';
import type { Goods, People } from './people.js';

/**
 * Outcome of a purchase. `review` waits for an operator. For `unasked`, no provider was available.
 */
export type Fate = 'success' | 'failed' | 'reversed' | 'review' | 'open' | 'unasked';

export interface Sale {
  purchase: Purchase;
  /** The last order is the current one. */
  orders: Order[];
  atMs: number;
  /** Time of success or failure. For a reversed purchase, the time of its success. */
  endMs: number;
}

const commissionRate = 0.02;
const markup = 100;
const shares = { largestBuyer: 0.2, largestSeller: 0.4, markedUp: 0.1, secondOrder: 0.02 };
const statusOf: Record<Fate, PurchaseStatus> = {
  success: 'SUCCESS',
  failed: 'FAILED',
  reversed: 'REFUNDED',
  review: 'PROCESSING',
  open: 'PROCESSING',
  unasked: 'FAILED',
};

export function makeSale(
  { index, atMs, fate }: { index: number; atMs: number; fate: Fate },
  people: People,
  chance: Chance,
): Sale {
  const { product, offers } = chance.of(people.goods);
  const endMs = atMs + 300 + Math.floor(25_000 * chance.next() ** 4);
  const buyer = buyerOf(people, chance);
  const offer = offerOf(offers, chance);
  const isMarkedUp = chance.next() < shares.markedUp;
  const price = offer.price + (isMarkedUp ? markup : 0);
  const accepted = {
    ...buildPurchase({
      accountId: buyer.id,
      refId: `ref-${index}`,
      surface: 'buyer',
      kind: 'prepaid',
      product,
      customerNumber: `0812${String(chance.below(100_000_000)).padStart(8, '0')}`,
      callbackUrl: null,
      price,
      offerSellerId: offer.sellerId,
      quoteId: null,
      ...(isMarkedUp && { markup }),
    }),
    _id: chance.idAt(atMs),
    createdAt: new Date(atMs),
  };
  const hasTwo = fate !== 'unasked' && chance.next() < shares.secondOrder;
  const served = hasTwo ? (offers.find((each) => each.price <= offer.price) ?? offer) : offer;
  const sent = fate === 'unasked' ? [] : hasTwo ? [offer.sellerId, served.sellerId] : [offer.sellerId];
  const orders = sent.map((sellerId, place) =>
    orderOf(accepted, { sellerId, n: place + 1, isLast: place === sent.length - 1, fate, endMs }),
  );
  return { purchase: endPurchase(fate, accepted, { orders, endMs, index }), orders, atMs, endMs };
}

function buyerOf({ buyers }: People, chance: Chance) {
  const others = buyers.length - 1;
  const place = chance.next() < shares.largestBuyer ? 0 : 1 + Math.floor(others * chance.next() ** 3);
  return buyers[place] ?? chance.of(buyers);
}

function offerOf(offers: Goods['offers'], chance: Chance) {
  const [first, ...others] = offers;
  return first && chance.next() < shares.largestSeller ? first : chance.of(others);
}

function endPurchase(
  fate: Fate,
  accepted: Purchase,
  { orders, endMs, index }: { orders: Order[]; endMs: number; index: number },
): Purchase {
  const isSold = fate === 'success' || fate === 'reversed';
  const isOpen = fate === 'open' || fate === 'review';
  const concluded = fate === 'reversed' ? 2 : isOpen ? 0 : 1;
  const endedAt = new Date(endMs + (fate === 'reversed' ? 60_000 : 0));
  return {
    ...accepted,
    status: statusOf[fate],
    version: orders.length + concluded,
    sellerId: orders.at(-1)?.sellerId ?? null,
    serialNumber: isSold ? serialOf(index) : null,
    message: isOpen ? null : isSold ? 'Success' : 'Refused by the provider',
    failureCode: isOpen || isSold ? null : '41',
    commissionAmount: isSold ? computePlatformShare(accepted, commissionRate) : null,
    nextActionAt: fate === 'open' ? new Date(Date.now() + 3_600_000) : null,
    queuedFor: null,
    reviewSince: fate === 'review' ? endedAt : null,
    ...(fate === 'review' && { reviewReason: 'The provider does not report the outcome' }),
    pendingNotified: true,
    updatedAt: endedAt,
    finalAt: isOpen ? null : endedAt,
  };
}

export function serialOf(index: number): string {
  return `SN${String(index * 7_919).padStart(12, '0')}`;
}

function orderOf(
  purchase: Purchase,
  {
    sellerId,
    n,
    isLast,
    fate,
    endMs,
  }: { sellerId: string; n: number; isLast: boolean; fate: Fate; endMs: number },
): Order {
  const isOpen = isLast && (fate === 'open' || fate === 'review');
  const isBought = isLast && (fate === 'success' || fate === 'reversed');
  const serialNumber = isBought ? serialOf(Number(purchase.refId.slice('ref-'.length))) : null;
  return {
    _id: `${purchase._id}-${n}`,
    accountId: purchase.accountId,
    transactionId: purchase._id,
    n,
    sellerId,
    offerPrice: getSellerPrice(purchase),
    commissionRate,
    providerKind: 'simulator',
    providerBaseUrl: null,
    providerUsername: 'bench',
    status: isOpen ? 'UNKNOWN' : isBought ? 'OK' : 'REJECTED',
    open: isOpen,
    leaseToken: null,
    leaseUntil: null,
    sentAt: purchase.createdAt,
    checks: isOpen ? 3 : 0,
    notFound: 0,
    lastCheckAt: null,
    code: isBought ? '00' : '41',
    message: isBought ? 'Success' : isOpen ? 'Pending' : 'Refused',
    serialNumber,
    createdAt: purchase.createdAt,
    updatedAt: new Date(endMs),
  };
}
