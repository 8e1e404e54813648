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

/** What is known of a receiver while it is served. */
export interface Turn {
  readonly receiverId: string;
  readonly account: UrlOwner;
  readonly requireAck: boolean;
  /** Its health as the turn began; null if nothing is wrong with it. */
  receiver: Receiver | null;
  /** The breaker was open until now: one request may try. */
  readonly probing: boolean;
  /** How many requests it may have under way at most, in the whole fleet. */
  readonly inFlightMost: number;
  /** Requests under way in other processes, counted only for receivers that were slow lately. */
  readonly elsewhere: number;
}

/**
 * Reads what a turn needs.
 * @param hereNow Requests to this receiver that are under way in this process.
 * @returns null if nothing may be sent now; what is due is then held, if it is for long.
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
  // A secret that can't be opened ends the turn: what fails again and again is shown to a person, an attempt is not.
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

/** Undefined for the address of callbacks, and for one that the account has left. */
function findEndpointByReceiver(account: UrlOwner, receiverId: string): WebhookEndpoint | undefined {
  return getEndpoints(account).find(({ id, url }) => getReceiverId(account._id, url, id) === receiverId);
}

/** Null: nothing was ever wrong with it. Turns that begin at the same time share a query. */
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

/** Requests to this receiver that other processes have under way. */
export async function countInOtherProcesses(receiverId: string, hereNow: () => number): Promise<number> {
  const leased = await countLeased(receiverId);
  return Math.max(0, leased - hereNow());
}

/** Of one receiver, by all processes: a batch beside a round of what it may have under way. */
const leasedMax = 2 * limits.inFlightMax;

/** Rows that some process holds under a lease. Turns that count at the same time share a query. */
const countLeased = batchCalls<string, number>({
  itemsMax: 20,
  async run(ids) {
    // Rows move in this index: the count is near enough to set a pace.
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
 * Keeps what is due for the day the account enables its URL again. What is under way ends as it ends. Turns that hold at
 * the same time share the update.
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
