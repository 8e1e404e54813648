/**
 * Takes due rows of a receiver under a lease, so that each is sent by one worker at a time; a worker that dies
 * loses its rows to others when the lease ends.
 */
import { now, nowMs } from '../shared/clock.js';
import { newId } from '../shared/ids.js';
import { deliveries, type Delivery } from './delivery.model.js';
import { isUnderWay } from './list-deliveries.js';
import { webhookLimits } from './webhook-limits.js';

/** A row as a worker holds it: its log stays in the database. */
export type ClaimedDelivery = Omit<Delivery, 'attempts'>;

/** `drained`: nothing else was due. */
export interface Claim {
  rows: ClaimedDelivery[];
  drained: boolean;
}

/** The oldest due rows of a receiver. Rows that a newer state of their purchase made worthless are dropped here. */
export async function claimDeliveries(receiverId: string, most: number): Promise<Claim> {
  const at = now();
  const due = await deliveries
    .find({ receiverId, state: 'due', nextAttemptAt: { $lte: at } })
    .project<ClaimedDelivery>({ attempts: 0 })
    .sort({ nextAttemptAt: 1 })
    .limit(most)
    .toArray();
  const drained = due.length < most;
  if (due.length === 0) {
    return { rows: [], drained };
  }
  const leaseToken = newId();
  const ids = due.map((row) => row._id);
  const { modifiedCount } = await deliveries.updateMany(
    { _id: { $in: ids }, state: 'due', nextAttemptAt: { $lte: at } },
    { $set: { leaseToken, nextAttemptAt: new Date(nowMs() + webhookLimits.leaseMs) } },
  );
  let mine = due;
  if (modifiedCount < due.length) {
    const taken = await deliveries.distinct('_id', { _id: { $in: ids }, leaseToken });
    mine = due.filter((row) => taken.includes(row._id));
  }
  const leased = mine.map((row) => ({ ...row, leaseToken }));
  return { rows: await inOrder(leased, leaseToken), drained };
}

/** Gives back rows that were not sent. */
export async function releaseDeliveries(rows: ClaimedDelivery[], atMs = nowMs()): Promise<void> {
  if (rows.length > 0) {
    await deliveries.updateMany(
      { _id: { $in: rows.map((row) => row._id) }, leaseToken: { $in: leaseTokensOf(rows) } },
      { $set: { leaseToken: null, nextAttemptAt: new Date(atMs) } },
    );
  }
}

/**
 * Within one purchase and channel: a row that a later one outranks is dropped, a row whose predecessor is under
 * way waits for it. So a client never hears `pending` after the result, or `success` after the reversal.
 */
async function inOrder(rows: ClaimedDelivery[], leaseToken: string): Promise<ClaimedDelivery[]> {
  const ordered = rows.filter((row) => row.orderKey !== null);
  if (ordered.length === 0) {
    return rows;
  }
  const keys = [...new Set(ordered.flatMap((row) => row.orderKey ?? []))];
  const siblings = await deliveries
    .find({ orderKey: { $in: keys } })
    .project<ClaimedDelivery>({ attempts: 0, body: 0 })
    .toArray();
  const dropped = new Set<ClaimedDelivery>();
  const deferred = new Set<ClaimedDelivery>();
  for (const row of ordered) {
    const others = siblings.filter((other) => areSiblings(row, other));
    if (others.some((other) => other.orderRank > row.orderRank)) {
      dropped.add(row);
    } else if (
      others.some(
        (other) => other.orderRank < row.orderRank && other.leaseToken !== leaseToken && isUnderWay(other),
      )
    ) {
      deferred.add(row);
    }
  }
  await dropDeliveries([...dropped]);
  await releaseDeliveries([...deferred], nowMs() + webhookLimits.deferMs);
  return rows.filter((row) => !dropped.has(row) && !deferred.has(row));
}

function areSiblings(row: ClaimedDelivery, other: ClaimedDelivery): boolean {
  return (
    row._id !== other._id &&
    row.orderKey === other.orderKey &&
    row.accountId === other.accountId &&
    row.channel === other.channel
  );
}

async function dropDeliveries(rows: ClaimedDelivery[]): Promise<void> {
  if (rows.length > 0) {
    await deliveries.updateMany(
      { _id: { $in: rows.map((row) => row._id) }, leaseToken: { $in: leaseTokensOf(rows) } },
      {
        $set: {
          state: 'dropped',
          leaseToken: null,
          nextAttemptAt: null,
          settledAt: now(),
          expireAt: new Date(nowMs() + webhookLimits.deliveredKeptMs),
        },
      },
    );
  }
}

function leaseTokensOf(rows: ClaimedDelivery[]): string[] {
  return [...new Set(rows.flatMap((row) => row.leaseToken ?? []))];
}
