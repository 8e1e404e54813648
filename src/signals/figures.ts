/**
 * Figures of the whole service that no single process can count. One process gathers them with
 * bounded, indexed queries, and every follow-up process shows them. However many scrapers there
 * are, MongoDB is queried once.
 */
import type { Labels } from '../shared/metrics.js';

/** Help text and labels by name. */
export const figures = {
  topup_open_purchases: {
    help: 'Purchases that are not final, by how old they are: 1m, 10m, 1h, 1d (up to that), older; of the first 5000',
    labels: ['age'],
  },
  topup_suspense_rupiah: {
    help: 'Their prices: money that was debited and belongs to nobody yet; of the first 5000',
    labels: [],
  },
  topup_seller_credits_unposted: {
    help: 'Sales not yet posted to seller wallets, of the first 5000',
    labels: [],
  },
  topup_seller_credits_unposted_rupiah: { help: 'What they are owed for these', labels: [] },
  topup_sellers_owed_rupiah: {
    help: 'What sellers are owed: balance (of their wallets), held (of settlements under way), unposted (sales not yet posted, of the first 5000); of the first 5000 sellers',
    labels: ['part'],
  },
  topup_deliveries_due: {
    help: 'Webhooks and callbacks that are to be sent by now, up to 1000: retries, and what a receiver that is left alone waits for, among them',
    labels: [],
  },
  topup_receivers_broken: {
    help: 'Receivers that nothing is sent to, up to 1000: disabled, or left_alone for a while because they do not answer',
    labels: ['state'],
  },
  topup_late_work: { help: 'Work that is over a minute late, up to 1000', labels: ['kind'] },
  topup_attention: { help: 'What waits for a person, up to 1000; see topup doctor', labels: ['kind'] },
  topup_ledger_close_timestamp_seconds: { help: 'When the last day was closed', labels: [] },
  topup_ledger_closed_rupiah: {
    help: 'What ledger accounts held at the last close: wallet, held and payable are those of all accounts together',
    labels: ['account'],
  },
  topup_ledger_verification_timestamp_seconds: {
    help: 'When the ledger was verified last by the clock',
    labels: [],
  },
  topup_ledger_verification_failures: { help: 'How many mistakes that found', labels: [] },
  topup_reconciliation_timestamp_seconds: {
    help: "When a provider's record was last held against ours; before the first time: when its seller was made",
    labels: ['provider'],
  },
  topup_reconciliation_differences: {
    help: 'Differences that nobody has explained, of the last seven days that were compared',
    labels: ['provider'],
  },
  topup_clock_done_timestamp_seconds: {
    help: 'When work by the clock was last done, of that which comes every 5 minutes or more seldom',
    labels: ['job_name'],
  },
  topup_queue_jobs: { help: 'Jobs in a queue', labels: ['queue', 'state'] },
  topup_queue_oldest_job_age_seconds: {
    help: 'How long the job at the head of a queue has been due; 0: none waits',
    labels: ['queue'],
  },
  topup_queue_workers: { help: 'Workers that take its jobs', labels: ['queue'] },
  topup_queue_paused: { help: '1: somebody has paused it', labels: ['queue'] },
  topup_queue_stuck: {
    help: '1: workers live and take nothing, though a job has been due for a minute',
    labels: ['queue'],
  },
  topup_queue_hanging_seconds: {
    help: 'For how long a job has been under way that takes most of the time it may; 0: none does',
    labels: ['queue'],
  },
  topup_provider_info: {
    help: '1; the username of the seller whose provider it is',
    labels: ['provider', 'username'],
  },
  topup_provider_circuit_state: { help: '0 closed, 1 half-open, 2 open', labels: ['provider'] },
  topup_provider_paused: { help: '1: an operator has paused it', labels: ['provider'] },
  topup_provider_calls_in_flight: {
    help: 'Calls under way, by kind: orders, questions',
    labels: ['provider', 'kind'],
  },
  topup_provider_orders_waiting: { help: 'Orders that wait for their turn', labels: ['provider'] },
  topup_provider_wait_seconds: { help: 'How long a new order would wait for its turn', labels: ['provider'] },
  topup_provider_float_ends_seconds: {
    help: 'When that is used up, at the pace of the business day; 90 days: later than that, or nobody knows yet',
    labels: ['provider'],
  },
  topup_provider_float_rupiah: { help: 'Our money there, as it last said', labels: ['provider'] },
  topup_redis_memory_bytes: { help: 'Memory that Redis uses, of all servers', labels: [] },
  topup_redis_memory_max_bytes: { help: 'Its maxmemory; 0: none', labels: [] },
  topup_processes: {
    help: 'Processes, by type and by whether they are heard: alive, silent',
    labels: ['type', 'state'],
  },
  topup_web_processes: {
    help: 'Processes that serve clients and are heard; not there where nobody knows, as while Redis takes no writes',
    labels: [],
  },
  topup_processes_not_ready: {
    help: 'Processes that say they are not ready, for another reason than a database that is away',
    labels: ['type'],
  },
  topup_processes_lag_seconds: {
    help: 'The longest that an event loop was held up within the last minute, of the one process of a type that was held up most',
    labels: ['type'],
  },
  topup_processes_postings_failed: {
    help: 'Postings of the last 10 minutes that could not be written, through no fault of MongoDB',
    labels: [],
  },
  topup_processes_webhooks_unsent: {
    help: 'Webhooks of the last 5 minutes that could not go out, through no fault of their receivers',
    labels: [],
  },
  topup_processes_connections_refused: {
    help: 'Times of the last 5 minutes that nobody could have a connection to MongoDB, of the one process of a type that had most',
    labels: ['type'],
  },
} as const satisfies Record<string, { help: string; labels: readonly string[] }>;

export type FigureName = keyof typeof figures;

export interface Figure {
  name: FigureName;
  labels: Labels<string>;
  value: number;
}

/** Figures at one time. */
export interface Figures {
  /** By the clock of the fleet. */
  atMs: number;
  found: Figure[];
}

export function figure(name: FigureName, labels: Labels<string>, value: number): Figure {
  return { name, labels, value };
}
