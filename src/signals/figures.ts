/**
 * Figures of the whole service that no single process can count. One process gathers them with
 * bounded, indexed queries, and every follow-up process exposes them. MongoDB is queried once,
 * regardless of the number of scrapers.
 */
import type { Labels } from '../shared/metrics.js';

/** Help text and labels by name. */
export const figures = {
  topup_open_purchases: {
    help: 'Purchases that are not final, by age: 1m, 10m, 1h, 1d (up to that), older. Counts at most 5000',
    labels: ['age'],
  },
  topup_suspense_rupiah: {
    help: 'Prices of the purchases that are not final: debited money in suspense. Counts at most 5000',
    labels: [],
  },
  topup_seller_credits_unposted: {
    help: 'Sales not yet posted to seller wallets. Counts at most 5000',
    labels: [],
  },
  topup_seller_credits_unposted_rupiah: {
    help: 'Amount owed for the sales not yet posted. Counts at most 5000',
    labels: [],
  },
  topup_sellers_owed_rupiah: {
    help: 'Amount owed to sellers, by part: balance (wallets), held (open settlements), unposted (sales not yet posted). Counts at most 5000 sellers and 5000 unposted sales',
    labels: ['part'],
  },
  topup_deliveries_due: {
    help: 'Webhooks and callbacks that are due now, up to 1000; includes retries and deliveries to receivers with an open circuit breaker',
    labels: [],
  },
  topup_receivers_broken: {
    help: 'Receivers that get no requests, up to 1000: disabled, or left_alone because their circuit breaker is open',
    labels: ['state'],
  },
  topup_late_work: { help: 'Work that is over a minute late, up to 1000', labels: ['kind'] },
  topup_attention: {
    help: 'Work that waits for an operator, up to 1000; see topup doctor',
    labels: ['kind'],
  },
  topup_ledger_close_timestamp_seconds: { help: 'When the last day was closed', labels: [] },
  topup_ledger_closed_rupiah: {
    help: 'Balances of ledger accounts at the last close; wallet, held and payable each sum all accounts',
    labels: ['account'],
  },
  topup_ledger_verification_timestamp_seconds: {
    help: 'When the last scheduled ledger verification ran',
    labels: [],
  },
  topup_ledger_verification_failures: {
    help: 'Errors that the last scheduled ledger verification found',
    labels: [],
  },
  topup_reconciliation_timestamp_seconds: {
    help: "When a provider's record was last compared with ours; before the first time: when its seller was created",
    labels: ['provider'],
  },
  topup_reconciliation_differences: {
    help: 'Differences that no operator has accepted, of the last seven compared days',
    labels: ['provider'],
  },
  topup_clock_done_timestamp_seconds: {
    help: 'When a scheduled job last ran; only jobs with a period of 5 minutes or more',
    labels: ['job_name'],
  },
  topup_queue_jobs: { help: 'Jobs in a queue', labels: ['queue', 'state'] },
  topup_queue_oldest_job_age_seconds: {
    help: 'How long the job at the head of a queue has been due; 0: none waits',
    labels: ['queue'],
  },
  topup_queue_workers: { help: 'Workers that take jobs of a queue', labels: ['queue'] },
  topup_queue_paused: { help: '1: an operator has paused the queue', labels: ['queue'] },
  topup_queue_stuck: {
    help: '1: workers are connected but take no job, although one has been due for a minute',
    labels: ['queue'],
  },
  topup_queue_hanging_seconds: {
    help: 'How long a job has been running that has used most of its time limit; 0: none',
    labels: ['queue'],
  },
  topup_provider_info: {
    help: 'Always 1; the username of the seller of a provider',
    labels: ['provider', 'username'],
  },
  topup_provider_circuit_state: { help: '0 closed, 1 half-open, 2 open', labels: ['provider'] },
  topup_provider_paused: { help: '1: an operator has paused the provider', labels: ['provider'] },
  topup_provider_calls_in_flight: {
    help: 'Calls in flight, by kind: orders, questions',
    labels: ['provider', 'kind'],
  },
  topup_provider_orders_waiting: { help: 'Orders that wait for their turn', labels: ['provider'] },
  topup_provider_wait_seconds: { help: 'How long a new order would wait for its turn', labels: ['provider'] },
  topup_provider_float_ends_seconds: {
    help: 'Time until our float runs out, at the pace of the business day; 90 days: that long or longer, or not known yet',
    labels: ['provider'],
  },
  topup_provider_offers_below_cost: {
    help: 'Active offers that are not sold because the cost is above the price',
    labels: ['provider'],
  },
  topup_provider_float_rupiah: { help: 'Our float at the provider, as last reported', labels: ['provider'] },
  topup_provider_price_list_doubted: {
    help: '1: the price list of the provider is much smaller than the last one and is not believed yet',
    labels: ['provider'],
  },
  topup_redis_clock_step_seconds: {
    help: 'By how much the clock of Redis was set, while that has traces: negative if back; 0: no step',
    labels: [],
  },
  topup_redis_memory_bytes: { help: 'Memory used by Redis, on all servers together', labels: [] },
  topup_redis_memory_max_bytes: { help: 'maxmemory of Redis, on all servers together; 0: none', labels: [] },
  topup_processes: {
    help: 'Processes by type and state: alive, or silent (no heartbeat)',
    labels: ['type', 'state'],
  },
  topup_web_processes: {
    help: 'Live processes that serve clients; absent if unknown, for example while Redis accepts no writes',
    labels: [],
  },
  topup_processes_not_ready: {
    help: 'Processes that report that they are not ready, for a reason other than an unavailable database',
    labels: ['type'],
  },
  topup_processes_lag_seconds: {
    help: 'Longest block of an event loop within the last minute, of the worst process of each type',
    labels: ['type'],
  },
  topup_processes_postings_failed: {
    help: 'Postings that could not be written in the last 10 minutes, through no fault of MongoDB',
    labels: [],
  },
  topup_processes_webhooks_unsent: {
    help: 'Webhooks that could not be sent in the last 5 minutes, through no fault of their receivers',
    labels: [],
  },
  topup_processes_connections_refused: {
    help: 'Failed requests for a connection to MongoDB in the last 5 minutes, of the worst process of each type',
    labels: ['type'],
  },
} as const satisfies Record<string, { help: string; labels: readonly string[] }>;

export type FigureName = keyof typeof figures;

export interface Figure {
  name: FigureName;
  labels: Labels<string>;
  value: number;
}

/** Figures of one moment. */
export interface Figures {
  /** Time of the clock that all processes share. */
  atMs: number;
  found: Figure[];
}

export function buildFigure(name: FigureName, labels: Labels<string>, value: number): Figure {
  return { name, labels, value };
}
