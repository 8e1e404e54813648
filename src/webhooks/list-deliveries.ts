import { defaultEndpointId } from '../accounts/webhook-endpoint.js';
import { nowMs } from '../shared/clock.js';
import { buildCountedPage } from '../shared/seen-page.js';
import { deliveries, type Delivery, type DeliveryEvent, type DeliveryState } from './delivery.model.js';

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
