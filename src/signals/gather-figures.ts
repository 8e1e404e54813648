import { env } from '../../config/env.js';
import { countAttention, countBacklog } from '../doctor/attention.js';
import { withSnapshot } from '../database/mongo.js';
import { doesProcessWork } from '../doctor/diagnose-processes.js';
import { getHangingMs, isQueueStuck } from '../doctor/diagnose-work.js';
import { listClockRuns } from '../jobs/clock-run.model.js';
import { inspectQueue } from '../jobs/inspect-queue.js';
import type { Queue } from '../jobs/define-job.js';
import { findLastClosedDay } from '../money/closes/day-closes.js';
import { sellerCredits } from '../money/credits/seller-credit.model.js';
import { wallets } from '../money/wallets/wallet.model.js';
import { findJobByName, findCurrentQueues } from '../processes.js';
import { readBacklogs } from '../providers/backlog.js';
import { countCallsInFlight, readCircuits } from '../providers/circuit.js';
import { countOffersBelowCost } from '../providers/count-below-cost.js';
import { getFloatLeftMs, readTodaysFloatBurnRates } from '../providers/provider-float.js';
import { getRoutingSellers, type RoutingSeller } from '../providers/routing-cache.js';
import { sumOpenPurchases } from '../purchases/purchase-figures.js';
import { findLastVerification } from '../reconciliation/ledger/run-verification.js';
import { hasUnacceptedDifferences } from '../reconciliation/provider-reconciliation.model.js';
import { findLastByProvider } from '../reconciliation/reconcile-due.js';
import { readClockStep } from '../redis/clock-step.js';
import { listRedisServers } from '../redis/connection.js';
import { describeProcesses, type DescribedProcess } from '../redis/presence.js';
import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { groupBy, lookUp } from '../shared/collections.js';
import { memoizeFor } from '../shared/memoize.js';
import type { Incident } from '../shared/incident-counts.js';
import { countBlockedReceivers, countDueDeliveries } from '../webhooks/deliver/stored-deliveries.js';
import { buildFigure, type Figure, type Figures } from './figures.js';

const lateMs = 60_000;
/** Maximum number of documents read. A higher number would not change what an operator does. */
const readMax = 5_000;
const countMax = 1_000;
/** The burn rate is computed from floats, which are recorded every five minutes. */
const floatEndsEveryMs = env.APP_MODE === 'live' ? 300_000 : 10_000;

/** Gathers all figures. A part that fails is omitted. */
export async function gatherFigures(): Promise<Figures> {
  const parts = await Promise.allSettled([
    gatherOpenPurchases(),
    gatherSellerBalances(),
    gatherDeliveries(),
    gatherLateWork(),
    gatherAttention(),
    gatherLastClose(),
    gatherVerification(),
    gatherReconciliations(),
    gatherClockRuns(),
    gatherQueues(),
    gatherProviders(),
    gatherRedisClock(),
    gatherRedisMemory(),
    gatherProcesses(),
  ]);
  for (const part of parts) {
    if (part.status === 'rejected') {
      logger.warn('some figures are missing', { error: part.reason as unknown });
    }
  }
  return {
    atMs: nowMs(),
    found: parts.flatMap((part) => (part.status === 'fulfilled' ? part.value : [])),
  };
}

/** Age classes of open purchases, by upper bound. A class excludes purchases of younger classes. */
const ages = [
  ['1m', 60_000],
  ['10m', 600_000],
  ['1h', 3_600_000],
  ['1d', 86_400_000],
] as const;

async function gatherOpenPurchases(): Promise<Figure[]> {
  const { count, suspense, younger } = await sumOpenPurchases(ages.map(([, ageMs]) => ageMs));
  return [
    ...[...ages.map(([age]) => age), 'older'].map((age, place) =>
      buildFigure('topup_open_purchases', { age }, (younger[place] ?? count) - (younger[place - 1] ?? 0)),
    ),
    buildFigure('topup_suspense_rupiah', {}, suspense),
  ];
}

async function gatherSellerBalances(): Promise<Figure[]> {
  const ids = [...(await getRoutingSellers()).keys()].slice(0, readMax);
  // Both are read at one snapshot, because a posting moves money from credits to a wallet.
  const { unposted, owned } = await withSnapshot(async (snapshot) => ({
    unposted: await sellerCredits
      .find({ status: 'new' }, { ...snapshot, projection: { amount: 1 } })
      .limit(readMax)
      .toArray(),
    owned: await wallets
      .find({ _id: { $in: ids } }, { ...snapshot, projection: { balance: 1, held: 1 } })
      .toArray(),
  }));
  const credits = unposted.reduce((sum, { amount }) => sum + amount, 0);
  const parts = {
    balance: owned.reduce((sum, { balance }) => sum + balance, 0),
    held: owned.reduce((sum, { held }) => sum + held, 0),
    unposted: credits,
  };
  return [
    buildFigure('topup_seller_credits_unposted', {}, unposted.length),
    buildFigure('topup_seller_credits_unposted_rupiah', {}, credits),
    ...Object.entries(parts).map(([part, amount]) =>
      buildFigure('topup_sellers_owed_rupiah', { part }, amount),
    ),
  ];
}

