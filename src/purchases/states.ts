import { now } from '../shared/clock.js';
import type { Session } from '../database/mongo.js';
import { PurchaseModel, type Purchase, type PurchaseStatus } from './purchase.model.js';

/** The states of docs/interface.md#purchases. Whatever is not listed cannot happen. */
const transitions: Record<PurchaseStatus, readonly PurchaseStatus[]> = {
  PENDING: ['PROCESSING', 'FAILED'],
  PROCESSING: ['SUCCESS', 'FAILED'],
  SUCCESS: ['REFUNDED'],
  FAILED: [],
  REFUNDED: [],
};

export const finalStatuses: readonly PurchaseStatus[] = ['SUCCESS', 'FAILED', 'REFUNDED'];

export function isFinal(status: PurchaseStatus): boolean {
  return finalStatuses.includes(status);
}

/** Somebody else changed the purchase first. Read it again: the work may be done. */
export class StalePurchaseError extends Error {}

type Changes = Partial<
  Pick<
    Purchase,
    | 'serialNumber'
    | 'message'
    | 'failureCode'
    | 'sellerId'
    | 'commissionAmount'
    | 'nextActionAt'
    | 'reviewSince'
  >
>;

/**
 * The only way a status changes: by the table above, and only from the state that the caller has read.
 * @returns the purchase as it is afterwards.
 * @throws StalePurchaseError if it has changed since it was read: nothing was written.
 */
export async function moveTo(
  session: Session,
  purchase: Purchase,
  to: PurchaseStatus,
  changes: Changes,
): Promise<Purchase> {
  if (!transitions[purchase.status].includes(to)) {
    throw new Error(`A transaction never goes from ${purchase.status} to ${to} (${purchase._id})`);
  }
  const at = now();
  const set = {
    ...changes,
    status: to,
    updatedAt: at,
    ...(isFinal(to) && { nextActionAt: null, reviewSince: null, pendingNotified: true, finalAt: at }),
  };
  const result = await PurchaseModel.updateOne(
    { _id: purchase._id, status: purchase.status, version: purchase.version },
    { $set: set, $inc: { version: 1 } },
    { session },
  );
  if (result.matchedCount === 0) {
    throw new StalePurchaseError(`Transaction ${purchase._id} changed meanwhile`);
  }
  return { ...purchase, ...set, version: purchase.version + 1 };
}
