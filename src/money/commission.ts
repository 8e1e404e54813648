/**
 * Returns the commission on a price in rupiah, rounded half up. The rate is a fraction with at most
 * 6 decimals.
 */
export function computeCommission(price: number, rate: number): number {
  const millionths = BigInt(Math.round(rate * 1_000_000));
  return Number((BigInt(price) * millionths + 500_000n) / 1_000_000n);
}

/** The debited price, and the markup that it contains, in rupiah. The markup is 0 if absent. */
export interface MarkedUpPrice {
  price: number;
  markup?: number | null;
}

/**
 * Returns the seller's price in rupiah, which is the price without the markup. The seller's share
 * is computed from it.
 */
export function getSellerPrice({ price, markup }: MarkedUpPrice): number {
  return price - (markup ?? 0);
}

/**
 * Returns the platform's share of a sale in rupiah: the commission on the seller's price, plus the
 * markup.
 */
export function computePlatformShare(sold: MarkedUpPrice, rate: number): number {
  return computeCommission(getSellerPrice(sold), rate) + (sold.markup ?? 0);
}
