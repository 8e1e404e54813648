import type { Collection, Filter } from 'mongodb';
import { quotes } from '../bills/quote.model.js';
import { defineMigration } from '../database/migrate.js';
import { newProofSalt } from '../money/closes/canonical-text.js';
import { dayCloses } from '../money/closes/day-close.model.js';
import { purchases } from '../purchases/purchase.model.js';
import { logger } from '../shared/logger.js';

const atOnce = 1_000;

/**
 * Gives purchases and quotes of 0.1.0 the salt that their numbers are masked with some day. Only before the first day is
 * closed: a close that was made of the number itself would not hold any more.
 */
async function giveSalts(): Promise<void> {
  if ((await dayCloses.findOne({}, { projection: { _id: 1 } })) !== null) {
    return;
  }
  const given = (await giveIn(purchases as unknown as Salted)) + (await giveIn(quotes as unknown as Salted));
  if (given > 0) {
    logger.info('purchases and quotes of 0.1.0 can be masked now', { given });
  }
}

type Salted = Collection<{ _id: string; proofSalt?: string; proofs?: object }>;

async function giveIn(collection: Salted): Promise<number> {
  let given = 0;
  let after: string | null = '';
  while (after !== null) {
    const range: Filter<{ _id: string }> = { _id: { $gt: after } };
    const page = await collection
      .find(range, { projection: { proofSalt: 1, proofs: 1 } })
      .sort({ _id: 1 })
      .limit(atOnce)
      .toArray();
    const without = page.filter((each) => each.proofSalt === undefined && each.proofs === undefined);
    if (without.length > 0) {
      const updates = without.map(({ _id }) => ({
        updateOne: {
          filter: { _id, proofSalt: null as unknown as string },
          update: { $set: { proofSalt: newProofSalt() } },
        },
      }));
      given += (await collection.bulkWrite(updates, { ordered: false })).modifiedCount;
    }
    after = page.length < atOnce ? null : (page.at(-1)?._id ?? null);
  }
  return given;
}

defineMigration(giveSalts);
