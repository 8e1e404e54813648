import { getBusinessDay } from '../shared/business-time.js';
import { addToCounters, toPathStep, type Counters, type TotalsChange } from '../money/totals/counters.js';
import type { Purchase } from './purchase.model.js';

/** Whose history a purchase is in: the buyer's from the beginning, and that of the seller that was asked last. */
export type Side = 'bought' | 'sold';
export const sides: readonly Side[] = ['bought', 'sold'];

/** The field that says whose a purchase is. */
export const ownerField = { bought: 'accountId', sold: 'sellerId' } as const;

/** All that the totals know of a purchase. Of these only status, seller and commission ever change. */
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

/** A day has 96 of these, and one that is an hour longer 100. The first is 0. */
export const quarterMs = 900_000;

/**
 * What a change of a purchase adds to the daily totals of its buyer and its seller (docs/explanation/ledger.md#daily-totals): it
 * leaves the counters that it was in and comes into those of what it is now, on the day it was created.
 * @param before As it is stored, which the posting has to expect; null: it is new.
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

/** The counters that one purchase is in. Counts, and rupiah. */
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
