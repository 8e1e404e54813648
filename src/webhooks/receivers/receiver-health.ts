/**
 * What we remember of a receiver that fails: the breaker that spares both sides while it hangs, the warning after a
 * day, the disabling after five. Every process reads it at the start of a turn, so it is shared by all.
 */
import { AccountModel } from '../../accounts/account.model.js';
import { now, nowMs } from '../../shared/clock.js';
import { batchCalls } from '../../shared/concurrency.js';
import { logger } from '../../shared/logger.js';
import { inTransaction, isDuplicateKey } from '../../database/mongo.js';
import { writeAndInvalidate } from '../../redis/publish-changes.js';
import { announceDeliveries } from '../deliver/delivery-jobs.js';
import { buildWebhookDisabledDeliveries } from '../account-events.js';
import { insertDeliveries, getConfigReceiverIds, type UrlOwner } from '../new-delivery.js';
import { receivers, type DisabledBecause, type Receiver } from './receiver.model.js';
import { webhookLimits } from '../webhook-limits.js';

export interface ReceiverKey {
  receiverId: string;
  account: UrlOwner;
  url: string;
}

/** Counts a failure and draws its consequences. @returns true if the receiver is disabled now. */
export async function noteFailure(key: ReceiverKey, timedOut: boolean): Promise<boolean> {
  const receiver = await countFailure(key, timedOut);
  await updateBreaker(receiver, timedOut);
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
  await receivers.updateOne({ _id: receiverId }, { $set: healthyState });
}

/** Some requests outlive their turn: whoever serves this receiver next must count them. Turns share the command. */
export const noteSlow = batchCalls<ReceiverKey, null>({
  itemsMax: 100,
  async run(keys) {
    const slowUntil = new Date(nowMs() + webhookLimits.totalTimeoutMs);
    const writes = keys.map((key) => ({
      updateOne: {
        filter: { _id: key.receiverId },
        update: { $set: { slowUntil }, $setOnInsert: { ...buildNewReceiver(key), ...healthyState } },
        upsert: true,
      },
    }));
    const write = () => receivers.bulkWrite(writes, { ordered: false });
    await write().catch((error: unknown) => {
      // Another process has just made the row of one of them; what was written is written again.
      if (!isDuplicateKey(error)) {
        throw error;
      }
      return write();
    });
    return keys.map(() => null);
  },
});

/**
 * Nothing more is sent to it until the account enables it or sets another URL. The account's other endpoints are told in
 * the same database transaction, once, however many requests come to it at the same time.
 */
export async function disableReceiver(key: ReceiverKey, because: DisabledBecause): Promise<void> {
  const { receiverId, account } = key;
  const { _id } = account;
  const at = now();
  const rows = buildWebhookDisabledDeliveries(account, { receiverId, because, at });
  await upsertReceiver(key, { $setOnInsert: { ...buildNewReceiver(key), ...healthyState, slowUntil: null } });
  const isNew = await writeAndInvalidate([AccountModel], [_id], (accounts) =>
    inTransaction(async (session) => {
      const { modifiedCount } = await receivers.updateOne(
        { _id: receiverId, disabledAt: null },
        { $set: { disabledAt: at, disabledBecause: because } },
        { session },
      );
      if (modifiedCount === 0) {
        return false;
      }
      if (getConfigReceiverIds(account).includes(receiverId)) {
        await accounts.updateOne({ _id }, { $set: { webhookStatus: 'disabled' } }, { session });
      }
      await insertDeliveries(session, rows);
      return true;
    }),
  );
  if (isNew) {
    await announceDeliveries(rows);
    logger.warn('webhook receiver disabled', { receiverId, because });
  }
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
export function hasFailures(receiver: Receiver | null): boolean {
  return receiver !== null && (receiver.failures > 0 || receiver.openMs > 0);
}

export const healthyState = {
  failures: 0,
  timeouts: 0,
  failingSince: null,
  warnedAt: null,
  disabledAt: null,
  disabledBecause: null,
  openUntil: null,
  openMs: 0,
} as const;

/** What a row begins with, beside `healthy`. */
function buildNewReceiver(key: ReceiverKey) {
  const { origin, pathname } = new URL(key.url);
  return { accountId: key.account._id, address: `${origin}${pathname}` };
}

async function countFailure(key: ReceiverKey, timedOut: boolean): Promise<Receiver> {
  const at = now();
  const { failures: _failures, timeouts: _timeouts, ...rest } = healthyState;
  const receiver = await upsertReceiver(key, {
    $inc: { failures: 1, ...(timedOut && { timeouts: 1 }) },
    ...(!timedOut && { $set: { timeouts: 0 } }),
    $setOnInsert: {
      ...buildNewReceiver(key),
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
async function updateBreaker(receiver: Receiver, timedOut: boolean): Promise<void> {
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

/** Changes the row of a receiver, and makes it if there is none. */
async function upsertReceiver(key: ReceiverKey, update: object): Promise<Receiver> {
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
