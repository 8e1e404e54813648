import type { Filter } from 'mongodb';
import type { Snapshot } from '../../database/mongo.js';
import { dailyTotals, type DailyTotals } from './daily-totals.model.js';

const pageSize = 2_000;

/** Of ids. */
interface Range {
  $gte: string;
  $lt: string;
}

type Row = Pick<DailyTotals, '_id' | 'accountId' | 'day' | 'slot' | 'counters' | 'version'>;

/**
 * The documents of totals within these ranges of ids, in the order of their ids, at the moment of the caller's snapshot.
 *
 * The driver sends a read concern with each getMore of a snapshot session, which MongoDB refuses: a query for each page. A
 * page ends at 16 MB also, so that a short one is not the last.
 * @param paths Which of the counters, by how their paths begin; null: all.
 */
export async function* readTotalsRows(
  snapshot: Snapshot,
  ranges: readonly Range[],
  paths: readonly string[] | null,
): AsyncGenerator<Row> {
  const options = { ...snapshot, singleBatch: true, limit: pageSize, batchSize: pageSize };
  const projection = paths && {
    accountId: 1,
    day: 1,
    slot: 1,
    version: 1,
    ...Object.fromEntries(paths.map((path) => [`counters.${path}`, 1])),
  };
  for (let left = [...ranges]; left.length > 0;) {
    const page = await dailyTotals
      .find(buildRangeFilter(left), options)
      .project<Omit<Row, 'counters'> & Partial<Row>>(projection ?? {})
      .sort({ _id: 1 })
      .toArray();
    for (const row of page) {
      yield { ...row, counters: row.counters ?? {} };
    }
    const last = page.at(-1);
    if (!last) {
      return;
    }
    // The next text in the order of ids. Ranges that were read are left out.
    const next = `${last._id}\0`;
    left = left
      .filter(({ $lt }) => $lt > next)
      .map(({ $gte, $lt }) => ({ $gte: $gte > next ? $gte : next, $lt }));
  }
}

/** One range alone is the plainest query. MongoDB merges several of one index in its order. */
function buildRangeFilter(ranges: readonly Range[]): Filter<DailyTotals> {
  const filters = ranges.map((_id) => ({ _id }));
  return filters.length === 1 ? { ...filters[0] } : { $or: filters };
}
