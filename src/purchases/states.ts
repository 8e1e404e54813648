import { now } from '../shared/clock.js';
import { toInt64 } from '../database/typed-collection.js';
import type { Change } from '../money/posting/posting.js';
import { purchases, type Purchase, type PurchaseStatus } from './purchase.model.js';

/** Allowed transitions (docs/reference/api/purchases.md). Any other transition is an error. */
const transitions: Record<PurchaseStatus, readonly PurchaseStatus[]> = {
  PENDING: ['PROCESSING', 'FAILED'],
  // Each order that is sent changes PROCESSING to itself and increments the version.
  PROCESSING: ['PROCESSING', 'SUCCESS', 'FAILED'],
  SUCCESS: ['REFUNDED'],
  FAILED: [],
  REFUNDED: [],
};

export const finalStatuses: readonly PurchaseStatus[] = ['SUCCESS', 'FAILED', 'REFUNDED'];

export function isFinal(status: PurchaseStatus): boolean {
  return finalStatuses.includes(status);
}

/**
 * Another writer changed the purchase first. Read the purchase again; the work may already be done.
 */
export class StalePurchaseError extends Error {}

type TransitionFields = Partial<
  Pick<
    Purchase,
    | 'serialNumber'
    | 'message'
    | 'failureCode'
    | 'sellerId'
    | 'commissionAmount'
    | 'nextActionAt'
    | 'queuedFor'
    | 'reviewSince'
  >
>;

/**
 * Builds the change of a status. Every status change uses this function: it checks the transition
 * table and expects the state that the caller read. A posting with this change is stale if the
 * purchase has changed.
 * @returns The change, and the purchase after it.
 */
export function buildTransition(
  purchase: Purchase,
  to: PurchaseStatus,
  changes: TransitionFields,
): { change: Change; moved: Purchase } {
  if (!transitions[purchase.status].includes(to)) {
    throw new Error(`A transaction cannot change from ${purchase.status} to ${to} (${purchase._id})`);
  }
  const at = now();
  const set = {
    ...changes,
    status: to,
    updatedAt: at,
    ...(isFinal(to) && {
      nextActionAt: null,
      queuedFor: null,
      reviewSince: null,
      pendingNotified: true,
      finalAt: at,
    }),
  };
  const version = purchase.version + 1;
  const { commissionAmount } = changes;
  return {
    moved: { ...purchase, ...set, version },
    change: {
      collection: purchases.collectionName,
      id: purchase._id,
      // The webhooks of this change contain the customer number, so the number must not have been
      // masked meanwhile.
      expect: {
        status: purchase.status,
        version: purchase.version,
        customerNumber: purchase.customerNumber,
      },
      set: {
        ...set,
        version,
        ...(typeof commissionAmount === 'number' && { commissionAmount: toInt64(commissionAmount) }),
      },
    },
  };
}

export type ShownStatus = 'pending' | 'processing' | 'success' | 'failed';

/**
 * Returns the lower-case status of the buyer and seller surfaces (docs/reference/api/purchases.md).
 */
export function toShownStatus(status: PurchaseStatus): ShownStatus {
  switch (status) {
    case 'PENDING':
      return 'pending';
    case 'PROCESSING':
      return 'processing';
    case 'SUCCESS':
      return 'success';
    case 'FAILED':
    case 'REFUNDED':
      return 'failed';
  }
}
