/** Commission in rupiah on a price, rounded half up. The rate is a fraction with at most 6 decimals. */
export function computeCommission(price: number, rate: number): number {
  const millionths = BigInt(Math.round(rate * 1_000_000));
  return Number((BigInt(price) * millionths + 500_000n) / 1_000_000n);
}

/** Rupiah that were debited, and what of them is above the seller's price; absent: nothing. */
export interface MarkedUpPrice {
  price: number;
  markup?: number | null;
}

/** What the seller asked: its share is reckoned from it, as if no markup stood. */
export function getSellerPrice({ price, markup }: MarkedUpPrice): number {
  return price - (markup ?? 0);
}

/** What the platform keeps of a sale: its commission on the seller's price, and the whole markup. */
export function computePlatformShare(sold: MarkedUpPrice, rate: number): number {
  return computeCommission(getSellerPrice(sold), rate) + (sold.markup ?? 0);
}
