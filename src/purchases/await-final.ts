import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { finalStatuses } from './states.js';
import { TransactionModel, type Transaction } from './purchase.model.js';

/** How often those that wait are looked up: all of a process together, in one query. */
const lookEveryMs = 100;

type Waiter = (transaction: Transaction | null) => void;

const waiting = new Map<string, Set<Waiter>>();
let watching = false;

/**
 * Waits until a transaction is final. However many wait in this process, the database sees one query at a time, so
 * that waiting needs neither Redis nor a word from the worker.
 * @returns null if it is not final within `timeoutMs`, or the database does not answer.
 */
export function awaitFinal(transactionId: string, timeoutMs: number): Promise<Transaction | null> {
  return new Promise((resolve) => {
    const waiters = waiting.get(transactionId) ?? new Set();
    const waiter: Waiter = (transaction) => {
      clearTimeout(timer);
      waiters.delete(waiter);
      if (waiters.size === 0) {
        waiting.delete(transactionId);
      }
      resolve(transaction);
    };
    const timer = setTimeout(() => {
      waiter(null);
    }, timeoutMs);
    waiting.set(transactionId, waiters.add(waiter));
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
    const found = await TransactionModel.find({
      _id: { $in: [...waiting.keys()] },
      status: { $in: finalStatuses },
    }).lean<Transaction[]>();
    for (const transaction of found) {
      for (const waiter of [...(waiting.get(transaction._id) ?? [])]) {
        waiter(transaction);
      }
    }
  } catch (error) {
    logger.warn('final states could not be looked up', { error });
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
