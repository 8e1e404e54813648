import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { finalStatuses } from './states.js';
import { PurchaseModel, type Purchase } from './purchase.model.js';

/** Poll interval in milliseconds. All waiting calls of a process share one query. */
const pollEveryMs = 100;

type Waiter = (purchase: Purchase | null) => void;

const waitersByPurchase = new Map<string, { accountId: string; waiters: Set<Waiter> }>();
let isPolling = false;

/**
 * Waits until a majority holds the purchase in a final state. All calls of this process share one
 * query at a time, so waiting needs neither Redis nor a message from the worker.
 * @returns null if the purchase is not final within `timeoutMs`, or if the database does not
 *   respond.
 */
export function waitForFinalState(
  { _id: purchaseId, accountId }: Pick<Purchase, '_id' | 'accountId'>,
  timeoutMs: number,
): Promise<Purchase | null> {
  return new Promise((resolve) => {
    const { waiters } = waitersByPurchase.get(purchaseId) ?? { waiters: new Set<Waiter>() };
    const waiter: Waiter = (purchase) => {
      clearTimeout(timer);
      waiters.delete(waiter);
      if (waiters.size === 0) {
        waitersByPurchase.delete(purchaseId);
      }
      resolve(purchase);
    };
    const timer = setTimeout(() => {
      waiter(null);
    }, timeoutMs);
    waitersByPurchase.set(purchaseId, { accountId, waiters: waiters.add(waiter) });
    void pollWaiting();
  });
}

async function pollWaiting(): Promise<void> {
  if (isPolling) {
    return;
  }
  isPolling = true;
  while (waitersByPurchase.size > 0) {
    await pause(pollEveryMs);
    const startedAt = nowMs();
    await resolveFinal();
    // A slow database is polled less often.
    await pause(nowMs() - startedAt);
  }
  isPolling = false;
}

async function resolveFinal(): Promise<void> {
  try {
    // A final state sent to a client must survive a failover.
    const found = await PurchaseModel.find({
      _id: { $in: [...waitersByPurchase.keys()] },
      accountId: { $in: [...new Set([...waitersByPurchase.values()].map(({ accountId }) => accountId))] },
      status: { $in: finalStatuses },
    })
      .readConcern('majority')
      .lean<Purchase[]>();
    for (const purchase of found) {
      for (const waiter of [...(waitersByPurchase.get(purchase._id)?.waiters ?? [])]) {
        waiter(purchase);
      }
    }
  } catch (error) {
    logger.warn('final states could not be read', { error });
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
