import { readBusinessDays, type BusinessDays, type DaySales } from '../../purchases/purchase-figures.js';
import type { PurchaseStatus } from '../../purchases/purchase.model.js';
import { readDurationsByHour } from '../../purchases/purchase-metrics.js';
import { quarterMs } from '../../purchases/purchase-totals.js';
import { getBusinessDayByName, getBusinessDay } from '../../shared/business-time.js';
import { countOrdersSent, readProviderHistories } from '../../providers/provider-metrics.js';
import { getRoutingSellers } from '../../providers/routing-cache.js';
import { readAttemptFigures } from '../../webhooks/deliver/delivery-metrics.js';
import { presentStep } from '../providers/get-provider.js';
import { findLastClosedDay } from '../../money/closes/day-closes.js';
import { nowMs } from '../../shared/clock.js';
import { lookUp } from '../../shared/collections.js';
import { memoizeFor } from '../../shared/memoize.js';

const hourMs = 3_600_000;
const hoursShown = 24;
const providersShown = 20;
const sellersRead = 60;
const plottedMax = 8;
const cachedMs = 5_000;
/**
 * Recomputed rarely: the ranking changes slowly, and it needs the order counters of all providers.
 */
const rankedEveryMs = 60_000;

/** Returns the figures and plots of the day. The result is cached for 5 s. */
export const getTodayFigures = memoizeFor(cachedMs, async () => {
  const atMs = nowMs();
  const hours = listHoursUntil(atMs);
  const span = { sinceMs: hours[0] ?? atMs, untilMs: atMs };
  const [days, latency, before, providers, deliveries, closed] = await Promise.all([
    readBusinessDays(),
    readDurationsByHour(hours),
    readDurationsByHour(hours.map((fromMs) => fromMs - hoursShown * hourMs)),
    readProvidersByHour(span),
    readDeliveriesByHour(span),
    findLastClosedDay(),
  ]);
  return {
    at: new Date(atMs).toISOString(),
    day: days.today,
    is_whole: days.isWhole,
    today: sumFigures(days.recent.filter(({ day }) => day === days.today)),
    yesterday: sumFigures(days.recent.filter(({ day }) => day === days.yesterday)),
    latency: { ...latency.all, before: before.all },
    suspense_closed: closed && {
      day: closed._id,
      amount: lookUp(closed.content.totals, 'platform:suspense') ?? 0,
    },
    hours: sumVolumeByHour(days, hours).map((each) => ({
      ...each,
      latency: latency.of(Date.parse(each.from)),
    })),
    days: sumSalesByDay(days),
    providers: sumByProvider(days),
    plotted: providers,
    deliveries,
  };
});

/**
 * Finds the providers with the most orders in the last 24 hours, busiest first, at most
 * `plottedMax`.
 */
const findBusiestSellers = memoizeFor(rankedEveryMs, async () => {
  const untilMs = nowMs();
  const sellers = [...(await getRoutingSellers()).values()].filter(({ provider }) => provider !== null);
  const asked = sellers.slice(0, sellersRead);
  const orders = await countOrdersSent(
    asked.map(({ _id }) => _id),
    { sinceMs: untilMs - hoursShown * hourMs, untilMs },
  );
  return asked.sort((a, b) => (orders.get(b._id) ?? 0) - (orders.get(a._id) ?? 0)).slice(0, plottedMax);
});

async function readProvidersByHour(span: { sinceMs: number; untilMs: number }) {
  const plotted = await findBusiestSellers();
  const found = await readProviderHistories(
    plotted.map(({ _id }) => _id),
    span,
    hourMs,
  );
  return plotted.map(({ _id, username }) => ({
    seller: username,
    steps: (found.get(_id)?.steps ?? []).map(presentStep),
  }));
}

