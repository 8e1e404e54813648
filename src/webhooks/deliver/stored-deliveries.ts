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
 * One page of an account's webhooks and callbacks, newest first, with all attempts, and how many there are in all.
 * Served by the account_newest, account_state_newest, account_event_newest, account_endpoint_newest and account_ref indexes.
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

/** The filter for the webhooks of one endpoint: those of the first name none. */
export function buildEndpointFilter(endpointId: string) {
  return endpointId === defaultEndpointId
    ? { channel: 'webhook' as const, endpointId: { $exists: false } }
    : { endpointId };
}

/** What was given up on any account, newest first: for the operator. */
export async function listDeadDeliveries(limit: number): Promise<Delivery[]> {
  return deliveries.find({ state: 'dead' }).sort({ settledAt: -1 }).limit(limit).toArray();
}

/** An account's deliveries that were created since a time, oldest first, at most 1,000. */
export async function listDeliveriesSince(accountId: string, since: Date): Promise<Delivery[]> {
  return deliveries
    .find({ accountId, createdAt: { $gte: since } })
    .sort({ createdAt: 1, _id: 1 })
    .limit(1_000)
    .toArray();
}

/** True while a worker holds the row: its request is under way. */
export function isInFlight(row: Pick<Delivery, 'state' | 'leaseToken' | 'nextAttemptAt'>): boolean {
  return row.state === 'due' && row.leaseToken !== null && (row.nextAttemptAt?.getTime() ?? 0) > nowMs();
}

/** Deliveries that are to be sent by now, whoever they are for. @param limit More are not counted. */
export async function countDueDeliveries(limit: number): Promise<number> {
  return deliveries.countDocuments(
    { state: 'due', nextAttemptAt: { $lte: now() } },
    { limit, hint: 'receiver_due' },
  );
}

/** Receivers to which nothing is sent: disabled, or left alone by the breaker just now. @param limit More are not counted. */
export async function countBlockedReceivers(limit: number): Promise<{ disabled: number; leftAlone: number }> {
  const [disabled, leftAlone] = await Promise.all([
    receivers.countDocuments({ disabledAt: { $type: 'date' } }, { limit }),
    receivers.countDocuments({ openUntil: { $type: 'date', $gt: now() }, disabledAt: null }, { limit }),
  ]);
  return { disabled, leftAlone };
}

/** So far they are counted. */
export const waitingCountedMax = 10_000;

/** Deliveries that are due now or later, whoever they are for: along receiver_due, up to `waitingCountedMax`. */
export function countWaitingDeliveries(): Promise<number> {
  return deliveries.countDocuments({ state: 'due', receiverId: { $gt: '' } }, { limit: waitingCountedMax });
}

/** The most of each state that one run removes; the next run goes on. */
const runMax = 10_000;
const atOnce = 500;

/**
 * Removes deliveries that were given up or held longer ago than `undeliveredKeptMs`. Delivered ones MongoDB removes by
 * itself (`expireAt`). Safe to run twice and by several at once: one that is sent again meanwhile stays.
 * @param nowMs By the clock of the fleet: what is removed does not come back.
 * @returns how many.
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
    for await (const chunk of collectChunks(source, atOnce)) {
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
