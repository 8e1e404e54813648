/**
 * The process for next-call.long.test.ts. It writes a provider's price list to the offers of
 * SELLER_ID and exits.
 */
import { connectMongo, disconnectMongo } from '../../src/database/mongo.js';
import { requireAccount } from '../../src/accounts/find-account.js';
import { syncPriceList } from '../../src/providers/refresh-providers.js';
import { connectRedis, disconnectRedis } from '../../src/redis/connection.js';

void main();

async function main(): Promise<void> {
  await Promise.all([connectMongo(), connectRedis()]);
  await syncPriceList(await requireAccount(process.env['SELLER_ID'] ?? ''));
  await disconnectRedis();
  await disconnectMongo();
}