async function gatherDeliveries(): Promise<Figure[]> {
  const [due, { disabled, leftAlone }] = await Promise.all([
    countDueDeliveries(countMax),
    countBlockedReceivers(countMax),
  ]);
  return [
    buildFigure('topup_deliveries_due', {}, due),
    buildFigure('topup_receivers_broken', { state: 'disabled' }, disabled),
    buildFigure('topup_receivers_broken', { state: 'left_alone' }, leftAlone),
  ];
}

async function gatherLateWork(): Promise<Figure[]> {
  return Object.entries(await countBacklog(lateMs)).map(([kind, count]) =>
    buildFigure('topup_late_work', { kind }, count as number),
  );
}

async function gatherAttention(): Promise<Figure[]> {
  return Object.entries(await countAttention()).map(([kind, count]) =>
    buildFigure('topup_attention', { kind }, count as number),
  );
}

async function gatherLastClose(): Promise<Figure[]> {
  const last = await findLastClosedDay();
  return last
    ? [
        buildFigure('topup_ledger_close_timestamp_seconds', {}, last.content.closedAt.getTime() / 1_000),
        // These accounts are reported even if no money has moved in them.
        ...Object.entries({ wallet: 0, held: 0, payable: 0, ...last.content.totals }).map(
          ([account, amount]) => buildFigure('topup_ledger_closed_rupiah', { account }, amount),
        ),
      ]
    : [];
}

async function gatherVerification(): Promise<Figure[]> {
  const last = await findLastVerification();
  return last
    ? [
        buildFigure('topup_ledger_verification_timestamp_seconds', {}, last.at.getTime() / 1_000),
        buildFigure('topup_ledger_verification_failures', {}, last.failures),
      ]
    : [];
}

async function gatherReconciliations(): Promise<Figure[]> {
  const found = await findLastByProvider();
  return found.flatMap(({ seller, last }) => {
    const labels = { provider: seller._id };
    const at = last[0]?.at ?? seller.createdAt;
    const differences = last
      .filter(hasUnacceptedDifferences)
      .reduce((sum, { different }) => sum + different, 0);
    return [
      buildFigure('topup_reconciliation_timestamp_seconds', labels, at.getTime() / 1_000),
      buildFigure('topup_reconciliation_differences', labels, differences),
    ];
  });
}

async function gatherClockRuns(): Promise<Figure[]> {
  // Skips jobs that exist only in an earlier release.
  return (await listClockRuns())
    .filter(({ _id }) => findJobByName(_id)?.clock)
    .map(({ _id, at }) =>
      buildFigure('topup_clock_done_timestamp_seconds', { job_name: _id }, at.getTime() / 1_000),
    );
}

async function gatherQueues(): Promise<Figure[]> {
  const found = await findCurrentQueues();
  return (await Promise.all(found.map(({ queue }) => gatherQueueFigures(queue)))).flat();
}

const states = {
  waiting: ['wait', 'prioritized'],
  active: ['active'],
  delayed: ['delayed'],
  failed: ['failed'],
};

async function gatherQueueFigures(queue: Queue): Promise<Figure[]> {
  const seen = await inspectQueue(queue);
  const { counts, workers, isPaused, oldestDueMs } = seen;
  const name = queue.name;
  return [
    ...Object.entries(states).map(([state, lists]) =>
      buildFigure(
        'topup_queue_jobs',
        { queue: name, state },
        lists.reduce((sum, list) => sum + (lookUp(counts, list) ?? 0), 0),
      ),
    ),
    buildFigure(
      'topup_queue_oldest_job_age_seconds',
      { queue: name },
      oldestDueMs === null ? 0 : Math.max(0, nowMs() - oldestDueMs) / 1_000,
    ),
    buildFigure('topup_queue_workers', { queue: name }, workers),
    buildFigure('topup_queue_paused', { queue: name }, Number(isPaused)),
    buildFigure('topup_queue_stuck', { queue: name }, Number(isQueueStuck(queue, seen))),
    buildFigure('topup_queue_hanging_seconds', { queue: name }, getHangingMs(seen) / 1_000),
  ];
}

const circuitStates = { closed: 0, 'half-open': 1, open: 2 };

