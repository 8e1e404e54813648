import type { PriceListDoubt, PriceListState } from './provider-state.model.js';

/**
 * A list with less than half of the rows is believed after it had the same size for this long, in
 * at least `readsMin` consecutive reads (docs/explanation/routing.md#price-lists).
 */
export const doubtMs = 3_600_000;
const readsMin = 3;
/** With fewer offers, the provider may well drop more than half of them. */
const listedMin = 10;

export interface PriceListSize {
  /** All rows of the list. */
  rows: number;
  /** The seller's offers in the list. */
  listed: number;
  /** The seller's offers in the last believed list. */
  listedBefore: number;
}

/**
 * Decides whether a price list is believed. A provider's fault may empty its list, and every offer
 * that is not listed is closed.
 */
export function judgePriceList(
  { rows, listed, listedBefore }: PriceListSize,
  { rows: rowsBefore, doubt }: PriceListState,
  at: Date,
): { isBelieved: boolean; doubt: PriceListDoubt | null } {
  const isMuchSmaller =
    rows === 0 ||
    (rowsBefore !== null && 2 * rows < rowsBefore) ||
    (listedBefore >= listedMin && 2 * listed < listedBefore);
  if (!isMuchSmaller) {
    return { isBelieved: true, doubt: null };
  }
  const isSame = doubt?.rows === rows && doubt.listed === listed;
  const next = isSame ? { ...doubt, reads: doubt.reads + 1 } : { rows, listed, since: at, reads: 1 };
  const isBelieved = next.reads >= readsMin && at.getTime() - next.since.getTime() >= doubtMs;
  return { isBelieved, doubt: isBelieved ? null : next };
}
