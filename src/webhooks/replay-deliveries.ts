import { AccountModel } from '../accounts/account.model.js';
import { now } from '../shared/clock.js';
import { ConflictError, NotFoundError } from '../shared/errors.js';
import { giveTurns } from './announce-deliveries.js';
import { deliveries, type Delivery, type DeliveryChannel, type DeliveryState } from './delivery.model.js';
import { receiverIdOf, receiverIdsOf, type UrlOwner } from './new-delivery.js';

/** What can be asked for again. A dropped row is worthless, a due one comes by itself. */
export type ReplayableState = Extract<DeliveryState, 'delivered' | 'dead' | 'held'>;

/**
 * Sends one delivery again, now and with the whole schedule before it, to the account's present URL.
 * @throws NotFoundError if the account has no such delivery.
 * @throws ConflictError if a newer state of its purchase replaced it, or its URL was removed.
 */
export async function replayDelivery(account: UrlOwner, id: string): Promise<Delivery> {
  const row = await deliveries.findOne({ _id: id, accountId: account._id });
  if (!row) {
    throw new NotFoundError('There is no delivery with this id.');
  }
  if (row.state === 'dropped') {
    throw new ConflictError('A newer event of the same transaction replaced this one.');
  }
  const target = targetOf(account, row.channel);
  if (target === null) {
    throw new ConflictError('The URL of this delivery was removed. Set one first.');
  }
  const replayed = await deliveries.findOneAndUpdate(
    { _id: id },
    { $set: { ...again(), ...target } },
    { returnDocument: 'after' },
  );
  if (!replayed) {
    throw new NotFoundError('There is no delivery with this id.');
  }
  await giveTurns([replayed.receiverId]);
  return replayed;
}

/** `replayDelivery` for the operator, whoever the delivery belongs to. */
export async function replayAsOperator(id: string): Promise<Delivery> {
  const row = await deliveries.findOne({ _id: id }, { projection: { accountId: 1 } });
  const account = row && (await AccountModel.findById(row.accountId).lean());
  if (!account) {
    throw new NotFoundError('There is no delivery with this id.');
  }
  return replayDelivery(account, id);
}

/**
 * Sends again what was created since a time and came to this state. @returns how many.
 * Rows whose URL was removed stay as they are.
 */
export async function replayDeliveries(
  account: UrlOwner,
  which: { since: Date; state: ReplayableState },
): Promise<number> {
  let count = 0;
  for (const channel of ['webhook', 'callback', 'own'] as const) {
    const target = targetOf(account, channel);
    if (target !== null) {
      const { modifiedCount } = await deliveries.updateMany(
        {
          accountId: account._id,
          state: which.state,
          createdAt: { $gte: which.since },
          channel,
          event: { $nin: ['ping', 'config.updated'] },
        },
        { $set: { ...again(), ...target } },
      );
      count += modifiedCount;
    }
  }
  // What goes to a URL that a purchase brought is found by the sweep.
  await giveTurns(receiverIdsOf(account));
  return count;
}

/** The account's present URL of a channel; empty for a URL of the row's own; null if there is none any more. */
export function targetOf(
  account: UrlOwner,
  channel: DeliveryChannel,
): { url: string; receiverId: string } | Record<string, never> | null {
  if (channel === 'own') {
    return {};
  }
  const url = channel === 'webhook' ? account.webhookUrl : account.callbackUrl;
  return url === null ? null : { url, receiverId: receiverIdOf(account._id, url) };
}

/** A new run of the schedule. The attempts made so far stay in the log and in `x-attempt`. */
export function again() {
  const at = now();
  return {
    state: 'due' as const,
    nextAttemptAt: at,
    leaseToken: null,
    scheduleStep: 0,
    scheduleStartedAt: at,
    settledAt: null,
    expireAt: null,
  };
}
