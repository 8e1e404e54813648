/** How a price follows from a cost: `cost × (1 + percent / 100) + amount`, rounded up. */
export interface MarginRule {
  /** Per cent of the cost, in steps of 0.01. */
  percent: number;
  /** In rupiah. */
  amount: number;
  /** The price is rounded up to a multiple of this many rupiah. */
  roundTo: number;
}

export const roundings = [1, 50, 100, 500, 1_000] as const;

/** Returns the price in rupiah for a cost in rupiah. Computed in integers, so it is exact. */
export function computePrice(cost: number, { percent, amount, roundTo }: MarginRule): number {
  const hundredths = BigInt(Math.round(percent * 100));
  const whole = BigInt(cost) * (10_000n + hundredths) + BigInt(amount) * 10_000n;
  const step = BigInt(roundTo) * 10_000n;
  return Number(((whole + step - 1n) / step) * BigInt(roundTo));
}
