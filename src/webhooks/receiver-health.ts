/**
 * What we remember of a receiver that fails: the breaker that spares both sides while it hangs, the warning after a
 * day, the disabling after five. Every process reads it at the start of a turn, so it is shared by all.
 */
import { AccountModel } from '../accounts/account.model.js';
import { now, nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { isDuplicateKey } from '../database/mongo.js';
import { receiverIdsOf, type UrlOwner } from './new-delivery.js';
import { receivers, type Receiver } from './receiver.model.js';
import { webhookLimits } from './webhook-limits.js';

export interface ReceiverKey {
  receiverId: string;
  account: UrlOwner;
  url: string;
}

/** Counts a failure and draws its consequences. @returns true if the receiver is disabled now. */
export async function noteFailure(key: ReceiverKey, timedOut: boolean): Promise<boolean> {
  const receiver = await countFailure(key, timedOut);
  await turnBreaker(receiver, timedOut);
  const failingMs = nowMs() - (receiver.failingSince ?? now()).getTime();
  if (
    receiver.disabledAt === null &&
    failingMs >= webhookLimits.disableAfterMs &&
    receiver.failures >= webhookLimits.disableFailuresMin
  ) {
    await disableReceiver(key, 'failing');
    return true;
  }
  if (receiver.warnedAt === null && failingMs >= webhookLimits.warnAfterMs) {
    await receivers.updateOne({ _id: receiver._id }, { $set: { warnedAt: now() } });
    logger.warn('webhook receiver has failed for a day', { receiverId: receiver._id });
  }
  return receiver.disabledAt !== null;
}

/** Forgets the failures of a receiver that answered well. */
export async function noteSuccess(receiverId: string): Promise<void> {
  await receivers.updateOne({ _id: receiverId }, { $set: healthy });
}

/** Some requests outlive their turn: whoever serves this receiver next must count them. */
export async function noteSlow(key: ReceiverKey): Promise<void> {
  const slowUntil = new Date(nowMs() + webhookLimits.totalTimeoutMs);
  await upsert(key, { $set: { slowUntil }, $setOnInsert: { ...fresh(key), ...healthy } });
}

/** Nothing more is sent to it until the account enables it or sets another URL. */
export async function disableReceiver(key: ReceiverKey, because: 'failing' | 'gone'): Promise<void> {
  const set = { disabledAt: now(), disabledBecause: because };
  const { disabledAt: _at, disabledBecause: _because, ...rest } = healthy;
  await upsert(key, { $set: set, $setOnInsert: { ...fresh(key), ...rest, slowUntil: null } });
  if (receiverIdsOf(key.account).includes(key.receiverId)) {
    await AccountModel.updateOne({ _id: key.account._id }, { $set: { webhookStatus: 'disabled' } });
  }
  logger.warn('webhook receiver disabled', { receiverId: key.receiverId, because });
}

/** True while the breaker lets nothing through. */
export function isOpen(receiver: Receiver | null): boolean {
  return (receiver?.openUntil?.getTime() ?? 0) > nowMs();
}

/** True once the breaker's time is over and nothing has answered yet: one request may try. */
export function isProbing(receiver: Receiver | null): boolean {
  return receiver !== null && receiver.openMs > 0;
}

/** True if a success is worth writing down. */
export function needsForgiving(receiver: Receiver | null): boolean {
  return receiver !== null && (receiver.failures > 0 || receiver.openMs > 0);
}

export const healthy = {
  failures: 0,
  timeouts: 0,
  failingSince: null,
  warnedAt: null,
  disabledAt: null,
  disabledBecause: null,
  openUntil: null,
  openMs: 0,
} as const;

function fresh(key: ReceiverKey) {
  const { origin, pathname } = new URL(key.url);
  return { accountId: key.account._id, address: `${origin}${pathname}` };
}

async function countFailure(key: ReceiverKey, timedOut: boolean): Promise<Receiver> {
  const at = now();
  const { failures: _failures, timeouts: _timeouts, ...rest } = healthy;
  const receiver = await upsert(key, {
    $inc: { failures: 1, ...(timedOut && { timeouts: 1 }) },
    ...(!timedOut && { $set: { timeouts: 0 } }),
    $setOnInsert: {
      ...fresh(key),
      ...rest,
      failingSince: at,
      slowUntil: null,
    },
  });
  if (receiver.failingSince === null) {
    await receivers.updateOne({ _id: receiver._id, failingSince: null }, { $set: { failingSince: at } });
  }
  return { ...receiver, timeouts: timedOut ? receiver.timeouts : 0 };
}

/** An answer of any kind closes the breaker; time-outs open it, each time for twice as long. */
async function turnBreaker(receiver: Receiver, timedOut: boolean): Promise<void> {
  if (!timedOut) {
    if (receiver.openMs > 0) {
      await receivers.updateOne({ _id: receiver._id }, { $set: { openUntil: null, openMs: 0 } });
    }
    return;
  }
  if (isOpen(receiver) || (receiver.timeouts < webhookLimits.breakerTimeouts && receiver.openMs === 0)) {
    return;
  }
  const openMs = Math.min(
    Math.max(webhookLimits.breakerOpenMs, 2 * receiver.openMs),
    webhookLimits.breakerOpenMaxMs,
  );
  // Of several time-outs that come together, only the first opens it.
  await receivers.updateOne(
    { _id: receiver._id, openUntil: receiver.openUntil },
    { $set: { openUntil: new Date(nowMs() + openMs), openMs } },
  );
}

async function upsert(key: ReceiverKey, update: object): Promise<Receiver> {
  const write = () =>
    receivers.findOneAndUpdate({ _id: key.receiverId }, update, { upsert: true, returnDocument: 'after' });
  const receiver = await write().catch((error: unknown) => {
    // Two first failures at once: the second finds the row of the first.
    if (isDuplicateKey(error)) {
      return write();
    }
    throw error;
  });
  if (!receiver) {
    throw new Error('An upsert returned no document');
  }
  return receiver;
}
