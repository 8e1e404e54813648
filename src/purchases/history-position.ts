import { getBusinessDayByName, getBusinessDay, type Period } from '../shared/business-time.js';
import type { Snapshot } from '../database/mongo.js';
import { readTotals } from '../money/totals/read-totals.js';
import { purchases, type PurchaseStatus } from './purchase.model.js';
import { ownerField, quarterMs, type Side } from './purchase-totals.js';

/** Whose purchases, of which statuses (null: all), when, and at which moment. */
export interface CountedHistory {
  snapshot: Snapshot;
  side: Side;
  accountId: string;
  statuses: readonly PurchaseStatus[] | null;
  period: Period;
}

/** Where to read a page: it is between these, both included, with so many newer ones before it. */
export interface PagePosition {
  since: Date;
  until: Date;
  skip: number;
}

/** Some time, both ends included, and the purchases in it. */
interface Span {
  startMs: number;
  endMs: number;
  count: number;
}

/** Passing over so many in the index costs no more than to look for a better place to begin. */
const skipMax = 500;

/**
 * How many purchases there are, and where a page of them is: by the totals of days, then of the quarters of the one
 * day in which it begins. Only the broken quarters at the ends of the period are counted. All of it is of the moment
 * of the caller's snapshot.
 * @returns `place`: null if the page is past the last.
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
  // Rows of several statuses are not in one order in the index: how many are read must not depend on the day either.
  const isMerged = wanted.statuses !== null && wanted.statuses.length > 1;
  const isLong = first && (first.skip > skipMax || (isMerged && first.span.count > skipMax));
  const spans = isLong
    ? skipSpans(
        [...(await readQuarterSpans(wanted, first.span)), ...older.map(({ span }) => span)],
        first.skip,
      )
    : [];
  // Without quarters: the day is short.
  return {
    total,
    place: getPagePosition(spans.length > 0 ? spans : skipSpans(days, page.offset), wanted, length),
  };
}

/** From the first of these spans, which the page begins in, to the one that it ends in. */
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

/** The spans, of some that follow each other, from the one that has the purchase with `offset` before it. */
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

/** Newest first. Of the days at the ends only what the period has of them. */
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

/** The quarters of a part of a day, newest first. */
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
