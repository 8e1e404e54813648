/**
 * Claims due rows of a receiver under a lease, so that one worker at a time sends each. After a
 * crash, other workers take the rows when the lease expires.
 */
import { now, nowMs } from '../../shared/clock.js';
import { batchCalls } from '../../shared/concurrency.js';
import { groupBy } from '../../shared/collections.js';
import { newId } from '../../shared/ids.js';
import { deliveries, type Delivery } from './delivery.model.js';
import { getImmediateDueTime, getReceiverAccountId } from '../new-delivery.js';
import { isInFlight } from './stored-deliveries.js';
import { webhookLimits } from '../webhook-limits.js';

/** A row as a worker holds it, without its attempt log. */
export type ClaimedDelivery = Omit<Delivery, 'attempts'>;

/** `drained` is true if no other rows are due. */
export interface Claim {
  rows: ClaimedDelivery[];
  drained: boolean;
}

/** Claims the oldest due rows of a receiver, and drops superseded ones. */
export async function claimDeliveries(receiverId: string, most: number): Promise<Claim> {
  const found = await findDue({ receiverId, most });
  const drained = found.length < most;
  // A row that another worker releases meanwhile moves in the index and can be found twice.
  const due = [...new Map(found.map((row) => [row._id, row])).values()];
  if (due.length === 0) {
    return { rows: [], drained };
  }
  const leaseToken = newId();
  const isWhole = await takeLeases({ rows: due, leaseToken });
  const mine = isWhole ? due : await findTaken(due, leaseToken);
  const leased = mine.map((row) => ({ ...row, leaseToken }));
  return { rows: await keepInOrder(leased, leaseToken), drained };
}

interface DueQuery {
  receiverId: string;
  most: number;
}

/** Limit of rows in a shared query. */
const sharedMax = 4 * webhookLimits.claimBatch;

/** Finds due rows, oldest first. Concurrent turns share a query of up to `sharedMax` rows. */
const findDue = batchCalls<DueQuery, ClaimedDelivery[]>({
  itemsMax: 50,
  async run(wanted) {
    const at = now();
    const due = (...ids: string[]) =>
      deliveries
        .find(
          {
            accountId: { $in: [...new Set(ids.map(getReceiverAccountId))] },
            receiverId: { $in: ids },
            state: 'due',
            nextAttemptAt: { $lte: at },
          },
          // Otherwise MongoDB may choose an index by account, which does not cover due times.
          { hint: 'receiver_due' },
        )
        .project<ClaimedDelivery>({ attempts: 0 });
    if (wanted.length > 1) {
      const ids = wanted.map(({ receiverId }) => receiverId);
      // Unsorted, so that the query reads no more rows than it returns.
      const together = await due(...ids)
        .limit(sharedMax)
        .toArray();
      if (together.length < sharedMax) {
        const byReceiver = groupBy(together.sort(compareDueTimes), (row) => row.receiverId);
        return wanted.map(({ receiverId, most }) => (byReceiver.get(receiverId) ?? []).slice(0, most));
      }
    }
    return Promise.all(
      wanted.map(({ receiverId, most }) => due(receiverId).sort({ nextAttemptAt: 1 }).limit(most).toArray()),
    );
  },
});

function compareDueTimes(a: ClaimedDelivery, b: ClaimedDelivery): number {
  return (a.nextAttemptAt?.getTime() ?? 0) - (b.nextAttemptAt?.getTime() ?? 0);
}

/**
 * Leases rows that are still due; concurrent turns share the command.
 * @returns True if all rows were leased.
 */
const takeLeases = batchCalls<{ rows: ClaimedDelivery[]; leaseToken: string }, boolean>({
  itemsMax: 50,
  async run(claims) {
    const at = now();
    const nextAttemptAt = new Date(nowMs() + webhookLimits.leaseMs);
    const { modifiedCount } = await deliveries.bulkWrite(
      claims.map(({ rows, leaseToken }) => ({
        updateMany: {
          filter: {
            _id: { $in: rows.map(({ _id }) => _id) },
            accountId: { $in: getAccountIds(rows) },
            state: 'due',
            nextAttemptAt: { $lte: at },
          },
          update: { $set: { leaseToken, nextAttemptAt } },
        },
      })),
      { ordered: false },
    );
    const isWhole = modifiedCount === claims.reduce((sum, { rows }) => sum + rows.length, 0);
    return claims.map(() => isWhole);
  },
});

