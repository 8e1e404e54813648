import { getBusinessDay } from '../shared/business-time.js';
import { addToCounters, toPathStep, type Counters, type TotalsChange } from '../money/totals/counters.js';
import type { Purchase } from './purchase.model.js';

/** `bought` is the buyer's history. `sold` is the history of the seller that was tried last. */
export type Side = 'bought' | 'sold';
export const sides: readonly Side[] = ['bought', 'sold'];

/** The purchase field that holds the account of each side. */
export const ownerField = { bought: 'accountId', sold: 'sellerId' } as const;

/**
 * The purchase fields that the totals depend on. Only status, seller and commission ever change.
 */
export type CountedPurchase = Pick<
  Purchase,
  | 'accountId'
  | 'sellerId'
  | 'status'
  | 'price'
  | 'commissionAmount'
  | 'productCode'
  | 'subcategory'
  | 'createdAt'
>;

/**
 * Length of a quarter hour in milliseconds. A day has 96 quarters, or 100 if it is an hour longer.
 * The first quarter is 0.
 */
export const quarterMs = 900_000;

/**
 * Returns the changes of the daily totals of the buyer and the seller
 * (docs/explanation/ledger.md#daily-totals). On the day on which the purchase was created, they
 * subtract the counters of `before` and add those of `after`.
 * @param before The stored purchase, which the posting must expect. Null for a new purchase.
 */
export function buildTotalsChanges(before: CountedPurchase | null, after: CountedPurchase): TotalsChange[] {
  const { day } = getBusinessDay(after.createdAt);
  const byAccount = new Map<string, Counters>();
  for (const side of sides) {
    const add = (purchase: CountedPurchase, sign: 1 | -1) => {
      const accountId = purchase[ownerField[side]];
      if (accountId !== null) {
        const counters = byAccount.get(accountId) ?? new Map<string, number>();
        byAccount.set(accountId, counters);
        addToCounters(counters, getCounters(purchase, side), sign);
      }
    };
    if (before) {
      add(before, -1);
    }
    add(after, 1);
  }
  return [...byAccount]
    .filter(([, counters]) => counters.size > 0)
    .map(([accountId, counters]) => ({ accountId, day, add: counters }));
}

/** Returns the counters of one purchase: counts, and amounts in rupiah. */
export function getCounters(purchase: CountedPurchase, side: Side): [path: string, add: number][] {
  const { status, price, createdAt } = purchase;
  const quarter = Math.floor((createdAt.getTime() - getBusinessDay(createdAt).startMs) / quarterMs);
  const always: [string, number][] = [
    [`${side}.count.${status}`, 1],
    [`${side}.amount.${status}`, price],
    [`${side}.quarters.${quarter}.${status}`, 1],
  ];
  if (status !== 'SUCCESS') {
    return always;
  }
  const product = `${side}.products.${toPathStep(purchase.productCode)}`;
  const category = `${side}.categories.${toPathStep(purchase.subcategory)}`;
  return [
    ...always,
    [`${side}.commission`, purchase.commissionAmount ?? 0],
    [`${product}.count`, 1],
    [`${product}.amount`, price],
    [`${category}.count`, 1],
    [`${category}.amount`, price],
  ];
}
