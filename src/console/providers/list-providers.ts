import Joi from 'joi';
import { timestamp, nameSchema } from '../../api/contract/fields.js';
import { floatEndsMaxMs, getFloatLeftMs, getTodaySpan } from '../../providers/provider-float.js';
import {
  computeFloatBurnRate,
  readProviderHistories,
  type ProviderFigures,
} from '../../providers/provider-metrics.js';
import { listProviders as findProviders, type ProviderOverview } from '../../providers/manage-provider.js';
import { slotMs } from '../../samples/sample.model.js';
import { nowMs } from '../../shared/clock.js';
import { memoizeFor } from '../../shared/memoize.js';
import { defineConsoleOperation, requiredObject } from '../api/console-operation.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Maximum number of providers with figures. It limits the page size and the MongoDB reads. */
const shownMax = 60;
const cachedMs = 2_000;

const nullable = Joi.number().allow(null);

export const providerFields = {
  seller: Joi.string(),
  kind: Joi.string(),
  address: Joi.string().allow(null).description('Null: the default address of its kind.'),
  username: Joi.string().description('Our username at the provider.'),
  account_status: Joi.string().valid('active', 'suspended'),
  paused: requiredObject({ reason: Joi.string().allow(''), by: Joi.string(), at: timestamp }).allow(null),
  circuit: Joi.string().valid('closed', 'half-open', 'open'),
  asked_pause_ms: Joi.number().description(
    'Remaining time of a pause that the provider has requested; 0: none.',
  ),
  waiting: Joi.number(),
  expected_wait_ms: Joi.number(),
  float: nullable.description('Our balance at the provider in rupiah, as last reported.'),
  float_at: timestamp.allow(null),
  float_ends_at: timestamp
    .allow(null)
    .description('When the float runs out at the rate of the last 24 hours. Null: not within 90 days.'),
  limits: requiredObject({ calls_per_second: nullable, concurrency: nullable, max_wait_s: nullable }),
  serial_placeholders: Joi.array()
    .items(Joi.string())
    .description('Further texts of this provider that count as no serial number.'),
  day: requiredObject({
    orders: Joi.number(),
    sold: Joi.number(),
    failed: Joi.number(),
    unanswered: Joi.number(),
    success_rate: nullable,
    p50_ms: nullable,
    p95_ms: nullable,
  }).description('Of the last 24 hours.'),
};

/** Lists all providers with their figures. The result is cached for 2 s. */
export const listProviders = defineConsoleOperation({
  id: 'listProviders',
  method: 'get',
  path: '/providers',
  action: 'provider.look',
  summary: 'Providers by seller: availability, waiting orders, our float and when it runs out',
  data: requiredObject({
    providers: Joi.array().items(nameSchema('Provider', requiredObject(providerFields))),
    is_cut: Joi.boolean().description('True: there are more than are shown.'),
  }),
  handle: () => getShownProviders(),
});

const getShownProviders = memoizeFor(cachedMs, async () => {
  const found = await findProviders();
  const shown = found.slice(0, shownMax);
  const recent = await readRecentFigures(shown.map(({ seller }) => seller._id));
  return {
    providers: shown.map((each) => presentProvider(each, recent.get(each.seller._id))),
    is_cut: found.length > shown.length,
  };
});

interface RecentFigures {
  /** Figures of the last 24 hours. */
  day: ProviderFigures | undefined;
  /** Figures in steps of five minutes, from which the burn rate of the float is computed. */
  today: ProviderFigures[];
}

/** Reads the figures of the last day by seller id. */
export async function readRecentFigures(sellerIds: readonly string[]): Promise<Map<string, RecentFigures>> {
  const untilMs = nowMs();
  const [days, todays] = await Promise.all([
    readProviderHistories(sellerIds, { sinceMs: untilMs - dayMs, untilMs }, dayMs + hourMs),
    readProviderHistories(sellerIds, getTodaySpan(untilMs), slotMs),
  ]);
  return new Map(
    sellerIds.map((id) => [id, { day: days.get(id)?.steps[0], today: todays.get(id)?.steps ?? [] }]),
  );
}

export function presentProvider(
  { seller, state, circuit, backlog }: ProviderOverview,
  { day: figures, today }: RecentFigures = { day: undefined, today: [] },
) {
  const { kind = '', baseUrl = null, username = '' } = seller.provider ?? {};
  const { callsPerSecond = null, concurrency = null, maxWaitS = null } = seller.provider ?? {};
  return {
    seller: seller.username,
    kind,
    address: baseUrl,
    username,
    account_status: seller.status,
    paused: state?.paused
      ? { reason: state.paused.reason, by: state.paused.by, at: state.paused.at.toISOString() }
      : null,
    circuit: circuit?.state ?? 'closed',
    asked_pause_ms: circuit?.pauseMs ?? 0,
    waiting: backlog?.waiting ?? 0,
    expected_wait_ms: Math.round(backlog?.expectedMs ?? 0),
    float: state?.floatAmount ?? null,
    float_at: state?.floatAt?.toISOString() ?? null,
    float_ends_at: presentFloatEnd(state?.floatAmount ?? null, computeFloatBurnRate(today)),
    limits: { calls_per_second: callsPerSecond, concurrency, max_wait_s: maxWaitS },
    serial_placeholders: seller.provider?.serialPlaceholders ?? [],
    day: {
      orders: figures?.orders ?? 0,
      sold: figures?.sold ?? 0,
      failed: figures?.failed ?? 0,
      unanswered: figures?.unanswered ?? 0,
      success_rate: figures?.successRate ?? null,
      p50_ms: figures?.p50Ms ?? null,
      p95_ms: figures?.p95Ms ?? null,
    },
  };
}

function presentFloatEnd(float: number | null, pace: number | null): string | null {
  const leftMs = float === null ? floatEndsMaxMs : getFloatLeftMs(float, pace);
  return leftMs >= floatEndsMaxMs ? null : new Date(nowMs() + leftMs).toISOString();
}
