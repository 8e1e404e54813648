/** Commission in rupiah on a price, rounded half up. The rate is a fraction with at most 6 decimals. */
export function commissionOf(price: number, rate: number): number {
  const millionths = BigInt(Math.round(rate * 1_000_000));
  return Number((BigInt(price) * millionths + 500_000n) / 1_000_000n);
}
