/**
 * Shop of the bare and naive yardsticks. It has the same buyers and collections in a separate
 * database, with the indexes that a purchase needs.
 */
import fs from 'node:fs';
import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { Queue } from 'bullmq';
import { Long, MongoClient, type Collection } from 'mongodb';
import { openingBalance, type Buyer } from '../support/bench-product.js';

export interface BareShop {
  client: MongoClient;
  wallets: Collection<{ _id: string; balance: Long; held: Long; seq: Long }>;
  transactions: Collection<{ _id: string }>;
  journals: Collection<{ _id: string }>;
  queue: Queue;
  redis: Redis;
  buyers: Buyer[];
}

/** @param options.fresh True to start with an empty database. Otherwise existing data is kept. */
export async function openBareShop(args: string[], { fresh }: { fresh: boolean }): Promise<BareShop> {
  const [databaseUri = '', prefix = '', buyersFile = ''] = args;
  const client = await new MongoClient(databaseUri, {
    maxPoolSize: 100,
    writeConcern: { w: 'majority' },
  }).connect();
  const db = client.db();
  const redis = new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null });
  const shop: BareShop = {
    client,
    wallets: db.collection('wallets'),
    transactions: db.collection('transactions'),
    journals: db.collection('journals'),
    queue: new Queue('fulfilment', {
      connection: redis,
      prefix,
      defaultJobOptions: { removeOnComplete: 1_000, removeOnFail: 1_000 },
    }),
    redis,
    buyers: JSON.parse(fs.readFileSync(buyersFile, 'utf8')) as Buyer[],
  };
  if (fresh) {
    await db.dropDatabase();
    await shop.transactions.createIndex({ accountId: 1, refId: 1 }, { unique: true }, {});
    await shop.transactions.createIndex({ accountId: 1, createdAt: -1, _id: -1 }, {}, {});
    await shop.transactions.createIndex({ delivered: 1 }, {}, {});
    await shop.journals.createIndex({ subjectId: 1, kind: 1 }, { unique: true }, {});
    await shop.wallets.insertMany(
      shop.buyers.map(({ id }) => ({
        _id: id,
        balance: Long.fromNumber(openingBalance),
        held: Long.ZERO,
        seq: Long.ZERO,
      })),
    );
  }
  return shop;
}

export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
