/**
 * A numbered page of which one row more was asked for, and how many rows there are. What is written between count and reading moves
 * the last row behind the end that was counted, and whoever reads page by page would never see it: there are no fewer than were seen.
 */
export function buildCountedPage<Row>(
  found: Row[],
  { offset, limit, counted }: { offset: number; limit: number; counted: number },
): { rows: Row[]; total: number } {
  return {
    rows: found.slice(0, limit),
    total: found.length === 0 ? counted : Math.max(counted, offset + found.length),
  };
}
