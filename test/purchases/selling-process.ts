/**
 * A process for totals.long.test.ts that makes purchases, until it has made the requested number or
 * is stopped or killed.
 */
import '../../src/all-models.js';
import { connectMongo } from '../../src/database/mongo.js';
import { DependencyError } from '../../src/shared/errors.js';
import { takeSlot } from '../../src/money/totals/slots.js';
import { connectRedis } from '../../src/redis/connection.js';
import { createRandom } from '../../scripts/support/random.js';
import { playPurchase, type Parties } from './play-purchases.js';

export interface SellingOrder {
  parties: Parties;
  purchases: number;
  atOnce: number;
  seed: number;
}

let stopped = false;
void main();

async function main(): Promise<void> {
  await Promise.all([connectMongo(), connectRedis()]);
  process.on('message', (order: SellingOrder | 'slots' | 'stop') => {
    if (order === 'stop') {
      stopped = true;
    } else {
      void (order === 'slots' ? sendSlots() : sell(order));
    }
  });
  process.on('disconnect', () => process.exit());
  process.send?.({ ready: true });
}

async function sell({ parties, purchases, atOnce, seed }: SellingOrder): Promise<void> {
  const random = createRandom(seed);
  let begun = 0;
  const one = async () => {
    while (!stopped && begun++ < purchases) {
      try {
        await playPurchase(parties, random);
        process.send?.({ sold: true });
      } catch (error) {
        // The processes compete for the wallets, so repeat a purchase that timed out.
        if (!(error instanceof DependencyError)) {
          throw error;
        }
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  process.send?.({ done: true });
}

/** Sends the test the slots that two concurrent groups would get. */
async function sendSlots(): Promise<void> {
  const taken = [takeSlot(0), takeSlot(0)];
  taken.forEach((each) => {
    each.giveBack();
  });
  process.send?.({ slots: taken.map((each) => each.slot) });
  await Promise.resolve();
}
