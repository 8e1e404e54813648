import { getBusinessDayByName, getBusinessDay, type Period } from '../shared/business-time.js';
import type { Snapshot } from '../database/mongo.js';
import { readTotals } from '../money/totals/read-totals.js';
import { purchases, type PurchaseStatus } from './purchase.model.js';
import { ownerField, quarterMs, type Side } from './purchase-totals.js';

/**
 * Selects the purchases of one account and side at a snapshot. If `statuses` is null, every status
 * matches.
 */
export interface CountedHistory {
  snapshot: Snapshot;
  side: Side;
  accountId: string;
  statuses: readonly PurchaseStatus[] | null;
  period: Period;
}

/**
 * The range from which to read a page, both ends included, and the number of newer rows to skip.
 */
export interface PagePosition {
  since: Date;
  until: Date;
  skip: number;
}

/** A time range, both ends included, and the number of purchases in it. */
interface Span {
  startMs: number;
  endMs: number;
  count: number;
}

/**
 * Maximum number of rows to skip. Skipping that few rows in the index costs no more than a start
 * closer to the page.
 */
const skipMax = 500;

/**
 * Computes the total and the position of a page. The total comes from the daily totals. The
 * position also uses the quarter hours of the first day of the page. Rows are counted only in
 * partial quarter hours at the ends of the period. All reads use the caller's snapshot.
 * @returns `place` is null if the page is after the last one.
 */
export async function findPagePosition(
  wanted: CountedHistory,
  page: { offset: number; limit: number },
): Promise<{ total: number; place: PagePosition | null }> {
  const days = await readDaySpans(wanted);
  const total = sumSpans(days);
  const length = Math.min(page.limit, total - page.offset);
  if (length <= 0) {
    return { total, place: null };
  }
  const [first, ...older] = skipSpans(days, page.offset);
  // With several statuses, the index does not return rows in order of time. The number of rows read
  // must not grow with the day.
  const isMerged = wanted.statuses !== null && wanted.statuses.length > 1;
  const isLong = first && (first.skip > skipMax || (isMerged && first.span.count > skipMax));
  const spans = isLong
    ? skipSpans(
        [...(await readQuarterSpans(wanted, first.span)), ...older.map(({ span }) => span)],
        first.skip,
      )
    : [];
  // The day is short, so no quarter hours were read.
  return {
    total,
    place: getPagePosition(spans.length > 0 ? spans : skipSpans(days, page.offset), wanted, length),
  };
}

/** Returns the range from the first span of the page to its last span. */
function getPagePosition(
  spans: { span: Span; skip: number }[],
  { period }: CountedHistory,
  length: number,
): PagePosition {
  const [first] = spans;
  const skip = first?.skip ?? 0;
  let missing = skip + length;
  const last = spans.find(({ span }) => (missing -= span.count) <= 0);
  return {
    since: last ? new Date(last.span.startMs) : period.start,
    until: first ? new Date(first.span.endMs) : period.end,
    skip,
  };
}

/** Drops the spans before `offset`. Returns the rest, with the rows to skip in the first one. */
function skipSpans(spans: Span[], offset: number): { span: Span; skip: number }[] {
  let skip = offset;
  for (const [index, span] of spans.entries()) {
    if (skip < span.count) {
      return spans.slice(index).map((each, at) => ({ span: each, skip: at === 0 ? skip : 0 }));
    }
    skip -= span.count;
  }
  return [];
}

/**
 * Returns the days of the period, newest first. The first and last day are clipped to the period.
 */
async function readDaySpans(wanted: CountedHistory): Promise<Span[]> {
  const { snapshot, side, accountId, period } = wanted;
  const [first, last] = [getBusinessDay(period.start).day, getBusinessDay(period.end).day];
  const totals = await readTotals(snapshot, { accountId, from: first, to: last, path: `${side}.count` });
  return Promise.all(
    [...totals].map(async ([day, counters]) => {
      const { startMs, endMs } = getBusinessDayByName(day);
      const part = clipToPeriod({ startMs, endMs }, period);
      const isWhole = part.startMs === startMs && part.endMs === endMs;
      const count = isWhole ? sumCounters(counters, wanted) : sumSpans(await readQuarterSpans(wanted, part));
      return { ...part, count };
    }),
  );
}

/** Returns the quarter hours in a part of a day, newest first. */
async function readQuarterSpans(wanted: CountedHistory, part: Omit<Span, 'count'>): Promise<Span[]> {
  const { snapshot, side, accountId } = wanted;
  const { day, startMs } = getBusinessDay(new Date(part.startMs));
  const totals = await readTotals(snapshot, { accountId, from: day, to: day, path: `${side}.quarters` });
  const byQuarter = new Map<number, Map<string, number>>();
  for (const [path, count] of totals.get(day) ?? []) {
    const [quarter = '', status = ''] = path.split('.');
    const counters = byQuarter.get(Number(quarter)) ?? new Map<string, number>();
    byQuarter.set(Number(quarter), counters.set(status, count));
  }
  const period = { start: new Date(part.startMs), end: new Date(part.endMs) };
  return Promise.all(
    [...byQuarter]
      .sort(([a], [b]) => b - a)
      .map(([quarter, counters]) => {
        const firstMs = startMs + quarter * quarterMs;
        const whole = {
          startMs: firstMs,
          endMs: firstMs + quarterMs - 1,
          count: sumCounters(counters, wanted),
        };
        return { whole, rest: clipToPeriod(whole, period) };
      })
      .filter(({ rest }) => rest.startMs <= rest.endMs)
      .map(async ({ whole, rest }) =>
        rest.startMs === whole.startMs && rest.endMs === whole.endMs
          ? whole
          : { ...rest, count: await countRows(wanted, rest) },
      ),
  );
}

function sumCounters(counters: Map<string, number>, { statuses }: CountedHistory): number {
  return (statuses ?? [...counters.keys()]).reduce((sum, each) => sum + (counters.get(each) ?? 0), 0);
}

function sumSpans(spans: Span[]): number {
  return spans.reduce((sum, each) => sum + each.count, 0);
}

function clipToPeriod({ startMs, endMs }: Omit<Span, 'count'>, period: Period): Omit<Span, 'count'> {
  return {
    startMs: Math.max(startMs, period.start.getTime()),
    endMs: Math.min(endMs, period.end.getTime()),
  };
}

async function countRows(
  { snapshot, side, accountId, statuses }: CountedHistory,
  span: Omit<Span, 'count'>,
): Promise<number> {
  const filter = {
    [ownerField[side]]: accountId,
    ...(statuses && { status: { $in: [...statuses] } }),
    createdAt: { $gte: new Date(span.startMs), $lte: new Date(span.endMs) },
  };
  return purchases.countDocuments(filter, { ...snapshot });
}
