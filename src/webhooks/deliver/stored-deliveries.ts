import { defaultEndpointId } from '../../accounts/webhook-endpoint.js';
import { nowMs, now } from '../../shared/clock.js';
import { buildCountedPage, collectChunks } from '../../shared/collections.js';
import { deliveries, type Delivery, type DeliveryEvent, type DeliveryState } from './delivery.model.js';
import { receivers } from '../receivers/receiver.model.js';
import { webhookLimits } from '../webhook-limits.js';

export interface DeliveryQuery {
  accountId: string;
  state?: DeliveryState | undefined;
  event?: DeliveryEvent | undefined;
  refId?: string | undefined;
  endpointId?: string | undefined;
  page: number;
  limit: number;
}

/**
 * Lists a page of an account's webhooks and callbacks, newest first, with all attempts, and counts
 * all matches. Indexes: account_newest, account_state_newest, account_event_newest,
 * account_endpoint_newest, account_ref.
 */
export async function listDeliveries(query: DeliveryQuery): Promise<{ rows: Delivery[]; total: number }> {
  const filter = {
    accountId: query.accountId,
    ...(query.state && { state: query.state }),
    ...(query.event && { event: query.event }),
    ...(query.refId !== undefined && { refId: query.refId }),
    ...(query.endpointId !== undefined && buildEndpointFilter(query.endpointId)),
  };
  const { page, limit } = query;
  const offset = (page - 1) * limit;
  const [found, counted] = await Promise.all([
    deliveries
      .find(filter)
      .sort({ createdAt: -1, _id: -1 })
      .skip(offset)
      .limit(limit + 1)
      .toArray(),
    deliveries.countDocuments(filter),
  ]);
  return buildCountedPage(found, { offset, limit, counted });
}

/**
 * Returns the filter for webhooks of one endpoint. Rows of the default endpoint have no
 * `endpointId`.
 */
export function buildEndpointFilter(endpointId: string) {
  return endpointId === defaultEndpointId
    ? { channel: 'webhook' as const, endpointId: { $exists: false } }
    : { endpointId };
}

/** Lists dead deliveries of all accounts, newest first, for operators. */
export async function listDeadDeliveries(limit: number): Promise<Delivery[]> {
  return deliveries.find({ state: 'dead' }).sort({ settledAt: -1 }).limit(limit).toArray();
}

/** Lists an account's deliveries created since a time, oldest first, at most 1,000. */
export async function listDeliveriesSince(accountId: string, since: Date): Promise<Delivery[]> {
  return deliveries
    .find({ accountId, createdAt: { $gte: since } })
    .sort({ createdAt: 1, _id: 1 })
    .limit(1_000)
    .toArray();
}

/** True while a worker holds the row: its request is in flight. */
export function isInFlight(row: Pick<Delivery, 'state' | 'leaseToken' | 'nextAttemptAt'>): boolean {
  return row.state === 'due' && row.leaseToken !== null && (row.nextAttemptAt?.getTime() ?? 0) > nowMs();
}

/**
 * Counts deliveries of all accounts that are due now.
 * @param limit The count stops at this number.
 */
export async function countDueDeliveries(limit: number): Promise<number> {
  return deliveries.countDocuments(
    { state: 'due', nextAttemptAt: { $lte: now() } },
    { limit, hint: 'receiver_due' },
  );
}

/**
 * Counts receivers that get no requests: disabled, or with an open circuit breaker.
 * @param limit Each count stops at this number.
 */
export async function countBlockedReceivers(limit: number): Promise<{ disabled: number; leftAlone: number }> {
  const [disabled, leftAlone] = await Promise.all([
    receivers.countDocuments({ disabledAt: { $type: 'date' } }, { limit }),
    receivers.countDocuments({ openUntil: { $type: 'date', $gt: now() }, disabledAt: null }, { limit }),
  ]);
  return { disabled, leftAlone };
}

/** The count of waiting deliveries stops at this number. */
export const waitingCountedMax = 10_000;

/**
 * Counts deliveries of all accounts that are due now or later, up to `waitingCountedMax` (index
 * `receiver_due`).
 */
export function countWaitingDeliveries(): Promise<number> {
  return deliveries.countDocuments({ state: 'due', receiverId: { $gt: '' } }, { limit: waitingCountedMax });
}

/** Maximum number of rows removed per state and run. The next run continues. */
const runMax = 10_000;
const batchSize = 500;

/**
 * Removes dead and held deliveries that ended longer ago than `undeliveredKeptMs`. MongoDB removes
 * delivered ones by `expireAt`. Safe to run twice or concurrently: a delivery that has been
 * replayed is kept.
 * @param nowMs Time of the clock that all processes share, because a deletion cannot be undone.
 * @returns The number of removed deliveries.
 */
export async function removeUndelivered(nowMs: number): Promise<number> {
  const settledAt = { $lt: new Date(nowMs - webhookLimits.undeliveredKeptMs) };
  let removed = 0;
  for (const state of ['dead', 'held'] as const) {
    const source = deliveries
      .find({ state, settledAt })
      .project<{ _id: string; accountId: string }>({ accountId: 1 })
      .sort({ settledAt: 1 })
      .limit(runMax);
    for await (const chunk of collectChunks(source, batchSize)) {
      const { deletedCount } = await deliveries.deleteMany({
        _id: { $in: chunk.map(({ _id }) => _id) },
        accountId: { $in: [...new Set(chunk.map(({ accountId }) => accountId))] },
        state,
        settledAt,
      });
      removed += deletedCount;
    }
  }
  return removed;
}
