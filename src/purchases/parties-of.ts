import type { Purchase } from './purchase.model.js';

/** Ids of the buyers and sellers of purchases: whose names a list of them needs. */
export function getPartyIds(purchases: readonly Purchase[]): string[] {
  return purchases.flatMap(({ accountId, sellerId }) =>
    sellerId === null ? [accountId] : [accountId, sellerId],
  );
}