async function findTaken(rows: ClaimedDelivery[], leaseToken: string): Promise<ClaimedDelivery[]> {
  const taken = await deliveries.distinct('_id', {
    _id: { $in: rows.map(({ _id }) => _id) },
    accountId: { $in: getAccountIds(rows) },
    leaseToken,
  });
  return rows.filter((row) => taken.includes(row._id));
}

/** Releases rows that were not sent. */
export async function releaseDeliveries(rows: ClaimedDelivery[], at = getImmediateDueTime()): Promise<void> {
  if (rows.length > 0) {
    await deliveries.updateMany(buildLeaseFilter(rows), {
      $set: { leaseToken: null, nextAttemptAt: at },
    });
  }
}

/**
 * Orders rows within one purchase, channel and endpoint. A row with a later sibling is dropped. A
 * row with an earlier sibling in flight is deferred. A client therefore never gets `pending` after
 * the result, or `success` after the reversal.
 */
async function keepInOrder(rows: ClaimedDelivery[], leaseToken: string): Promise<ClaimedDelivery[]> {
  const ordered = rows.filter((row) => row.orderKey !== null);
  if (ordered.length === 0) {
    return rows;
  }
  const siblings = (await Promise.all(ordered.map(loadSiblings))).flat();
  const dropped = new Set<ClaimedDelivery>();
  const deferred = new Set<ClaimedDelivery>();
  for (const row of ordered) {
    const others = siblings.filter((other) => areSiblings(row, other));
    if (others.some((other) => other.orderRank > row.orderRank)) {
      dropped.add(row);
    } else if (
      others.some(
        (other) => other.orderRank < row.orderRank && other.leaseToken !== leaseToken && isInFlight(other),
      )
    ) {
      deferred.add(row);
    }
  }
  await dropDeliveries([...dropped]);
  await releaseDeliveries([...deferred], new Date(nowMs() + webhookLimits.deferMs));
  return rows.filter((row) => !dropped.has(row) && !deferred.has(row));
}

/** True if a later row of the same purchase, channel and endpoint supersedes this row. */
export async function isSuperseded(row: Delivery): Promise<boolean> {
  const siblings = row.orderKey === null ? [] : await loadSiblings(row);
  return siblings.some((other) => areSiblings(row, other) && other.orderRank > row.orderRank);
}

/** Loads all rows of a purchase to the same account, without bodies. */
const loadSiblings = batchCalls<Pick<Delivery, 'accountId' | 'orderKey'>, ClaimedDelivery[]>({
  itemsMax: 200,
  async run(rows) {
    const found = await deliveries
      .find({
        accountId: { $in: [...new Set(rows.map(({ accountId }) => accountId))] },
        orderKey: { $in: [...new Set(rows.map(({ orderKey }) => orderKey))] },
      })
      .project<ClaimedDelivery>({ attempts: 0, body: 0 })
      .toArray();
    const byKey = groupBy(found, buildSiblingKey);
    return rows.map((row) => byKey.get(buildSiblingKey(row)) ?? []);
  },
});

function buildSiblingKey({ accountId, orderKey }: Pick<Delivery, 'accountId' | 'orderKey'>): string {
  return `${accountId} ${orderKey ?? ''}`;
}

function areSiblings(row: Omit<ClaimedDelivery, 'body'>, other: ClaimedDelivery): boolean {
  return (
    row._id !== other._id &&
    row.orderKey === other.orderKey &&
    row.accountId === other.accountId &&
    row.channel === other.channel &&
    row.endpointId === other.endpointId
  );
}

async function dropDeliveries(rows: ClaimedDelivery[]): Promise<void> {
  if (rows.length > 0) {
    await deliveries.updateMany(buildLeaseFilter(rows), {
      $set: {
        state: 'dropped',
        leaseToken: null,
        nextAttemptAt: null,
        settledAt: now(),
        expireAt: new Date(nowMs() + webhookLimits.deliveredKeptMs),
      },
    });
  }
}

/** Matches these rows while their leases are held. */
function buildLeaseFilter(rows: ClaimedDelivery[]) {
  return {
    _id: { $in: rows.map((row) => row._id) },
    accountId: { $in: getAccountIds(rows) },
    leaseToken: { $in: [...new Set(rows.flatMap((row) => row.leaseToken ?? []))] },
  };
}

function getAccountIds(rows: ClaimedDelivery[]): string[] {
  return [...new Set(rows.map((row) => row.accountId))];
}
