import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { finalStatuses } from './states.js';
import { PurchaseModel, type Purchase } from './purchase.model.js';

/** How often those that wait are looked up: all of a process together, in one query. */
const lookEveryMs = 100;

type Waiter = (purchase: Purchase | null) => void;

const waiting = new Map<string, { accountId: string; waiters: Set<Waiter> }>();
let watching = false;

/**
 * Waits until a purchase is final, and a majority holds that. However many wait in this process, the database sees one query at a time, so
 * that waiting needs neither Redis nor a word from the worker.
 * @returns null if it is not final within `timeoutMs`, or the database does not answer.
 */
export function awaitFinal(
  { _id: purchaseId, accountId }: Pick<Purchase, '_id' | 'accountId'>,
  timeoutMs: number,
): Promise<Purchase | null> {
  return new Promise((resolve) => {
    const { waiters } = waiting.get(purchaseId) ?? { waiters: new Set<Waiter>() };
    const waiter: Waiter = (purchase) => {
      clearTimeout(timer);
      waiters.delete(waiter);
      if (waiters.size === 0) {
        waiting.delete(purchaseId);
      }
      resolve(purchase);
    };
    const timer = setTimeout(() => {
      waiter(null);
    }, timeoutMs);
    waiting.set(purchaseId, { accountId, waiters: waiters.add(waiter) });
    void watch();
  });
}

async function watch(): Promise<void> {
  if (watching) {
    return;
  }
  watching = true;
  while (waiting.size > 0) {
    await pause(lookEveryMs);
    const startedAt = nowMs();
    await release();
    // The slower the database is, the less it is asked.
    await pause(nowMs() - startedAt);
  }
  watching = false;
}

async function release(): Promise<void> {
  try {
    // What is answered as final must not be lost with its primary.
    const found = await PurchaseModel.find({
      _id: { $in: [...waiting.keys()] },
      accountId: { $in: [...new Set([...waiting.values()].map(({ accountId }) => accountId))] },
      status: { $in: finalStatuses },
    })
      .readConcern('majority')
      .lean<Purchase[]>();
    for (const purchase of found) {
      for (const waiter of [...(waiting.get(purchase._id)?.waiters ?? [])]) {
        waiter(purchase);
      }
    }
  } catch (error) {
    logger.warn('final states could not be looked up', { error });
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
