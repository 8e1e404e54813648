/**
 * The process for cache-outage.long.test.ts. On a message it raises a price, and dies after the
 * write and before the cache invalidation.
 */
import { connectMongo } from '../../src/database/mongo.js';
import { OfferModel } from '../../src/products/offer.model.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { connectRedis } from '../../src/redis/connection.js';

const code = process.env['PRODUCT_CODE'] ?? '';
void main();

async function main(): Promise<void> {
  await Promise.all([connectMongo(), connectRedis()]);
  await writeAndInvalidate([OfferModel], [code], async (offers) => {
    const messageReceived = new Promise((resolve) => process.once('message', resolve));
    process.send?.('begun');
    await messageReceived;
    await offers.updateMany({ productCode: code }, { $set: { price: 20_000 } });
    process.kill(process.pid, 'SIGKILL');
  });
}