async function gatherProviders(): Promise<Figure[]> {
  const sellers = [...(await getRoutingSellers()).values()].filter(({ provider }) => provider !== null);
  const ids = sellers.map(({ _id }) => _id);
  const [circuits, backlogs, paces, belowCost] = await Promise.all([
    readCircuits(ids),
    readBacklogs(sellers),
    floatPaces(),
    offersBelowCost(),
  ]);
  const found = sellers.map(async (seller) => {
    const labels = { provider: seller._id };
    const { waiting = 0, expectedMs = 0 } = backlogs.get(seller._id) ?? {};
    const flights = await countCallsInFlight(seller._id);
    return [
      ...buildProviderFigures(seller, paces.get(seller._id) ?? null),
      buildFigure(
        'topup_provider_circuit_state',
        labels,
        circuitStates[circuits.get(seller._id)?.state ?? 'closed'],
      ),
      ...Object.entries(flights).map(([kind, count]) =>
        buildFigure('topup_provider_calls_in_flight', { ...labels, kind }, count),
      ),
      buildFigure('topup_provider_orders_waiting', labels, waiting),
      buildFigure('topup_provider_wait_seconds', labels, expectedMs / 1_000),
      buildFigure('topup_provider_offers_below_cost', labels, belowCost.get(seller._id) ?? 0),
    ];
  });
  return (await Promise.all(found)).flat();
}

/** Costs change when a price list is read, about every five minutes. */
const offersBelowCost = memoizeFor(env.APP_MODE === 'live' ? 60_000 : 10_000, async () =>
  countOffersBelowCost([...(await getRoutingSellers()).keys()]),
);

/** Reads the burn rate of each float, by seller id. Null if it is not known yet. */
const floatPaces = memoizeFor(floatEndsEveryMs, async () => {
  const sellers = [...(await getRoutingSellers()).values()].filter(
    ({ state }) => typeof state?.floatAmount === 'number',
  );
  return readTodaysFloatBurnRates(sellers.map(({ _id }) => _id));
});

function buildProviderFigures({ _id, username, state }: RoutingSeller, pace: number | null): Figure[] {
  const labels = { provider: _id };
  const float = state?.floatAmount ?? null;
  return [
    buildFigure('topup_provider_info', { ...labels, username }, 1),
    buildFigure('topup_provider_paused', labels, state?.paused ? 1 : 0),
    buildFigure('topup_provider_price_list_doubted', labels, state?.priceList?.doubt ? 1 : 0),
    ...(float === null
      ? []
      : [
          buildFigure('topup_provider_float_rupiah', labels, float),
          buildFigure('topup_provider_float_ends_seconds', labels, getFloatLeftMs(float, pace) / 1_000),
        ]),
  ];
}

async function gatherRedisClock(): Promise<Figure[]> {
  const step = await readClockStep();
  return [buildFigure('topup_redis_clock_step_seconds', {}, (step?.byMs ?? 0) / 1_000)];
}

async function gatherRedisMemory(): Promise<Figure[]> {
  const infos = await Promise.all(listRedisServers().map((server) => server.info('memory')));
  const sum = (field: string) =>
    infos.reduce(
      (total, info) => total + Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(info)?.[1] ?? 0),
      0,
    );
  return [
    buildFigure('topup_redis_memory_bytes', {}, sum('used_memory')),
    buildFigure('topup_redis_memory_max_bytes', {}, sum('maxmemory')),
  ];
}

async function gatherProcesses(): Promise<Figure[]> {
  const found = await describeProcesses();
  if (!found) {
    // Unknown is not the same as zero, so no figures are reported.
    return [];
  }
  const web = found.filter(({ type, isSilent }) => doesProcessWork('web', type) && !isSilent);
  const troubles = found.flatMap((each) => (each.troubles && !each.isSilent ? [each.troubles] : []));
  const sumOf = (what: Incident) => troubles.reduce((sum, each) => sum + each[what], 0);
  return [
    ...[...groupBy(found, ({ type }) => type)].flatMap(([type, all]) => buildProcessFigures(type, all)),
    buildFigure('topup_web_processes', {}, web.length),
    buildFigure('topup_processes_postings_failed', {}, sumOf('failedPostings')),
    buildFigure('topup_processes_webhooks_unsent', {}, sumOf('unsentWebhooks')),
  ];
}

function buildProcessFigures(type: string, all: DescribedProcess[]): Figure[] {
  const silent = all.filter(({ isSilent }) => isSilent).length;
  const troubles = all.flatMap((each) => (each.troubles && !each.isSilent ? [each.troubles] : []));
  return [
    buildFigure('topup_processes', { type, state: 'alive' }, all.length - silent),
    buildFigure('topup_processes', { type, state: 'silent' }, silent),
    buildFigure(
      'topup_processes_not_ready',
      { type },
      troubles.filter(({ isNotReady }) => isNotReady).length,
    ),
    buildFigure(
      'topup_processes_lag_seconds',
      { type },
      Math.max(0, ...troubles.map(({ lagMs }) => lagMs)) / 1_000,
    ),
    buildFigure(
      'topup_processes_connections_refused',
      { type },
      Math.max(0, ...troubles.map(({ refusedConnections }) => refusedConnections)),
    ),
  ];
}
