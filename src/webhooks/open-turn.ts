import type { KeyObject } from 'node:crypto';
import { AccountModel } from '../accounts/account.model.js';
import { now, nowMs } from '../shared/clock.js';
import { deliveries } from './delivery.model.js';
import { accountIdOf, type UrlOwner } from './new-delivery.js';
import { isOpen, isProbing } from './receiver-health.js';
import { receivers, type Receiver } from './receiver.model.js';
import { webhookLimits } from './webhook-limits.js';
import { signingKeys } from './webhook-secret.js';

/** What is known of a receiver while it is served. */
export interface Turn {
  readonly receiverId: string;
  readonly account: UrlOwner;
  readonly keys: readonly KeyObject[];
  readonly requireAck: boolean;
  /** Its health as the turn began; null if nothing is wrong with it. */
  receiver: Receiver | null;
  /** The breaker was open until now: one request may try. */
  readonly probing: boolean;
  /** Requests under way in other processes, counted only for receivers that were slow lately. */
  readonly elsewhere: number;
}

/**
 * Reads what a turn needs.
 * @param hereNow Requests to this receiver that are under way in this process.
 * @returns null if nothing may be sent now; what is due is then held, if it is for long.
 */
export async function openTurn(receiverId: string, hereNow: number): Promise<Turn | null> {
  const accountId = accountIdOf(receiverId);
  const [account, receiver] = await Promise.all([
    AccountModel.findById(accountId, turnFields).lean(),
    receivers.findOne({ _id: receiverId }),
  ]);
  if (!account || receiver?.disabledAt) {
    await holdDue(receiverId);
    return null;
  }
  if (isOpen(receiver)) {
    return null;
  }
  return {
    receiverId,
    account,
    keys: signingKeys(account),
    requireAck: account.requireAck,
    receiver,
    probing: isProbing(receiver),
    elsewhere: isSlow(receiver) ? Math.max(0, (await countUnderWay(receiverId)) - hereNow) : 0,
  };
}

const turnFields = {
  webhookUrl: 1,
  callbackUrl: 1,
  webhookSecretSealed: 1,
  previousWebhookSecret: 1,
  requireAck: 1,
} as const;

function isSlow(receiver: Receiver | null): boolean {
  return (receiver?.slowUntil?.getTime() ?? 0) > nowMs();
}

/** Rows that some process holds under a lease. */
async function countUnderWay(receiverId: string): Promise<number> {
  const leased = await deliveries
    .find({
      receiverId,
      state: 'due',
      nextAttemptAt: { $gt: now(), $lte: new Date(nowMs() + webhookLimits.leaseMs) },
      leaseToken: { $ne: null },
    })
    .project({ _id: 1 })
    .limit(webhookLimits.inFlightPerReceiver + webhookLimits.claimBatch)
    .toArray();
  return leased.length;
}

/** Keeps what is due for the day the account enables its URL again. What is under way ends as it ends. */
async function holdDue(receiverId: string): Promise<void> {
  await deliveries.updateMany(
    { receiverId, state: 'due', nextAttemptAt: { $lte: now() } },
    { $set: { state: 'held', nextAttemptAt: null, leaseToken: null, settledAt: now() } },
  );
}
