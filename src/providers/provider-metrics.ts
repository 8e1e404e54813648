/**
 * Metrics and samples of providers, by seller id. `topup_provider_info` maps ids to usernames. The
 * samples have slots of five minutes and feed the charts of the console.
 */
import { counter, histogram } from '../shared/metrics.js';
import { groupBy } from '../shared/collections.js';
import { countSample, noteSample, sampleEvent } from '../samples/record-samples.js';
import { readSamples, sumSlots } from '../samples/read-samples.js';
import type { SampledEvent, Slot } from '../samples/sample.model.js';
import { computeQuantile, getBucketName } from '../samples/latency-buckets.js';
import type { ProviderOutcome } from './adapter.js';

export const observeOrder = histogram({
  name: 'topup_provider_order_duration_seconds',
  help: 'Time from sending an order to its response, by outcome',
  labels: ['provider', 'outcome'],
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40],
});

export const observeAdmission = histogram({
  name: 'topup_provider_admission_wait_seconds',
  help: "How long a call waited for admission by the provider's limits",
  labels: ['provider'],
  buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5],
});

export const countNotAdmitted = counter({
  name: 'topup_provider_not_admitted_total',
  help: 'Calls that were not admitted and are retried later, by reason: slots, pace, pause',
  labels: ['provider', 'reason'],
});

export const countCircuitChange = counter({
  name: 'topup_provider_circuit_changes_total',
  help: 'Changes of the circuit state by this process',
  labels: ['provider', 'to'],
});

/** Records an order that the provider responded to, or that timed out. */
export function sampleOrder(sellerId: string, outcome: ProviderOutcome['outcome'], durationMs: number): void {
  const isUnanswered = outcome === 'unknown' || outcome === 'not-sent';
  countSample(getSampleSubject(sellerId), [
    'orders',
    ...(isUnanswered ? ['unanswered'] : []),
    getBucketName(durationMs),
  ]);
}

/** Records the final outcome of an order. */
export function sampleEnd(sellerId: string, end: 'sold' | 'failed'): void {
  countSample(getSampleSubject(sellerId), [end]);
}

/**
 * Records our balance at the provider.
 * @param amount The balance in rupiah.
 */
export function sampleFloat(sellerId: string, amount: number): void {
  noteSample(getSampleSubject(sellerId), 'float', amount);
}

export function sampleCircuit(sellerId: string, to: string, because: string | null): void {
  sampleEvent(getSampleSubject(sellerId), to, because);
}

/**
 * Figures of a time span. Rates are 0 to 1, latencies are in milliseconds, and the float is the
 * last one in rupiah. A figure that was not measured is null.
 */
export interface ProviderFigures {
  fromMs: number;
  orders: number;
  unanswered: number;
  sold: number;
  failed: number;
  successRate: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
  float: number | null;
}

export interface ProviderHistory {
  /** Figures of each step, earliest first. */
  steps: ProviderFigures[];
  /** Changes of the circuit's state, earliest first. */
  changes: SampledEvent[];
}

/**
 * Returns the history of each seller's provider, by seller id. Rates of a longer step are computed
 * from summed counts, never averaged.
 * @param stepMs Length of a step in milliseconds: five minutes or a multiple.
 */
export async function readProviderHistories(
  sellerIds: readonly string[],
  span: { sinceMs: number; untilMs: number },
  stepMs: number,
): Promise<Map<string, ProviderHistory>> {
  const found = await readSamples(sellerIds.map(getSampleSubject), span);
  return new Map(
    sellerIds.map((id) => {
      const { slots = [], events = [] } = found.get(getSampleSubject(id)) ?? {};
      const firstMs = slots[0]?.fromMs ?? 0;
      const steps = groupBy(
        slots,
        ({ fromMs }) => firstMs + Math.floor((fromMs - firstMs) / stepMs) * stepMs,
      );
      const sumOf = (each: typeof slots) =>
        sumSlots(
          each.map(({ slot }) => slot),
          ['float'],
        );
      return [
        id,
        {
          steps: [...steps].map(([fromMs, each]) => toProviderFigures(fromMs, sumOf(each))),
          changes: events,
        },
      ];
    }),
  );
}

/** Returns how many orders were sent to each seller's provider, by seller id. */
export async function countOrdersSent(
  sellerIds: readonly string[],
  span: { sinceMs: number; untilMs: number },
): Promise<Map<string, number>> {
  const found = await readSamples(sellerIds.map(getSampleSubject), { ...span, names: ['orders'] });
  const sentTo = (id: string) =>
    (found.get(getSampleSubject(id))?.slots ?? []).reduce((sum, { slot: { orders = 0 } }) => sum + orders, 0);
  return new Map(sellerIds.map((id) => [id, sentTo(id)]));
}

/**
 * Computes how fast our balance at a provider decreases, in rupiah per millisecond. Only decreases
 * count, so payments into the balance are ignored. Null if there are fewer than two readings.
 */
export function computeFloatBurnRate(
  steps: readonly Pick<ProviderFigures, 'fromMs' | 'float'>[],
): number | null {
  const readings = steps.filter((each) => each.float !== null);
  const [first, last] = [readings[0], readings.at(-1)];
  if (!first || !last || first === last) {
    return null;
  }
  const fallen = readings.reduce((sum, { float }, place) => {
    const before = readings[place - 1]?.float ?? float;
    return sum + Math.max(0, (before ?? 0) - (float ?? 0));
  }, 0);
  return fallen / (last.fromMs - first.fromMs);
}

function toProviderFigures(fromMs: number, slot: Slot): ProviderFigures {
  const { orders = 0, unanswered = 0, sold = 0, failed = 0, float = null } = slot;
  return {
    fromMs,
    orders,
    unanswered,
    sold,
    failed,
    float,
    successRate: sold + failed === 0 ? null : sold / (sold + failed),
    p50Ms: computeQuantile(slot, 0.5),
    p95Ms: computeQuantile(slot, 0.95),
  };
}

function getSampleSubject(sellerId: string): string {
  return `provider:${sellerId}`;
}
