/**
 * The cost of the operator's figures with a large backlog, measured in index keys that MongoDB
 * examines.
 */
import { expect } from 'chai';
import mongoose from 'mongoose';
import type { Document } from 'mongodb';
import { asUntyped } from '../../src/database/typed-collection.js';
import { countBacklog } from '../../src/doctor/attention.js';
import { sellerCredits } from '../../src/money/credits/seller-credit.model.js';
import { purchases } from '../../src/purchases/purchase.model.js';
import { newId } from '../../src/shared/ids.js';
import { deliveries } from '../../src/webhooks/deliver/delivery.model.js';
import { buildDelivery } from '../../src/webhooks/new-delivery.js';
import { useDatabase } from '../webhooks/support/database.js';

const rows = 10_000;
const receivers = 20;
const late = 3;
const lateMs = 60_000;

interface CountedQuery {
  collection: string;
  filter: Document;
  options: { hint?: string; limit?: number };
}

describe(`a backlog with ${rows.toLocaleString('en')} waiting rows of each kind, ${late} of them late`, function () {
  this.timeout(120_000);
  const accountId = newId();
  // Registered first, because the hook of `useDatabase` closes the connection.
  after(async () => {
    mongoose.set('debug', false);
    // Delete in batches of a thousand, because the embedded server is slow with larger deletes.
    for (const each of [asUntyped(purchases), asUntyped(sellerCredits), asUntyped(deliveries)]) {
      const ids = (await each.find({ accountId }, { projection: { _id: 1 } }).toArray()).map(
        ({ _id }) => _id,
      );
      for (let start = 0; start < ids.length; start += 1_000) {
        await each.deleteMany({ _id: { $in: ids.slice(start, start + 1_000) } });
      }
    }
  });
  useDatabase();
  const sellers = Array.from({ length: receivers }, newId);
  const some = <T>(make: (index: number) => T) =>
    Array.from({ length: rows + late }, (_, index) => make(index));
  /**
   * Returns the due time of a row. The first `late` rows are overdue, and the others are due in the
   * future.
   */
  const at = (index: number) => new Date(Date.now() + (index < late ? -2 * lateMs : 10 * lateMs));

  let earlier: Awaited<ReturnType<typeof countBacklog>>;

  before(async () => {
    earlier = await countBacklog(lateMs);
    await purchases.insertMany(
      some((index) => ({
        _id: newId(),
        accountId,
        refId: newId(),
        status: 'PROCESSING',
        nextActionAt: at(index),
        sellerId: accountId,
        createdAt: new Date(),
        pendingNotified: true,
        reviewSince: null,
      })) as never[],
    );
    await sellerCredits.insertMany(
      some((index) => ({
        _id: newId(),
        accountId,
        sellerId: sellers[index % receivers],
        transactionId: newId(),
        amount: 1,
        status: 'new',
        postingId: null,
        createdAt: at(index),
      })) as never[],
    );
    await deliveries.insertMany(
      some((index) => ({
        ...buildDelivery({
          id: newId(),
          accountId,
          channel: 'webhook',
          event: 'transaction.success',
          payload: {},
          url: `https://shop.example/${index % receivers}`,
        }),
        nextAttemptAt: at(index),
      })),
    );
  });
  it('is counted by reading only the late rows', async () => {
    const counted: CountedQuery[] = [];
    mongoose.set(
      'debug',
      (collection: string, method: string, filter: Document, options: CountedQuery['options']) => {
        if (method === 'countDocuments') {
          counted.push({ collection, filter, options });
        }
      },
    );
    const backlog = await countBacklog(lateMs);
    mongoose.set('debug', false);
    expect(backlog).to.deep.equal({
      purchases: earlier.purchases + late,
      deliveries: earlier.deliveries + late,
      postings: earlier.postings + late,
    });
    expect(counted.map(({ collection }) => collection).sort()).to.deep.equal([
      'deliveries',
      'sellerCredits',
      'transactions',
    ]);
    for (const { collection, filter, options } of counted) {
      const found = mongoose.connection.collection(collection).find(filter, options);
      const plan = await found.explain('executionStats');
      const keys = Number(plan['executionStats'].totalKeysExamined);
      process.stdout.write(`      ${collection}: ${keys} keys\n`);
      // Deliveries are counted per receiver. MongoDB skips from one receiver to the next, but the
      // embedded server scans all keys.
      if (collection !== 'deliveries') {
        expect(keys, collection).to.be.below(100);
      }
    }
  });
});
