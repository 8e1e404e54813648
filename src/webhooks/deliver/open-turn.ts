import { limits } from '../../../config/limits.js';
import { findAccount } from '../../accounts/find-account.js';
import { getEndpoints, type WebhookEndpoint } from '../../accounts/webhook-endpoint.js';
import { now, nowMs } from '../../shared/clock.js';
import { batchCalls } from '../../shared/concurrency.js';
import { groupBy } from '../../shared/collections.js';
import { deliveries } from './delivery.model.js';
import { getReceiverAccountId, getReceiverId, type UrlOwner } from '../new-delivery.js';
import { isOpen, isProbing } from '../receivers/receiver-health.js';
import { receivers, type Receiver } from '../receivers/receiver.model.js';
import { webhookLimits } from '../webhook-limits.js';
import { getSigningKeys } from './sign-delivery.js';

/** Data of a receiver during a turn. */
export interface Turn {
  readonly receiverId: string;
  readonly account: UrlOwner;
  readonly requireAck: boolean;
  /** The receiver's health at the start of the turn. Null if the receiver is healthy. */
  receiver: Receiver | null;
  /** True if the circuit breaker is half-open, so that one request may probe. */
  readonly probing: boolean;
  /** Limit of concurrent requests across all processes. */
  readonly inFlightMost: number;
  /** Requests in flight in other processes. Counted only for receivers that were slow recently. */
  readonly elsewhere: number;
}

/**
 * Reads the data of a turn.
 * @param hereNow Returns the number of requests to this receiver in flight in this process.
 * @returns Null if nothing may be sent now. For a disabled receiver, due rows become held.
 */
export async function openTurn(receiverId: string, hereNow: () => number): Promise<Turn | null> {
  const [account, receiver] = await Promise.all([
    findAccount(getReceiverAccountId(receiverId)),
    loadReceiver(receiverId),
  ]);
  if (!account || receiver?.disabledAt) {
    await holdDueDeliveries(receiverId);
    return null;
  }
  if (isOpen(receiver)) {
    return null;
  }
  const endpoint = findEndpointByReceiver(account, receiverId);
  // A secret that cannot be decrypted fails the job, so that an operator sees it.
  getSigningKeys(account, endpoint?.id);
  return {
    receiverId,
    account,
    requireAck: account.requireAck,
    receiver,
    probing: isProbing(receiver),
    inFlightMost: endpoint?.inFlightLimit ?? limits.inFlightDefault,
    elsewhere: isSlow(receiver) ? await countInOtherProcesses(receiverId, hereNow) : 0,
  };
}

/** Returns undefined for the callback URL, and for a URL that the account has replaced. */
function findEndpointByReceiver(account: UrlOwner, receiverId: string): WebhookEndpoint | undefined {
  return getEndpoints(account).find(({ id, url }) => getReceiverId(account._id, url, id) === receiverId);
}

/** Loads the health of receivers. Null if healthy. Concurrent turns share a query. */
const loadReceiver = batchCalls<string, Receiver | null>({
  itemsMax: 100,
  async run(ids) {
    const found = await receivers.find({ _id: { $in: ids } }).toArray();
    const byId = new Map(found.map((each) => [each._id, each]));
    return ids.map((id) => byId.get(id) ?? null);
  },
});

function isSlow(receiver: Receiver | null): boolean {
  return (receiver?.slowUntil?.getTime() ?? 0) > nowMs();
}

/** Counts requests to this receiver in flight in other processes. */
export async function countInOtherProcesses(receiverId: string, hereNow: () => number): Promise<number> {
  const leased = await countLeased(receiverId);
  return Math.max(0, leased - hereNow());
}

/** Limit of leased rows counted per receiver. */
const leasedMax = 2 * limits.inFlightMax;

/** Counts rows under a lease. Concurrent turns share a query. */
const countLeased = batchCalls<string, number>({
  itemsMax: 20,
  async run(ids) {
    // Rows move in this index; the approximate count suffices for a pace.
    const leased = await deliveries
      .find(
        {
          accountId: { $in: [...new Set(ids.map(getReceiverAccountId))] },
          receiverId: { $in: ids },
          state: 'due',
          nextAttemptAt: { $gt: now(), $lte: new Date(nowMs() + webhookLimits.leaseMs) },
          leaseToken: { $ne: null },
        },
        { hint: 'receiver_due' },
      )
      .project<{ receiverId: string }>({ _id: 0, receiverId: 1 })
      .limit(ids.length * leasedMax)
      .toArray();
    const byReceiver = groupBy(leased, (row) => row.receiverId);
    return ids.map((id) => byReceiver.get(id)?.length ?? 0);
  },
});

/**
 * Holds due rows until the account enables its URL again. Requests in flight continue. Concurrent
 * turns share the update.
 */
const holdDueDeliveries = batchCalls<string, null>({
  itemsMax: 50,
  async run(ids) {
    await deliveries.updateMany(
      {
        accountId: { $in: [...new Set(ids.map(getReceiverAccountId))] },
        receiverId: { $in: ids },
        state: 'due',
        nextAttemptAt: { $lte: now() },
      },
      { $set: { state: 'held', nextAttemptAt: null, leaseToken: null, settledAt: now() } },
      { hint: 'receiver_due' },
    );
    return ids.map(() => null);
  },
});
