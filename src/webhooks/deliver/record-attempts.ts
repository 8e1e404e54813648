import { setTimeout as delay } from 'node:timers/promises';
import type { AnyBulkWriteOperation } from 'mongodb';
import { logger } from '../../shared/logger.js';
import { buildAttemptUpdate, type AttemptResult } from './attempt-delivery.js';
import type { ClaimedDelivery } from './claim-deliveries.js';
import { deliveries, type Delivery } from './delivery.model.js';

/**
 * Writes the result of an attempt. Resolves once the result is written, or once the retries are
 * exhausted. In the second case the lease expires and the row is sent again.
 */
export type Recorder = (row: ClaimedDelivery, attempted: AttemptResult) => Promise<void>;

const retriesMax = 5;

/** Creates a recorder. Results that arrive during a write are batched into the next one. */
export function createRecorder(): Recorder {
  let gathering: AnyBulkWriteOperation<Delivery>[] = [];
  let nextFlush: Promise<void> | null = null;
  let running: Promise<void> = Promise.resolve();

  return (row, attempted) => {
    gathering.push({
      updateOne: { filter: buildWriteFilter(row, attempted), update: buildAttemptUpdate(attempted) },
    });
    nextFlush ??= running.then(() => {
      const writes = gathering;
      gathering = [];
      nextFlush = null;
      running = writeAttempts(writes);
      return running;
    });
    return nextFlush;
  };
}

/**
 * A successful delivery is recorded even if the lease was lost. Any other result is recorded only
 * while the lease is held, so that a late failure changes nothing.
 */
function buildWriteFilter(row: ClaimedDelivery, { verdict }: AttemptResult) {
  return verdict.outcome === 'delivered'
    ? { _id: row._id, accountId: row.accountId, state: 'due' as const }
    : {
        _id: row._id,
        accountId: row.accountId,
        state: 'due' as const,
        leaseToken: row.leaseToken,
      };
}

async function writeAttempts(writes: AnyBulkWriteOperation<Delivery>[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await deliveries.bulkWrite(writes, { ordered: false });
      return;
    } catch (error) {
      if (attempt === retriesMax) {
        logger.error('webhook results not stored; their deliveries will be sent again', {
          rows: writes.length,
          error,
        });
        return;
      }
      // Safe to repeat: a written row no longer matches its filter.
      await delay(200 * attempt);
    }
  }
}
