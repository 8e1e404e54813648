/**
 * The health of receivers: the circuit breaker, the warning after a day and the disabling after
 * five days. All processes share it and read it at the start of a turn.
 */
import { AccountModel } from '../../accounts/account.model.js';
import { now, nowMs } from '../../shared/clock.js';
import { batchCalls } from '../../shared/concurrency.js';
import { logger } from '../../shared/logger.js';
import { runInTransaction, isDuplicateKey } from '../../database/mongo.js';
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

/**
 * Counts a failure. Warns about the receiver or disables it if it has failed for long enough.
 * @returns True if the receiver is disabled now.
 */
export async function recordFailure(key: ReceiverKey, timedOut: boolean): Promise<boolean> {
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

/** Resets the failures of a receiver after a success. */
export async function recordSuccess(receiverId: string): Promise<void> {
  await receivers.updateOne({ _id: receiverId }, { $set: healthyState });
}

/**
 * Marks a receiver whose requests outlived their turn, so that later turns count them. Concurrent
 * turns share the command.
 */
export const markSlow = batchCalls<ReceiverKey, null>({
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
      // Another process has created one of the rows concurrently. Repeating all writes is safe.
      if (!isDuplicateKey(error)) {
        throw error;
      }
      return write();
    });
    return keys.map(() => null);
  },
});

/**
 * Disables a receiver until the account enables it or sets another URL. The same transaction
 * notifies the account's other endpoints once, even under concurrent calls.
 */
export async function disableReceiver(key: ReceiverKey, because: DisabledBecause): Promise<void> {
  const { receiverId, account } = key;
  const { _id } = account;
  const at = now();
  const rows = buildWebhookDisabledDeliveries(account, { receiverId, because, at });
  await upsertReceiver(key, { $setOnInsert: { ...buildNewReceiver(key), ...healthyState, slowUntil: null } });
  const isNew = await writeAndInvalidate([AccountModel], [_id], (accounts) =>
    runInTransaction(async (session) => {
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

/** True while the circuit breaker is open. */
export function isOpen(receiver: Receiver | null): boolean {
  return (receiver?.openUntil?.getTime() ?? 0) > nowMs();
}

/** True if the breaker's time is over and no response has arrived since: one request may probe. */
export function isProbing(receiver: Receiver | null): boolean {
  return receiver !== null && receiver.openMs > 0;
}

/** True if a success must be stored. */
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

/** Initial fields of a row, in addition to `healthyState`. */
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

/** Any response closes the breaker. Timeouts open it, each time for twice as long. */
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
  // Of concurrent timeouts, only the first opens the breaker.
  await receivers.updateOne(
    { _id: receiver._id, openUntil: receiver.openUntil },
    { $set: { openUntil: new Date(nowMs() + openMs), openMs } },
  );
}

/** Updates the row of a receiver, or creates it. */
async function upsertReceiver(key: ReceiverKey, update: object): Promise<Receiver> {
  const write = () =>
    receivers.findOneAndUpdate({ _id: key.receiverId }, update, { upsert: true, returnDocument: 'after' });
  const receiver = await write().catch((error: unknown) => {
    // Of two concurrent first failures, the second finds the row of the first.
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