async function readDeliveriesByHour(span: { sinceMs: number; untilMs: number }) {
  const byHour = new Map<number, { from: string; delivered: number; failed: number }>();
  for (const { fromMs, delivered, failed } of await readAttemptFigures(span)) {
    const hour = span.sinceMs + Math.floor((fromMs - span.sinceMs) / hourMs) * hourMs;
    const before = byHour.get(hour) ?? { from: new Date(hour).toISOString(), delivered: 0, failed: 0 };
    byHour.set(hour, {
      ...before,
      delivered: before.delivered + delivered,
      failed: before.failed + failed,
    });
  }
  return [...byHour.values()];
}

/** Lists the start of each of the last 24 hours, including the current one, in business time. */
function listHoursUntil(atMs: number): number[] {
  const { startMs } = getBusinessDay(new Date(atMs));
  const current = startMs + Math.floor((atMs - startMs) / hourMs) * hourMs;
  return Array.from({ length: hoursShown }, (_, n) => current - (hoursShown - 1 - n) * hourMs);
}

interface Figures {
  purchases: number;
  success: number;
  failed: number;
  refunded: number;
  open: number;
  /** Share of final purchases that succeeded. Null if none is final. */
  success_rate: number | null;
  /** Sum of the prices of successful purchases that were not reversed, in rupiah. */
  sales: number;
  /** The platform's part of `sales`, in rupiah. */
  commission: number;
}

function sumFigures(sold: readonly DaySales[]): Figures {
  const sum = (path: string) => sold.reduce((all, { counters }) => all + (counters.get(path) ?? 0), 0);
  const count = (status: PurchaseStatus) => sum(`count.${status}`);
  const [success, failed, refunded] = [count('SUCCESS'), count('FAILED'), count('REFUNDED')];
  const open = count('PENDING') + count('PROCESSING');
  const ended = success + failed + refunded;
  return {
    purchases: ended + open,
    success,
    failed,
    refunded,
    open,
    success_rate: ended === 0 ? null : success / ended,
    sales: sum('amount.SUCCESS'),
    commission: sum('commission'),
  };
}

/**
 * Counts purchases by hour. Totals count quarter hours from the start of the day. In every time
 * zone a day starts on a quarter hour, so each hour consists of whole quarter hours.
 */
function sumVolumeByHour({ recent }: BusinessDays, hours: readonly number[]) {
  const volumes = hours.map((fromMs) => ({
    from: new Date(fromMs).toISOString(),
    success: 0,
    failed: 0,
    refunded: 0,
    open: 0,
  }));
  const first = hours[0] ?? 0;
  for (const { day, counters } of recent) {
    const { startMs } = getBusinessDayByName(day);
    for (const [path, count] of counters) {
      const [, quarter, status] = /^quarters\.(\d+)\.(\w+)$/.exec(path) ?? [];
      const volume = volumes[Math.floor((startMs + Number(quarter) * quarterMs - first) / hourMs)];
      if (status !== undefined && volume) {
        volume[getSeries(status as PurchaseStatus)] += count;
      }
    }
  }
  return volumes;
}

function getSeries(status: PurchaseStatus): 'success' | 'failed' | 'refunded' | 'open' {
  switch (status) {
    case 'SUCCESS':
      return 'success';
    case 'FAILED':
      return 'failed';
    case 'REFUNDED':
      return 'refunded';
    case 'PENDING':
    case 'PROCESSING':
      return 'open';
  }
}

function sumSalesByDay({ older, recent, today, yesterday, olderDays }: BusinessDays) {
  const all = [...older, ...recent];
  return [...olderDays, yesterday, today].map((day) => {
    return { day, ...sumFigures(all.filter((each) => each.day === day)) };
  });
}

/** Figures of today by seller, most purchases first. */
function sumByProvider({ recent, today, sellers }: BusinessDays) {
  return recent
    .filter(({ day, sellerId }) => day === today && sellerId !== null)
    .map((sold) => ({ seller: sellers.get(sold.sellerId ?? '') ?? '', ...sumFigures([sold]) }))
    .filter(({ purchases }) => purchases > 0)
    .sort((a, b) => b.purchases - a.purchases)
    .slice(0, providersShown);
}
